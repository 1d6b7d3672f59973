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
