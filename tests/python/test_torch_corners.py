# SPDX-License-Identifier: MIT
"""tk_ops.torch where PyTorch does what a user seldom writes: gradients of gradients, gradients that
are None or batched, tensors on no device, modules that are cast or made late, sizes that change
from call to call in a compiled function."""

import contextlib
import os

import pytest

torch = pytest.importorskip("torch")

import tk_ops.torch as tk  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

torch.set_num_threads(1)
DEVICE = os.environ.get("TK_TORCH_DEVICE", "cpu")
torch.set_default_device(DEVICE)
BF16, FP16, FP32 = torch.bfloat16, torch.float16, torch.float32
F = torch.nn.functional


def test_no_second_derivative_of_a_linear_cross_entropy():
    x = torch.randn(4, 16, dtype=BF16, requires_grad=True)
    w = torch.randn(8, 16, dtype=BF16, requires_grad=True)
    labels = torch.zeros(4, dtype=torch.long)
    (dx,) = torch.autograd.grad(tk.linear_cross_entropy(x, w, labels), x, create_graph=True)
    for of in x, w:
        with pytest.raises(NotImplementedError, match="no derivative"):
            torch.autograd.grad(dx.float().sum(), of, retain_graph=True)
    with pytest.raises(NotImplementedError, match="no derivative"):
        loss = lambda v: tk.linear_cross_entropy(x.detach(), v, labels)  # noqa: E731
        torch.func.jacrev(torch.func.jacrev(loss))(w.detach())


def test_a_sum_of_gradients_that_fp16_does_not_hold():
    x = 5 + 0.1 * torch.randn(20000, 8)
    w = torch.zeros(4, 8, requires_grad=True)
    labels = torch.zeros(20000, dtype=torch.long)
    with torch.autocast(DEVICE, dtype=FP16):
        loss = tk.linear_cross_entropy(x, w, labels)
    loss.backward()
    expected = torch.full((4, 1), 0.25) * x.half().float().mean(0)
    expected[0] *= -3
    torch.testing.assert_close(w.grad, expected, rtol=2e-3, atol=0)


def test_no_label_is_ignored():
    x, w = torch.randn(5, 16, dtype=BF16), torch.randn(3, 16, dtype=BF16)
    labels = torch.arange(5) % 3
    all_of_them = tk.linear_cross_entropy(x, w, labels, ignore_index=None)
    assert torch.equal(all_of_them, tk.linear_cross_entropy(x, w, labels))
    assert not torch.equal(all_of_them, tk.linear_cross_entropy(x, w, labels, ignore_index=1))


def test_gradients_that_are_none():
    x = torch.randn(1, 4, 2, 8, dtype=BF16, requires_grad=True)
    angles = torch.ones(4, 4)
    q, _ = tk.rotary(tk.silu(x), tk.softmax(tk.rms_norm(x, 8)), angles, angles)
    q.sum().backward()
    assert x.grad.isfinite().all()


@pytest.mark.parametrize(
    "function",
    [
        tk.silu,
        tk.softmax,
        lambda x: tk.rms_norm(x, 3),
        lambda x: tk.linear(x.to(BF16), torch.ones(4, 3, dtype=BF16)),
    ],
)
def test_batched_gradients(function):
    x = torch.randn(2, 3, requires_grad=True)
    y = function(x)
    gradients = torch.randn(5, *y.shape).to(y.dtype)
    (together,) = torch.autograd.grad(y, x, gradients, is_grads_batched=True, retain_graph=True)
    for one, gradient in zip(together, gradients, strict=True):
        assert torch.equal(one, torch.autograd.grad(y, x, gradient, retain_graph=True)[0])
    assert torch.func.vmap(function)(torch.zeros(0, 2, 3)).shape == (0, *y.shape)


