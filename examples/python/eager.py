# SPDX-License-Identifier: MIT
"""The ops of models.py in PyTorch's own words, with the arguments of tk_ops.torch: what TK is
compared with."""

import torch
import torch.nn.functional as F
from torch.nn.functional import embedding, linear  # noqa: F401


def rms_norm(x, shape, weight, eps, residual=None):
    x = x if residual is None else x + residual
    y = F.rms_norm(x, shape, weight.to(x.dtype), eps)
    return y if residual is None else (y, x)


def swiglu(x):
    a, b = x.chunk(2, -1)
    return F.silu(a) * b


def cross_entropy(logits, targets, **options):
    return F.cross_entropy(logits.float(), targets, **options)


def linear_cross_entropy(x, weight, targets):
    return F.cross_entropy(linear(x, weight).float().flatten(0, -2), targets.flatten())


def rotary(q, k, cos, sin, positions=None):
    cos, sin = (x[: q.size(1)] if positions is None else x[positions] for x in (cos, sin))

    def turned(x):
        a, b = x.float().chunk(2, -1)
        c, s = cos[:, None], sin[:, None]
        return torch.cat((a * c - b * s, b * c + a * s), -1).to(x.dtype)

    return turned(q), turned(k)


def attention(q, k, v, causal, cu_seqlens_q=None, cu_seqlens_k=None, **bounds):
    if cu_seqlens_q is not None:
        starts = zip(*(x.tolist() for x in (cu_seqlens_q, cu_seqlens_k)), strict=True)
        (a, c), *ends = starts
        found = []
        for b, d in ends:
            if b > a:
                found.append(attention(q[None, a:b], k[None, c:d], v[None, c:d], causal)[0])
            a, c = b, d
        return torch.cat(found)
    nq, nk = q.size(1), k.size(1)
    mask = None
    if causal and nq != nk:
        mask = torch.ones(nq, nk, dtype=torch.bool, device=q.device).tril(nk - nq)
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    return F.scaled_dot_product_attention(
        q, k, v, mask, is_causal=causal and mask is None, enable_gqa=q.size(1) != k.size(1)
    ).transpose(1, 2)


# ---- scans ---------------------------------------------------------------------------------------
def scan(q, k, v, log_decay=None, chunk=64):
    """S_t = exp(log_decay_t) S_(t-1) + k_t^T v_t, o_t = q_t S_t of q, k [b, n, h, d] and v
    [b, n, h, e], in chunks: products within one, and states between them."""
    n = q.size(1)
    if log_decay is None:
        log_decay = q.new_zeros(q.shape[:3])

    def chunks(x):
        return F.pad(x, (0, 0, 0, 0, 0, -n % chunk)).unflatten(1, (-1, chunk)).transpose(2, 3)

    q, k, v = map(chunks, (q, k, v))  # [b, c, h, chunk, d]
    g = chunks(log_decay.float()[..., None]).squeeze(-1).cumsum(-1)
    seen = torch.ones(chunk, chunk, dtype=torch.bool, device=q.device).tril()
    within = (g[..., :, None] - g[..., None, :]).masked_fill(~seen, -torch.inf).exp()
    o = ((q @ k.transpose(-1, -2)) * within).to(v.dtype) @ v
    left = (k * (g[..., -1:] - g).exp()[..., None]).to(v.dtype)
    states = left.transpose(-1, -2) @ v
    total = F.pad(g[..., -1], (0, 0, 1, 0)).cumsum(1).transpose(1, 2)  # [b, h, c + 1]
    c = states.size(1)
    before = torch.ones(c, c, dtype=torch.bool, device=q.device).tril(-1)
    between = (total[..., :-1, None] - total[..., None, 1:]).masked_fill(~before, -torch.inf).exp()
    states = torch.einsum("bhij,bjhde->bihde", between, states.float())
    o = o + (q * g.exp()[..., None]).to(v.dtype) @ states.to(v.dtype)
    return o.transpose(2, 3).flatten(1, 2)[:, :n]


def mamba2(x, dt, A, B, C, D, z, dt_bias, dt_softplus=True):
    dt = F.softplus(dt.float() + dt_bias)
    B, C = (y.repeat_interleave(x.size(2) // y.size(2), 2) for y in (B, C))
    y = scan(C, B, x * dt[..., None].to(x.dtype), dt * A) + D[:, None] * x
    return (y * F.silu(z)).to(x.dtype)


def based(q, k, v):
    """By features whose products are the series of exp."""

    def features(x):
        x = x * 0.5  # the root of scale, 1 / 4
        pairs = (x[..., :, None] * x[..., None, :]).flatten(-2) * 0.5**0.5
        return torch.cat((torch.ones_like(x[..., :1]), x, pairs), -1)

    o = scan(features(q), features(k), F.pad(v, (0, 1), value=1.0))
    return (o[..., :-1] / (o[..., -1:] + 1e-6)).to(v.dtype)


def hedgehog(q, k, v, map_q, map_k, alpha, beta):
    """By matrices of all weights."""

    def features(x, of):
        x = torch.einsum("bnhd,hdf->bhnf", x, of)
        return torch.cat((x.softmax(-1), (-x).softmax(-1)), -1).clamp_min(1e-6)

    i = torch.arange(q.size(1), device=q.device)
    distance = i[:, None] // 64 - i // 64
    window, before = (distance <= 1) & (i <= i[:, None]), distance > 1
    s = torch.einsum("bihd,bjhd->bhij", q, k).float() * q.size(-1) ** -0.5
    s = s.masked_fill(~window, -torch.inf)
    linear = (features(q, map_q) @ features(k, map_k).transpose(-1, -2)).float() * before
    weights = beta[:, None, None] * (s - s.amax(-1, keepdim=True)).exp()
    weights = weights + alpha[:, None, None] * linear
    weights = weights / (weights.sum(-1, keepdim=True) + 1e-6)
    return torch.einsum("bhij,bjhd->bihd", weights.to(v.dtype), v)


# ---- convolutions --------------------------------------------------------------------------------
def causal_conv1d(x, weight, bias=None, activation=None):
    weight, bias = weight.to(x.dtype)[:, None], None if bias is None else bias.to(x.dtype)
    x = F.pad(x.transpose(1, 2), (weight.size(-1) - 1, 0))
    y = F.conv1d(x, weight, bias, groups=x.size(1)).transpose(1, 2)
    return y if activation is None else F.silu(y)


def fft_conv(u, k, pre, post):
    size = u.size(-1) + k.size(-1)
    spectrum = torch.fft.rfft((u * pre).float(), size) * torch.fft.rfft(k, size)
    return (torch.fft.irfft(spectrum, size)[..., : u.size(-1)] * post).to(u.dtype)
