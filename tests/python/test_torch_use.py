# SPDX-License-Identifier: MIT
"""tk_ops.torch beside its ops: second derivatives, dropout, packed sequences, empty tensors,
autocast, modules, workspaces, and what is refused."""

import contextlib
import os
import threading

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F  # noqa: E402

import tk_ops  # noqa: E402
import tk_ops.torch as tk  # noqa: E402

torch.set_num_threads(1)
DEVICE = os.environ.get("TK_TORCH_DEVICE", "cpu")
torch.set_default_device(DEVICE)
BF16, FP32, SDPA = torch.bfloat16, torch.float32, tk.scaled_dot_product_attention


def second_of(function, x, w, dtype):
    """The gradients of the squares of those of the squares of the function."""
    x, w = (y.detach().to(dtype).requires_grad_() for y in (x, w))
    first = torch.autograd.grad(function(x, w).square().sum(), (x, w), create_graph=True)
    return torch.autograd.grad(sum(y.square().sum() for y in first), (x, w))


def test_second_derivatives():
    """Of products there are some; what has none says so."""
    x, w = torch.randn(4, 16, dtype=BF16, requires_grad=True), torch.randn(8, 16, dtype=BF16)
    for y in tk.silu(x), SDPA(*[x[None, None]] * 3):
        (first,) = torch.autograd.grad(y.square().sum(), x, create_graph=True)
        with pytest.raises(NotImplementedError, match="no derivative of it, nor a second one"):
            (first.sum() + x.sum()).backward()
    for ours, theirs in (tk.linear, F.linear), (lambda x, w: tk.matmul(x, w.t()), F.linear):
        found, exact = (second_of(of, x, w, to) for of, to in ((ours, BF16), (theirs, torch.double)))
        for y, z in zip(found, exact, strict=True):
            assert (y - z).norm() <= 2**-6 * z.norm()
    q, cos, sin = torch.randn(1, 3, 2, 8, requires_grad=True), torch.randn(3, 4), torch.randn(3, 4)
    turned, _ = tk.rotary(q, None, cos, sin)
    g = torch.randn_like(turned, requires_grad=True)  # the gradient is linear in g, and turns back
    (first,) = torch.autograd.grad(turned, q, g, create_graph=True)
    (second,) = torch.autograd.grad(first, g, torch.ones_like(first))
    assert torch.allclose(second, tk.rotary(torch.ones_like(first), None, cos, sin)[0])


def test_results_that_nobody_uses():
    """Of several results each alone has gradients."""
    q, k, cos, sin = torch.randn(1, 3, 2, 8), torch.randn(1, 3, 1, 8), *torch.randn(2, 3, 4)
    for which in 0, 1:
        inputs = q.clone().requires_grad_(), k.clone().requires_grad_()
        result = tk.rotary(*inputs, cos, sin)[which]
        result.sum().backward()
        back = tk.rotary(*[torch.ones_like(x) for x in inputs], cos, sin, inverse=True)[which]
        assert torch.equal(inputs[which].grad, back) and inputs[1 - which].grad is None
    x, r = torch.randn(3, 16, dtype=BF16), torch.randn(3, 16)
    for which in 0, 1:
        inputs = x.clone().requires_grad_(), r.clone().requires_grad_()
        tk.rms_norm(inputs[0], 16, residual=inputs[1])[which].square().sum().backward()
        exact = r.clone().double().requires_grad_()
        s = x.double() + exact
        (F.rms_norm(s, (16,), eps=torch.finfo(FP32).eps), s)[which].square().sum().backward()
        assert torch.allclose(inputs[1].grad.double(), exact.grad, rtol=2e-2, atol=2e-2)
        assert torch.allclose(inputs[0].grad.double(), exact.grad, rtol=2e-2, atol=2e-2)
    q = torch.randn(1, 5, 1, 16, dtype=BF16, requires_grad=True)
    tk.linear_attention(q, q, q, return_final_state=True)[1].sum().backward()
    assert q.grad.any()


def test_default_eps():
    """That of PyTorch: fp32's epsilon, whatever the input's type."""
    x = 1e-3 * torch.randn(4, 16)
    for dtype in torch.float16, BF16, FP32:
        y = F.rms_norm(x.to(dtype), (16,))
        assert torch.allclose(tk.rms_norm(x.to(dtype), 16), y, rtol=2 * torch.finfo(dtype).eps)


