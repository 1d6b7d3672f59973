# SPDX-License-Identifier: MIT
"""Options of tk_ops.torch that its other tests do not see: what comes back beside results, and
transforms of filters that are kept."""

import os
from functools import partial

import pytest

torch = pytest.importorskip("torch")

import definitions  # noqa: E402
import tk_ops.torch as tk  # noqa: E402

torch.set_num_threads(1)
torch.set_default_device(os.environ.get("TK_TORCH_DEVICE", "cpu"))
BF16, FP16 = torch.bfloat16, torch.float16
long_conv = partial(definitions.long_conv, torch)


def lse_of(q, k, sinks):
    """Of [n, h, d], in fp64, under a causal mask; [h, nq]."""
    nq, nk = len(q), len(k)
    s = torch.einsum("ihd,jhd->hij", q.double(), k.double()) * q.size(-1) ** -0.5
    s = s.masked_fill(torch.ones(nq, nk).triu(1 + nk - nq) > 0, -torch.inf)
    return torch.cat((s, sinks.double()[:, None, None].expand(-1, nq, 1)), -1).logsumexp(-1)


def test_lse():
    """Of a batch and of packed sequences, without dropout; it takes no gradient and gives none."""
    torch.manual_seed(0)
    q, k, v = torch.randn(2, 33, 2, 64, dtype=BF16), *torch.randn(2, 2, 50, 2, 64, dtype=BF16)
    sinks = torch.randn(2)
    q.requires_grad_()
    options = {"causal": True, "sinks": sinks, "return_lse": True}
    o, lse = tk.attention(q, k, v, **options)
    assert torch.equal(o, tk.attention(q, k, v, causal=True, sinks=sinks))
    assert lse.shape == (2, 2, 33) and o.requires_grad and not lse.requires_grad
    for i in range(2):
        torch.testing.assert_close(lse[i].double(), lse_of(q[i], k[i], sinks), rtol=1e-5, atol=1e-5)
    dropped = tk.attention(q, k, v, **options, dropout_p=0.5)
    assert torch.equal(dropped[1], lse) and not torch.equal(dropped[0], o)
    starts = torch.tensor([0, 20, 33], dtype=torch.int32)
    packed = {"cu_seqlens_q": starts, "cu_seqlens_k": starts}
    _, lse = tk.attention(q[0], k[0, :33], v[0, :33], **packed, **options)
    for a, b in ((0, 20), (20, 33)):
        want = lse_of(q[0, a:b], k[0, a:b], sinks)
        torch.testing.assert_close(lse[:, a:b].double(), want, rtol=1e-5, atol=1e-5)
    compiled = torch.compile(tk.attention, fullgraph=True, backend="aot_eager")
    for x, y in zip(compiled(q, k, v, **options), tk.attention(q, k, v, **options), strict=True):
        assert torch.equal(x, y)
    unseen = tk.attention(q[:, :9], k[:, :5], v[:, :5], causal=True, return_lse=True)[1]
    assert (unseen[..., :4] == -torch.inf).all() and unseen[..., 4:].isfinite().all()


def test_parts_by_lse():
    """Attention to two halves of the keys, put together by their lse, is that to all."""
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 2, 64, 2, 32, dtype=BF16)
    parts = [
        tk.attention(q, k[:, keys], v[:, keys], return_lse=True)
        for keys in (slice(0, 30), slice(30, 64))
    ]
    weights = torch.stack([lse for _, lse in parts]).softmax(0).transpose(-1, -2)[..., None]
    o = sum(o.double() * w for (o, _), w in zip(parts, weights))
    want = definitions.attention(torch, q.double(), k.double(), v.double())
    assert (o - want).norm() <= 0.6 * 2**-7 * want.norm()


@pytest.mark.parametrize("states", [False, True])
def test_normaliser(states):
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 2, 200, 2, 128, dtype=BF16)
    q.requires_grad_()
    maps, factors = (torch.randn(2, 2, 128, 64) / 11).to(BF16), 1 + torch.rand(2, 2)
    initial = torch.rand(2, 2, 128, 128), torch.rand(2, 2, 128)
    inputs = q, k, v, *maps, *factors
    *want, exact = definitions.hedgehog_with_normaliser(
        torch, *(x.detach().double() for x in (*inputs, *initial))
    )
    options = {"initial_states": initial, "return_final_states": states}
    o, *others, normaliser = tk.hedgehog(*inputs, **options, return_normaliser=True)
    assert normaliser.shape == (2, 2, 200) and not normaliser.requires_grad and o.requires_grad
    for x, y in (normaliser, exact), (o, want[0]):
        assert (x.double() - y).norm() <= 0.7 * 2**-7 * y.norm()
    if states:
        (kept,) = others
        plain = tk.hedgehog(*inputs, **options)
        assert all(torch.equal(x, y) for x, y in zip((o, *kept), (plain[0], *plain[1])))


CONVOLUTIONS = {
    "one_piece": (600, 300, 4),
    "shared": (600, 300, 2),
    "several_pieces": (20000, 20000, 2),
    "few_taps": (600, 60, 4),
}


@pytest.mark.parametrize("circular", [False, True])
@pytest.mark.parametrize("dtype", [BF16, FP16])
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_filters(name, dtype, circular):
    """Results and gradients have the bits of a call that makes the transforms, for any batch, and a
    filter stays as it is; where it has transforms they are what is used, not k."""
    n, nk, h_k = CONVOLUTIONS[name]
    torch.manual_seed(0)
    k = (torch.randn(h_k, nk) / nk**0.5).requires_grad_()
    filter = tk.fft_filter(k, torch.empty(4, n, dtype=dtype), circular)
    before = filter.clone()
    assert filter.dtype == torch.uint8 and not filter.requires_grad
    assert (filter.numel() == 0) == (name == "few_taps")
    for b in 1, 3:
        u, pre, post, dy = torch.randn(4, b, 4, n).to(dtype)
        inputs = u.requires_grad_(), k, pre.requires_grad_(), post.requires_grad_()
        found = []
        for options in {}, {"filter": filter}:
            y = tk.fft_conv(*inputs, circular, **options)
            found.append((y, *torch.autograd.grad(y, inputs, dy)))
        assert all(torch.equal(x, z) for x, z in zip(*found, strict=True))
        assert torch.equal(filter, before)
        other = tk.fft_conv(u, 0 * k, pre, post, circular, filter=filter)
        assert other.any() if filter.numel() else not other.any()


def test_filters_of_other_sizes():
    k, u = torch.randn(4, 300), torch.randn(2, 4, 600, dtype=BF16)
    filter = tk.fft_filter(k, u)
    for other in u.half(), torch.randn(2, 4, 6000, dtype=BF16):
        with pytest.raises(ValueError, match=r"filter has \d+ bytes; for these sizes and types"):
            tk.fft_conv(other, k, filter=filter)
    with pytest.raises(ValueError, match="tk_fft_conv: u has h"):
        tk.fft_filter(k, u[:, :3])
