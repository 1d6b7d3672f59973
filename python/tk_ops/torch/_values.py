# SPDX-License-Identifier: MIT
"""The ops that choose numbers, round, add or move them: topk, argmax, quantise, add, transpose."""

import torch

from tk_ops import ScaleKind
from tk_ops._options import scale_shape

from ._library import launcher, like, matrix, operator, rows

# ---- largest numbers -----------------------------------------------------------------------------
call_topk = launcher("topk", "x values indices smallest", rows=True)
call_argmax = launcher("topk", "x indices", rows=True)


@operator
class topk:
    schema = "topk(Tensor x, SymInt width, SymInt k, bool largest) -> (Tensor, Tensor)"
    constants = 1

    def made(x, width, k, largest):
        shape = *x.shape[:-1], k
        return x.new_empty(shape), x.new_empty(shape, dtype=torch.int64)

    def launch(made, x, width, k, largest):
        call_topk(matrix(x), *map(matrix, made), not largest)

    def saved(made, *arguments):
        return made[1:]

    def backward(wanted, saved, options, dvalues, _):
        (indices,) = saved
        dx = dvalues.new_zeros(*indices.shape[:-1], options[0])
        return (dx.scatter(-1, indices, dvalues),)


@operator
class argmax:
    """With the last size kept, as 1."""

    schema = "argmax(Tensor x) -> Tensor"

    def made(x):
        return x.new_empty((*x.shape[:-1], 1), dtype=torch.int64)

    def launch(indices, x):
        call_argmax(matrix(x), matrix(indices))


# ---- fp8 -----------------------------------------------------------------------------------------
call_quantise = launcher("quantise", "x y scale kind power_of_two")


@operator
class quantise:
    schema = (
        "quantise(Tensor x, Tensor? scale, ScalarType dtype, int kind, bool power_of_two)"
        " -> (Tensor, Tensor)"
    )

    def made(x, scale, dtype, kind, power_of_two):
        shape = (0,) if kind == ScaleKind.GIVEN else scale_shape(kind, x.shape)
        return like(x, dtype), x.new_empty(shape, dtype=torch.float32)

    def launch(made, x, scale, dtype, kind, power_of_two):
        y, made_scale = made
        more = x.dim() - 4  # dimensions than TK takes
        if more > 0:
            x, y = (t.flatten(0, more) for t in (x, y))
            if kind not in (ScaleKind.TENSOR, ScaleKind.GIVEN):
                made_scale = made_scale.flatten(0, more)
        call_quantise(rows(x), y, made_scale if scale is None else scale, kind, power_of_two)


# ---- sums, and matrices turned -------------------------------------------------------------------
call_add = [launcher("add", "a b y alpha beta", rows) for rows in (False, True)]
call_scale = launcher("add", "a y alpha", rows=True)


@operator
class scale:
    """alpha a, in another type."""

    schema = "scale(Tensor a, float alpha, ScalarType dtype) -> Tensor"

    def made(a, alpha, dtype):
        return like(a, dtype)

    def launch(y, a, alpha, dtype):
        call_scale(matrix(a), matrix(y), alpha)

    def saved(y, a, alpha, dtype):
        return (a.new_empty(0),)  # its type

    def backward(wanted, saved, options, dy):
        return (scale(dy, options[0], saved[0].dtype),)


@operator
class add:
    """alpha a + beta b, in b's type."""

    schema = "add(Tensor a, Tensor b, float alpha, float beta) -> Tensor"

    def made(a, b, alpha, beta):
        return like(a, b.dtype)

    def launch(y, a, b, alpha, beta):
        alike = a.shape == b.shape
        call_add[alike](*((matrix if alike else rows)(x) for x in (a, b, y)), alpha, beta)

    def saved(y, a, b, alpha, beta):
        return a.new_empty(0), b.new_empty(*b.shape, 0)  # their types, and b's sizes

    def backward(wanted, saved, options, dy):
        (a, b), (alpha, beta) = saved, options
        da = scale(dy, alpha, a.dtype) if wanted[0] else None
        if not wanted[1]:
            return da, None
        sizes = b.shape[:-1]
        if sizes == dy.shape:
            return da, scale(dy, beta, b.dtype)
        return da, scale(dy.float().sum_to_size(sizes), beta, b.dtype)


call_transpose = launcher("transpose", "x y")


@operator
class transpose:
    schema = "transpose(Tensor x) -> Tensor"

    def made(x):
        return x.new_empty(*x.shape[:-2], x.size(-1), x.size(-2))

    def launch(y, x):
        more = x.dim() - 4  # dimensions than TK takes
        call_transpose(*(rows(t.flatten(0, more) if more > 0 else t) for t in (x, y)))

    def saved(y, x):
        return ()

    def backward(wanted, saved, options, dy):
        return (transpose(dy),)