def test_dropout():
    torch.manual_seed(1)
    q, k = (torch.randn(1, 2, 64, 32, dtype=BF16) for _ in range(2))
    eye = torch.eye(64, dtype=BF16).expand(1, 2, 64, 64)
    kept = SDPA(q, k, eye, dropout_p=0.25)
    full = SDPA(q, k, eye)
    dropped = (kept == 0).float().mean().item()
    assert abs(dropped - 0.25) < 5 * (0.25 * 0.75 / kept.numel()) ** 0.5
    assert torch.allclose(kept[kept != 0], full[kept != 0] / 0.75, rtol=2e-2)
    assert not torch.equal(SDPA(q, k, eye, dropout_p=0.25), kept)
    v = torch.randn(1, 2, 64, 32, dtype=BF16, requires_grad=True)
    torch.manual_seed(4)
    o, dout = SDPA(q, k, v, dropout_p=0.25), torch.randn(1, 2, 64, 32).to(BF16)
    (dv,) = torch.autograd.grad(o, v, dout)  # o is linear in v under the weights that were kept
    exact, scale = (dv.double() * v).sum(), (dv.double() * v).square().sum().sqrt()
    assert abs(exact - (o.double() * dout).sum()) < 0.05 * scale
    torch.manual_seed(4)
    assert torch.equal(SDPA(q, k, v, dropout_p=0.25), o)


def test_packed_sequences():
    starts = torch.tensor([0, 20, 20, 50], dtype=torch.int32)
    pairs = [(0, 20), (20, 50)]
    q, k, v, g = torch.randn(3, 50, 2, 16, dtype=BF16).unbind() + (-torch.rand(50, 2),)
    o, states = tk.linear_attention(
        q, k, v, log_decay=g, return_final_state=True, cu_seqlens=starts
    )
    assert states.shape == (3, 2, 16, 16) and not states[1].any()
    for (a, b), state in zip(pairs, states[::2]):
        alone, last = tk.linear_attention(
            *(x[None, a:b] for x in (q, k, v)), log_decay=g[None, a:b], return_final_state=True
        )
        assert torch.equal(o[a:b], alone[0]) and torch.equal(state, last[0])
    keys = torch.tensor([0, 20, 30, 50], dtype=torch.int32)
    o = tk.attention(q, k, v, causal=True, cu_seqlens_q=starts, cu_seqlens_k=keys, max_seqlen_q=30)
    for (a, b), (c, d) in zip(pairs, [(0, 20), (30, 50)]):
        alone = tk.attention(q[None, a:b], k[None, c:d], v[None, c:d], causal=True)
        assert torch.equal(o[a:b], alone[0])
    x, w = torch.randn(50, 24), torch.randn(24, 3)
    y, states = tk.causal_conv1d(x, w, return_final_states=True, cu_seqlens=starts)
    assert states.shape == (3, 2, 24)
    for (a, b), state in zip(pairs, states[::2]):
        alone, last = tk.causal_conv1d(x[a:b], w, return_final_states=True)
        assert torch.equal(y[a:b], alone) and torch.equal(state, last)


def test_based_packed_and_in_steps():
    starts = torch.tensor([0, 20, 20, 90], dtype=torch.int32)
    q, k, v = torch.randn(90, 2, 16, dtype=BF16), *torch.randn(2, 90, 2, 16, dtype=BF16).unbind()
    for normalise in False, True:
        options = {"normalise": normalise, "return_final_states": True}
        o, states = tk.based(q, k, v, cu_seqlens=starts, **options)
        assert (states[1] is not None) == normalise and not states[0][1].any()
        for i, (a, b) in enumerate(((0, 20), (20, 20), (20, 90))):
            alone, last = tk.based(*(x[None, a:b] for x in (q, k, v)), **options)
            assert torch.equal(o[a:b], alone[0])
            assert all(torch.equal(x[i], y[0]) for x, y in zip(states, last) if x is not None)
        whole, held = tk.based(q[None], k[None], v[None], **options)
        first, held = tk.based(*(x[None, :80] for x in (q, k, v)), **options)
        found = [first]
        for t in range(80, 90):
            step = (x[None, t : t + 1] for x in (q, k, v))
            o, held = tk.based(*step, initial_states=held, **options)
            found.append(o)
        assert (torch.cat(found, 1) - whole).norm() < 1e-2 * whole.norm()


