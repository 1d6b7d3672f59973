# SPDX-License-Identifier: MIT
"""The functions of tk_ops.torch that choose numbers or round them."""

import torch

from tk_ops import ScaleKind
from tk_ops._options import block_kind

from . import _values

__all__ = ["argmax", "quantise", "topk"]


def topk(input, k, dim=-1, largest=True, sorted=True):
    """The k largest numbers along dim and their places, as torch.topk: a pair (values, indices).

    bf16, fp16 or fp32 of any sizes; k is at most 1024. They are always sorted, the largest first,
    or with largest False the smallest; equal numbers by their places, the first one first; NaN
    counts as larger than everything. values are bit for bit those of input, and their gradient
    goes back to their places; indices are int64. ValueError for a k beyond the size of dim,
    NotImplementedError beyond 1024.
    """
    if not input.dim():
        raise ValueError("topk: input must have a dimension")
    is_last = dim in (-1, input.dim() - 1)
    x = input if is_last else input.movedim(dim, -1)
    found = _values.topk(x, x.size(-1), k, largest)
    if not is_last:
        found = tuple(y.movedim(-1, dim) for y in found)
    return torch.return_types.topk(found)


def argmax(input, dim=None, keepdim=False):
    """The place of the largest number along dim, or with None of all, as torch.argmax: of equal
    ones the first, NaN before all others. bf16, fp16 or fp32; the result is int64."""
    if dim is None:
        found = _values.argmax(input.reshape(-1))
        return found.view([1] * input.dim() if keepdim else ())
    if not input.dim():
        raise ValueError("argmax: input must have a dimension")
    found = _values.argmax(input.movedim(dim, -1)).movedim(-1, dim)
    return found if keepdim else found.squeeze(dim)


def quantise(input, dtype=torch.float8_e4m3fn, *, block="row", scale=None, power_of_two=False):
    """input to fp8, float8_e4m3fn or float8_e5m2, such that input is result scale, rounded: the
    pair (result, scale).

    input is bf16, fp16 or fp32, [..., m, n]. scale is fp32, one for each `block`: "row" (of
    input's sizes but the last), "1x128" ([..., m, ceil(n / 128)]), "128x128" ([..., ceil(m / 128),
    ceil(n / 128)]) or "tensor" (no dimension): the largest number of the block over the largest of
    fp8, with power_of_two the next power of two. A given scale, of one element, is used instead,
    and comes back; what is too large is fp8's largest number then. It has no gradient.
    """
    if scale is not None:
        y, _ = _values.quantise(input, scale, dtype, ScaleKind.GIVEN, False)
        return y, scale
    return _values.quantise(input, None, dtype, block_kind(block), power_of_two)
