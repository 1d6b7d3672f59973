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


def rotary(q, k, cos, sin):
    cos, sin = (x[: q.size(1), None] for x in (cos, sin))

    def turned(x):
        a, b = x.float().chunk(2, -1)
        return torch.cat((a * cos - b * sin, b * cos + a * sin), -1).to(x.dtype)

    return turned(q), turned(k)


def attention(q, k, v, causal):
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    grouped = q.size(1) != k.size(1)
    return F.scaled_dot_product_attention(
        q, k, v, is_causal=causal, enable_gqa=grouped
    ).transpose(1, 2)