def test_hedgehog_gradients_past_lengths():
    """Those of keys past a length, and of queries without a token, are 0."""
    keys, queries, maps = (
        torch.randn(3, 90, 1, 128, dtype=BF16),
        torch.randn(3, 8, 1, 128, dtype=BF16),
        (torch.randn(2, 1, 128, 64) / 11).to(BF16),
    )
    factors, lengths = torch.ones(2, 1), torch.tensor([90, 33, 5], dtype=torch.int32)
    inputs = [x.clone().requires_grad_() for x in (queries, keys, keys)]
    junk = [torch.full_like(keys, torch.nan) for _ in range(20)]  # for what is never written
    del junk
    o = tk.hedgehog(*inputs, *maps, *factors, lengths=lengths)
    seen = torch.arange(8) >= 8 - lengths[:, None]
    do = torch.randn_like(o) * seen[..., None, None]
    dq, *of_keys = torch.autograd.grad(o, inputs, do)
    assert not dq[~seen].any()
    for i, length in enumerate(lengths.tolist()):
        assert not any(x[i, length:].any() for x in of_keys)
        n = min(8, length)
        alone = [x[i : i + 1].detach().requires_grad_() for x in (queries, keys, keys)]
        parts = alone[0][:, 8 - n :], *(x[:, :length] for x in alone[1:])
        exact = torch.autograd.grad(tk.hedgehog(*parts, *maps, *factors), alone, do[i : i + 1, 8 - n :])
        for x, y in zip((dq, *of_keys), exact, strict=True):
            torch.testing.assert_close(x[i : i + 1], y)


def test_hedgehog_packed_and_in_steps():
    """Keys that states do not hold are given again; gradients reach each state alone."""
    q, k, v = torch.randn(3, 300, 2, 128, dtype=BF16).unbind()
    maps, factors = (torch.randn(2, 2, 128, 64) / 11).to(BF16), 0.5 + torch.rand(2, 2)
    starts = torch.tensor([0, 120, 120, 300], dtype=torch.int32)
    o = tk.hedgehog(q, k, v, *maps, *factors, cu_seqlens_q=starts)
    assert torch.equal(
        o[120:], tk.hedgehog(q[None, 120:], k[None, 120:], v[None, 120:], *maps, *factors)[0]
    )
    last = torch.tensor([0, 1, 1, 5], dtype=torch.int32)
    rows = torch.tensor([119, *range(296, 300)])
    few = tk.hedgehog(q[rows], k, v, *maps, *factors, cu_seqlens_q=last, cu_seqlens_k=starts)
    torch.testing.assert_close(few, o[rows], rtol=2e-2, atol=2e-2)
    q, k, v = q[None], k[None], v[None]
    whole = tk.hedgehog(q, k, v, *maps, *factors)
    lengths = torch.tensor([200], dtype=torch.int32)
    short = tk.hedgehog(q[:, :10], k, v, *maps, *factors, lengths=lengths)
    torch.testing.assert_close(
        short, tk.hedgehog(q[:, :10], k[:, :200], v[:, :200], *maps, *factors)
    )
    first, states = tk.hedgehog(
        *(x[:, :190] for x in (q, k, v)), *maps, *factors, return_final_states=True
    )
    kept = 190 - 64 - 190 % 64
    rest = tk.hedgehog(q[:, 190:], k[:, kept:], v[:, kept:], *maps, *factors, initial_states=states)
    torch.testing.assert_close(torch.cat((first, rest), 1), whole, rtol=2e-2, atol=2e-2)
    for which in 0, 1:
        key = k.clone().requires_grad_()
        _, states = tk.hedgehog(q, key, v, *maps, *factors, return_final_states=True)
        states[which].square().sum().backward()
        assert key.grad[:, :192].any() and not key.grad[:, 192:].any()


