# SPDX-License-Identifier: MIT
"""The functions of tk_ops.torch that choose numbers, round, add or move them."""

import torch

from tk_ops import ScaleKind
from tk_ops._options import block_kind, check_sum

from . import _values

__all__ = ["add", "argmax", "quantise", "topk", "transpose"]


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


def add(input, other, *, alpha=1.0):
    """input + alpha other, as torch.add of tensors, rounded once.

    bf16, fp16 or fp32, of one type, or one of them fp32, which is the result's. One of both, where
    they differ in type the fp32 one, may lack leading dimensions, or have 1 in their place, for all
    of the other's; of those that do up to four dimensions. Gradients reach both. TypeError for
    other types, ValueError for sizes that do not fit.
    """
    if check_sum("input", input, "other", other, torch.float32):
        return _values.add(other, with_dimensions(input, other.dim()), alpha, 1.0)
    return _values.add(input, with_dimensions(other, input.dim()), 1.0, alpha)


def with_dimensions(x, count):
    """x with 1 in the place of the leading dimensions that it lacks."""
    return x if x.dim() == count else x[(None,) * (count - x.dim())]


def transpose(input, dim0=-2, dim1=-1):
    """input with its last two dimensions exchanged, as torch.transpose, but written anew.

    bf16, fp16, fp32, int32 or fp8, whose bits are copied. The gradient is turned back. ValueError
    for a tensor without two dimensions, NotImplementedError for other dimensions than the last two.
    """
    n = input.dim()
    if n < 2:
        raise ValueError(f"transpose: input {list(input.shape)} must have two dimensions")
    for dim in dim0, dim1:
        if not -n <= dim < n:
            raise IndexError(f"transpose: {dim} is no dimension of {n}")
    if {dim0 % n, dim1 % n} != {n - 2, n - 1}:
        raise NotImplementedError(f"transpose: {dim0} and {dim1} are not the last two dimensions")
    return _values.transpose(input)
