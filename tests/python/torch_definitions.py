# SPDX-License-Identifier: MIT
"""What TK's functions compute, in PyTorch's own words, for fp64: see test_torch.py."""

import math
from functools import partial

import definitions
import torch
from definitions import gated  # noqa: F401

rotated, scan, ssd, short_conv, long_conv = (
    partial(getattr(definitions, x), torch)
    for x in ("rotated", "scan", "ssd", "short_conv", "long_conv")
)


def moments(x):
    """1, the elements, and their products in pairs, those of a <= c: [..., 153] of [..., 16]."""
    a, c = torch.triu_indices(16, 16)
    return torch.cat((torch.ones_like(x[..., :1]), x, x[..., a] * x[..., c]), -1)


def taylor(q, k, v, state, sums, scale):
    """Based with states, and a normaliser."""
    a, c = torch.triu_indices(16, 16)
    factors = torch.cat((torch.tensor([1.0] + [scale] * 16), scale**2 * (1 - (a == c) / 2)))
    q, k, o = moments(q) * factors, moments(k), []
    for t in range(q.size(1)):
        state = state + k[:, t, :, :, None] * v[:, t, :, None]
        sums = sums + k[:, t]
        o.append(
            (q[:, t, :, None] @ state)[..., 0, :] / (1e-6 + (q[:, t] * sums).sum(-1))[..., None]
        )
    return torch.stack(o, 1), state, sums


def hedgehog(q, k, v, map_q, map_k, alpha, beta, kv, sums):
    """Hedgehog with states before the first key."""

    def features(x, of):
        x = torch.einsum("bnhd,hdf->bnhf", x, of)
        return torch.cat((x.softmax(-1), (-x).softmax(-1)), -1).clamp_min(1e-6)

    nq, nk = q.size(1), k.size(1)
    i, j = torch.arange(nk - nq, nk)[:, None], torch.arange(nk)
    block = i // 64 * 64
    window, before = (j <= i) & (j >= block - 64), j < block - 64
    s = torch.einsum("bihd,bjhd->bhij", q, k) * q.size(-1) ** -0.5
    s = s.masked_fill(~window, -math.inf)
    q, k = features(q, map_q), features(k, map_k)
    weights = beta[:, None, None] * (s - s.amax(-1, keepdim=True)).exp() + alpha[
        :, None, None
    ] * before * torch.einsum("bihf,bjhf->bhij", q, k)
    o = torch.einsum("bhij,bjhd->bhid", weights, v)
    q = q.transpose(1, 2) * alpha[:, None, None]
    o = o + q @ kv
    normaliser = weights.sum(-1, keepdim=True) + q @ sums[..., None] + 1e-6
    kept = max(nk - 64 - nk % 64, 0)
    k, v = k[:, :kept], v[:, :kept]
    return (
        (o / normaliser).transpose(1, 2),
        kv + torch.einsum("bjhf,bjhd->bhfd", k, v),
        sums + k.sum(1),
    )


def weights_of(q, k, softcap, left, alibi, bias, sinks):
    """Attention's weights of q, k [b, n, h, d], causal in a window, with a softcap, slopes, a bias
    and sinks."""
    s = torch.einsum("bihd,bjhd->bhij", q, k) * q.size(-1) ** -0.5
    distance = torch.arange(q.size(1))[:, None] + k.size(1) - q.size(1) - torch.arange(k.size(1))
    s = softcap * torch.tanh(s / softcap) - alibi[:, None, None] * distance.abs() + bias
    s = s.masked_fill((distance < 0) | (distance > left), -math.inf)
    return torch.cat((s, sinks[:, None, None].expand(*s.shape[:-1], 1)), -1).softmax(-1)[..., :-1]


def packed(q, k, v, starts):
    """Attention of sequences beside each other: what is between two of them is masked."""
    row = torch.repeat_interleave(torch.arange(starts.numel() - 1, device=q.device), starts.diff())
    s = torch.einsum("ihd,jhd->hij", q, k) * q.size(-1) ** -0.5
    s = s.masked_fill(row[:, None] != row, -math.inf)
    return torch.einsum("hij,jhd->ihd", s.softmax(-1), v)