def test_nothing_to_do():
    w = torch.randn(5, 8, dtype=BF16, requires_grad=True)
    y = tk.linear(torch.randn(0, 8, dtype=BF16), w)
    y.sum().backward()
    assert y.shape == (0, 5) and not w.grad.any()
    assert tk.rms_norm(torch.randn(0, 8), 8).shape == (0, 8)
    q, k = torch.randn(1, 2, 3, 8, dtype=BF16), torch.randn(1, 2, 0, 8, dtype=BF16)
    assert not SDPA(q, k, k).any()
    assert tk.embedding(torch.zeros(0, dtype=torch.int64), w).shape == (0, 8)


@pytest.mark.parametrize("m, k, n", [(0, 8, 3), (4, 0, 3), (4, 8, 0)])
def test_products_of_nothing(m, k, n):
    a, b = torch.ones(2, m, k, dtype=BF16), torch.ones(k, n, dtype=BF16)
    a.requires_grad_(), b.requires_grad_()
    found, exact = (
        (of.matmul(a, b), of.matmul(a, b.expand(2, k, n)), of.addmm(b.sum(0), a[0], b))
        for of in (tk, torch)
    )
    for y, z in zip(found, exact, strict=True):
        assert torch.equal(y, z)
        for x, w in zip(*(torch.autograd.grad(r.sum(), (a, b)) for r in (y, z)), strict=True):
            assert torch.equal(x, w)


def test_autocast():
    x, w = torch.randn(4, 16, requires_grad=True), torch.randn(8, 16, requires_grad=True)
    q = torch.randn(1, 2, 5, 16)
    with torch.autocast(DEVICE, dtype=BF16):
        y, o, n = tk.linear(x, w), SDPA(q, q, q), tk.rms_norm(x, 16)
        compiled = torch.compile(tk.linear, fullgraph=True, backend="aot_eager")(x, w)
    assert y.dtype == o.dtype == BF16 and n.dtype == FP32
    assert torch.equal(y, tk.linear(x.to(BF16), w.to(BF16))) and torch.equal(y, compiled)
    y.sum().backward()
    assert x.grad.dtype == w.grad.dtype == FP32


def test_modules():
    """A small model learns, alike compiled; its parameters are those of PyTorch's modules."""

    def model(nn):
        torch.manual_seed(2)
        return torch.nn.Sequential(
            nn.Embedding(11, 16),
            nn.RMSNorm(16),
            nn.Linear(16, 32),
            nn.SiLU(),
            nn.Linear(32, 16),
            nn.GELU("tanh"),
            nn.LayerNorm(16),
            nn.Linear(16, 11),
        ).to(BF16)

    ours, theirs, ids = model(tk), model(torch.nn), torch.arange(11).repeat(6)
    ours.load_state_dict(theirs.state_dict())
    criterion = tk.CrossEntropyLoss()
    assert abs(criterion(ours(ids), ids) - F.cross_entropy(theirs(ids).float(), ids)) < 2e-2
    step = torch.compile(lambda: criterion(ours(ids), ids), fullgraph=True, backend="aot_eager")
    optimizer, losses = torch.optim.SGD(ours.parameters(), 0.5), []
    for _ in range(30):
        optimizer.zero_grad()
        step().backward()
        optimizer.step()
        losses.append(step().item())
    assert losses[-1] < 0.2 * losses[0]
    norm, x, r = tk.RMSNorm(16), torch.randn(3, 16), torch.randn(3, 16)
    y, s = norm(x, r)
    assert torch.equal(s, x + r) and torch.allclose(y, torch.nn.RMSNorm(16)(s), atol=1e-5)
    a = torch.randn(3, 16)
    assert torch.allclose(tk.SwiGLU()(a), F.silu(a[:, :8]) * a[:, 8:], atol=1e-6)