def test_a_tensor_on_meta_beside_others():
    x, meta = torch.randn(3, 16), torch.ones(16, device="meta")
    for call in (
        lambda: tk.rms_norm(x, 16, meta),
        lambda: tk.linear(x.to(BF16), torch.ones(4, 16, dtype=BF16, device="meta")),
        lambda: tk.swiglu(x, x.to("meta")),
        lambda: tk.cross_entropy(x, torch.zeros(3, dtype=torch.long, device="meta")),
    ):
        with pytest.raises(RuntimeError, match="tensors are on .* and meta"):
            call()
    assert tk.rms_norm(x.to("meta"), 16, meta).is_meta


def test_modules_made_late_or_cast():
    x = torch.randn(2, 7, 64, dtype=BF16)
    good = tk.LinearAttention(64, 4, "heads", dtype=BF16)
    with torch.device("meta"):
        late = tk.LinearAttention(64, 4, "heads", dtype=BF16)
    late = late.to_empty(device=DEVICE)
    late.load_state_dict(good.state_dict())
    assert torch.equal(late(x), good(x))
    conv = tk.LongConv(64, 7)
    u = x.transpose(1, 2).contiguous()
    torch.testing.assert_close(conv.to(BF16)(u), conv(u))
    assert tk.SiLU(inplace=False)(x).shape == x.shape
    with pytest.raises(NotImplementedError):
        tk.SiLU(inplace=True)


def test_sizes_that_change_in_a_compiled_function():
    def packed(q, starts, most):
        options = {"cu_seqlens_q": starts, "cu_seqlens_k": starts}
        return tk.attention(q, q, q, max_seqlen_q=most, max_seqlen_k=most, **options)

    def lower_part(q, k):
        return tk.scaled_dot_product_attention(q, k, k, is_causal=True)

    with torch._dynamo.config.patch(recompile_limit=4):
        made = [
            torch.compile(f, fullgraph=True, backend="aot_eager", dynamic=True)
            for f in (packed, lower_part, tk.topk)
        ]
        for n in range(5, 15):
            q = torch.randn(2 * n, 2, 16, dtype=BF16)
            starts = torch.tensor([0, n, 2 * n], dtype=torch.int32)
            assert torch.equal(made[0](q, starts, n), packed(q, starts, n))
            q, k = torch.randn(1, 2, 2 * n, 16, dtype=BF16), torch.randn(1, 2, n, 16, dtype=BF16)
            assert torch.equal(made[1](q, k), lower_part(q, k))
            x = torch.randn(4, 64)
            assert torch.equal(made[2](x, n)[0], tk.topk(x, n)[0])


def test_what_replacing_gives():
    x = torch.randn(4, 8, dtype=BF16)
    labels = torch.zeros(4, dtype=torch.long)
    with torch.autocast(DEVICE, dtype=BF16), tk.replacing():
        assert F.cross_entropy(x, labels).dtype == FP32
    with tk.replacing() as calls:
        torch.softmax(x, 0).view(-1)
        x.topk(2, 0).values.view(-1)
        with pytest.raises(RuntimeError):
            torch.bmm(x, x.T)
    assert calls.replaced["torch.softmax"] == calls.replaced["torch.Tensor.topk"] == 1


def test_checkpoints_compute_again_what_was_replaced():
    model = torch.nn.Sequential(
        torch.nn.Linear(16, 16), torch.nn.SiLU(), torch.nn.RMSNorm(16)
    ).to(BF16)
    gradients = []
    for keeps in True, False:
        x = torch.ones(3, 16, dtype=BF16, requires_grad=True)
        again = tk.replacing()
        with tk.replacing():
            if keeps:
                y = model(x)
            else:
                contexts = lambda: (contextlib.nullcontext(), again)  # noqa: E731
                y = checkpoint(model, x, use_reentrant=False, context_fn=contexts)
        y.sum().backward()
        gradients.append(x.grad)
    assert torch.equal(*gradients)
    assert again.replaced["torch.nn.functional.silu"] == 1


def test_numbers_that_are_none():
    x = torch.randn(2, 16)
    for call in lambda: tk.softmax(x, scale=None), lambda: tk.layer_norm(x, 16, eps=None):
        with pytest.raises((TypeError, RuntimeError)):
            call()
    with pytest.raises(IndexError):
        tk.transpose(x, 2, 3)