@pytest.mark.skipif(DEVICE != "cpu", reason="has the CPU play a device")
def test_workspaces(monkeypatch):
    """A device's path, with the CPU as the device: one workspace of each stream, which grows, in
    memory that is of no pool of this thread."""
    from tk_ops.torch import _library

    capturing, u, k = [False], torch.randn(1, 4, 3000, dtype=BF16), torch.randn(4, 2000)
    for name, value in {
        "_cuda_getDevice": lambda: None,
        "_cuda_getCurrentRawStream": lambda device: 7,
        "_cuda_isCurrentStreamCapturing": lambda: capturing[0],
    }.items():
        monkeypatch.setattr(torch._C, name, value, raising=False)
    threads = []

    def stream(current):
        threads.append(threading.get_ident())
        return contextlib.nullcontext()

    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: None)
    monkeypatch.setattr(torch.cuda, "stream", stream)
    held, names = {}, ("u", "k", "y")
    monkeypatch.setattr(_library, "workspaces", held)
    conv = _library._binding.some_fields("fft_conv", names, False)

    def call(n, nk):
        y = torch.empty(1, 4, n, dtype=BF16)
        _library.launch_on_device(conv, (u[..., :n], k[:, :nk], y), y.device)
        assert torch.equal(y, tk.fft_conv(u[..., :n], k[:, :nk]))
        return [x.numel() for x in held.values()]

    capturing[0] = True
    assert call(600, 300) == []
    capturing[0], held[None, 7] = False, torch.zeros(16, dtype=torch.uint8)
    (small,) = call(600, 300)
    (large,) = call(3000, 2000)
    assert small < large and call(600, 300) == [large]
    assert not held[None, 7][:4096].any()
    assert len(threads) == 2 and threading.get_ident() not in threads
    with pytest.raises(ValueError, match="tk_fft_conv: y is NULL"):
        _library.launch_on_device(
            _library._binding.some_fields("fft_conv", names[:2], False), (u, k), u.device
        )


def test_profiler_sees_ops():
    """A call that is watched goes through PyTorch's dispatcher, another past it; both are equal."""
    x = torch.randn(3, 64, dtype=BF16, device=DEVICE)
    with torch.profiler.profile() as profile:
        y = tk.rms_norm(x, 64)
    assert "tk_ops::norm" in {event.name for event in profile.events()}
    assert torch.equal(y, tk.rms_norm(x, 64))


def test_lazily_negated():
    """A view whose numbers are negated when they are read."""
    x = torch.randn(3, 64, dtype=torch.complex64, device=DEVICE).conj().imag
    assert x.is_neg()
    assert torch.equal(tk.silu(x), tk.silu(x.clone()))


def bf16(*shape):
    return torch.zeros(shape, dtype=BF16)


@pytest.mark.parametrize(
    "error, sentence, call",
    [
        (TypeError, "tk_gemm: ", lambda: tk.linear(torch.zeros(2, 8), torch.zeros(3, 8))),
        (
            ValueError,
            r"input \[2, 8\] and weight \[3, 9\] do not fit",
            lambda: tk.linear(bf16(2, 8), bf16(3, 9)),
        ),
        (ValueError, "tk_gemm: bias", lambda: tk.linear(bf16(2, 8), bf16(3, 8), bf16(4))),
        (ValueError, "do not fit", lambda: tk.matmul(bf16(2, 8), bf16(7, 3))),
        (ValueError, "matmul: ", lambda: tk.matmul(bf16(2, 4, 8), bf16(3, 8, 5))),
        (TypeError, "tk_gemm: ", lambda: tk.matmul(torch.zeros(2, 8), torch.zeros(8, 3))),
        (ValueError, "no matrices that fit", lambda: tk.addmm(bf16(3), bf16(2, 8), bf16(1, 8, 3))),
        (ValueError, "baddbmm: input", lambda: tk.baddbmm(bf16(2), *[bf16(1, 3, 3)] * 2)),
        (ValueError, "normalized_shape", lambda: tk.rms_norm(bf16(2, 8), 4)),
        (
            ValueError,
            "weight and bias must have the sizes",
            lambda: tk.layer_norm(bf16(2, 8), 8, bf16(4)),
        ),
        (TypeError, "tk_norm: ", lambda: tk.rms_norm(bf16(2, 8).double(), 8)),
        (NotImplementedError, "multiple of 8", lambda: SDPA(*[bf16(1, 2, 3, 12)] * 3)),
        (NotImplementedError, "256", lambda: SDPA(*[bf16(1, 2, 3, 264)] * 3)),
        (TypeError, "tk_attention_forward: ", lambda: SDPA(*[torch.zeros(1, 2, 3, 8)] * 3)),
        (
            ValueError,
            "need enable_gqa",
            lambda: SDPA(bf16(1, 4, 3, 8), bf16(1, 2, 3, 8), bf16(1, 2, 3, 8)),
        ),
        (
            ValueError,
            "cannot both",
            lambda: SDPA(*[bf16(1, 2, 3, 8)] * 3, bf16(3, 3), is_causal=True),
        ),
        (
            ValueError,
            "tk_attention_forward: dropout",
            lambda: SDPA(*[bf16(1, 2, 3, 8)] * 3, dropout_p=1.5),
        ),
        (
            ValueError,
            "does not fit input's rows",
            lambda: tk.cross_entropy(bf16(3, 8), torch.zeros(4, dtype=torch.int64)),
        ),
        (
            NotImplementedError,
            "weights of classes",
            lambda: tk.cross_entropy(bf16(3, 8), None, bf16(8)),
        ),
        (NotImplementedError, "probabilities", lambda: tk.cross_entropy(bf16(3, 8), bf16(3, 8))),
        (
            ValueError,
            "no reduction",
            lambda: tk.cross_entropy(bf16(3, 8), torch.zeros(3, dtype=int), reduction="max"),
        ),
        (
            NotImplementedError,
            "mean or sum, not none",
            lambda: tk.linear_cross_entropy(
                bf16(3, 8), bf16(5, 8), torch.zeros(3, dtype=int), reduction="none"
            ),
        ),
        (
            TypeError,
            "tk_linear_cross_entropy: x is fp32",
            lambda: tk.linear_cross_entropy(
                torch.zeros(3, 8), torch.zeros(5, 8), torch.zeros(3, dtype=int)
            ),
        ),
        (
            ValueError,
            "padding_idx 9",
            lambda: tk.embedding(torch.zeros(3, dtype=int), bf16(4, 8), 9),
        ),
        (
            NotImplementedError,
            "max_norm",
            lambda: tk.embedding(torch.zeros(3, dtype=int), bf16(4, 8), max_norm=1.0),
        ),
        (ValueError, "must be even", lambda: tk.swiglu(bf16(3, 7))),
        (ValueError, "for one input", lambda: tk.reglu(bf16(3, 8), bf16(3, 8), interleaved=True)),
        (
            TypeError,
            "tk_activation: a is fp32",
            lambda: tk.swiglu(torch.zeros(3, 8), interleaved=True),
        ),
        (ValueError, "has more dimensions", lambda: tk.softmax(bf16(8), bias=bf16(3, 8))),
        (ValueError, "tk_softmax: bias", lambda: tk.softmax(bf16(4, 8), bias=bf16(3, 8))),
        (TypeError, "tk_softmax: bool_mask", lambda: tk.softmax(bf16(4, 8), mask=bf16(4, 8))),
        (ValueError, "along the last", lambda: tk.softmax(bf16(4, 8), 0, causal=True)),
        (ValueError, "same sizes", lambda: tk.geglu(bf16(3, 8), bf16(3, 4))),
        (
            NotImplementedError,
            "cos and sin",
            lambda: tk.rotary(bf16(1, 3, 1, 8), None, bf16(3, 4).requires_grad_(), bf16(3, 4)),
        ),
        (
            NotImplementedError,
            "tk_linear_attention: ",
            lambda: tk.linear_attention(*[bf16(1, 3, 1, 8)] * 3),
        ),
        (NotImplementedError, "tk_based: ", lambda: tk.based(*[bf16(1, 3, 1, 32)] * 3)),
        (
            TypeError,
            "tk_hedgehog: alpha",
            lambda: tk.hedgehog(*[bf16(1, 3, 1, 128)] * 3, *[bf16(1, 128, 64)] * 2, *[bf16(1)] * 2),
        ),
        (
            ValueError,
            "activation must be",
            lambda: tk.causal_conv1d(bf16(1, 3, 8), bf16(8, 4), activation="relu"),
        ),
        (
            ValueError,
            "must not be negative",
            lambda: tk.attention(*[bf16(1, 3, 2, 8)] * 3, window=(-2, 0)),
        ),
        (ValueError, "or packed 3", lambda: tk.attention(*[bf16(3, 2, 8)] * 3)),
        (TypeError, "tk_fft_conv: k", lambda: tk.fft_conv(bf16(1, 3, 8), bf16(3, 8))),
    ],
)
def test_refusals(error, sentence, call):
    with pytest.raises(error, match=sentence):
        call()
