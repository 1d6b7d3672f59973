# SPDX-License-Identifier: MIT
"""The functions of tk_ops.jax that choose numbers, round, add or move them."""

import jax.numpy as jnp

from tk_ops import ScaleKind
from tk_ops._options import block_kind, check_sum, scale_shape

from ._library import launch, like, made, matrix, operator

__all__ = ["add", "argmax", "matrix_transpose", "quantise", "top_k"]


# ---- largest numbers -----------------------------------------------------------------------------
@operator
class largest_of_rows:
    def run(options, x):
        k, largest, _ = options
        shape = x.shape[0], k
        results = dict(values=made(shape, x.dtype), indices=made(shape, jnp.int32))
        found = launch("topk", dict(x=x), results, smallest=not largest)
        return (found["values"], found["indices"]), found["indices"]

    def backward(wanted, options, indices, dvalues, _):
        if dvalues is None:
            return (None,)
        dx = jnp.zeros((indices.shape[0], options[-1]), dvalues.dtype)
        return (jnp.put_along_axis(dx, indices, dvalues, -1, inplace=False),)


@operator
class place_of_rows:
    def run(options, x):
        results = dict(indices=made((x.shape[0], 1), jnp.int32))
        return launch("topk", dict(x=x), results)["indices"], ()

    def backward(wanted, options, saved, _):
        return (None,)


def top_k(operand, k, *, axis=-1, largest=True):
    """The k largest numbers along an axis and their places, as jax.lax.top_k: a pair.

    bf16, fp16 or fp32 of any sizes; k is at most 1024. They are sorted, the largest first, or with
    largest False the smallest; equal numbers by their places, the first one first; NaN counts as
    larger than everything. Values are bit for bit those of operand, and their gradient goes back to
    their places; places are int32. TypeError for other types, ValueError for a k beyond the size of
    the axis, NotImplementedError beyond 1024.
    """
    x = jnp.asarray(operand)
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"top_k: operand {list(x.shape)} has no axis {axis}")
    x = jnp.moveaxis(x, axis, -1)
    found = largest_of_rows((int(k), bool(largest), x.shape[-1]), matrix(x))
    return tuple(jnp.moveaxis(y.reshape(*x.shape[:-1], k), -1, axis) for y in found)


def argmax(a, axis=None, *, keepdims=False):
    """The place of the largest number along an axis, or with None of all, as jax.numpy.argmax: of
    equal ones the first, NaN before all others. bf16, fp16 or fp32; the result is int32, whose
    gradient is 0. TypeError for other types, ValueError for an axis that is none, or of size 0."""
    x = jnp.asarray(a)
    if axis is None:
        return argmax(x.reshape(-1), 0).reshape((1,) * x.ndim if keepdims else ())
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"argmax: a {list(x.shape)} has no axis {axis}")
    x = jnp.moveaxis(x, axis, -1)
    found = place_of_rows((), matrix(x)).reshape(*x.shape[:-1], 1)
    return jnp.moveaxis(found, -1, axis) if keepdims else found[..., 0]


# ---- fp8 -----------------------------------------------------------------------------------------
@operator
class rounded:
    def run(options, x, scale):
        dtype, kind, power_of_two = options
        y, given = like(x, dtype), kind == ScaleKind.GIVEN
        inputs, results = (dict(x=x, scale=scale), dict(y=y)) if given else (dict(x=x), dict(y=y))
        if not given:
            results["scale"] = made(scale_shape(kind, x.shape), jnp.float32)
        found = launch("quantise", inputs, results, kind=kind, power_of_two=power_of_two)
        return (found["y"], scale if given else found["scale"]), ()

    def backward(wanted, options, saved, *_):
        raise NotImplementedError("quantise: there is no derivative of it")


def quantise(x, dtype=jnp.float8_e4m3fn, *, block="row", scale=None, power_of_two=False):
    """x to fp8, float8_e4m3fn or float8_e5m2, such that x is result scale, rounded: the pair
    (result, scale).

    x is bf16, fp16 or fp32, [..., m, n]. scale is fp32, one for each `block`: "row" (of x's sizes
    but the last), "1x128" ([..., m, ceil(n / 128)]), "128x128" ([..., ceil(m / 128), ceil(n /
    128)]) or "tensor" (no dimension): the largest number of the block over the largest of fp8, with
    power_of_two the next power of two. A given scale, of one element, is used instead, and comes
    back; what is too large is fp8's largest number then. Its gradient is a NotImplementedError;
    TypeError for other types, ValueError for another block.
    """
    x = jnp.asarray(x)
    kind = block_kind(block) if scale is None else ScaleKind.GIVEN
    sizes = x.shape if x.ndim <= 4 else (-1, *x.shape[-3:])
    y, made_scale = rounded((jnp.dtype(dtype), kind, bool(power_of_two)), x.reshape(sizes), scale)
    if scale is None:
        made_scale = made_scale.reshape(scale_shape(kind, x.shape))
    return y.reshape(x.shape), made_scale


# ---- sums, and matrices turned -------------------------------------------------------------------
def scaled(x, alpha, dtype):
    x, shape = matrix(x), x.shape
    return launch("add", dict(a=x), dict(y=like(x, dtype)), alpha=alpha)["y"].reshape(shape)


@operator
class summed:
    """alpha a + beta b, in b's type."""

    def run(options, a, b):
        alpha, beta, *_ = options
        results = dict(y=like(a, b.dtype))
        return launch("add", dict(a=a, b=b), results, alpha=alpha, beta=beta)["y"], ()

    def backward(wanted, options, saved, dy):
        alpha, beta, a_type, b_shape = options
        da = scaled(dy, alpha, a_type) if wanted[0] else None
        if not wanted[1]:
            return da, None
        axes = tuple(i for i, (x, y) in enumerate(zip(b_shape, dy.shape)) if x != y)
        b_type = dy.dtype
        if axes:
            dy = dy.sum(axes, dtype=jnp.float32, keepdims=True)
        return da, scaled(dy, beta, b_type)


def add(x, y, *, alpha=1.0):
    """x + alpha y, rounded once.

    bf16, fp16 or fp32, of one type, or one of them fp32, which is the result's. One of both, where
    they differ in type the fp32 one, may lack leading dimensions, or have 1 in their place, for all
    of the other's; of those that do up to four dimensions. Gradients reach both. TypeError for
    other types, ValueError for sizes that do not fit.
    """
    x, y = jnp.asarray(x), jnp.asarray(y)
    turned = check_sum("x", x, "y", y, jnp.dtype(jnp.float32))
    a, b, factors = (y, x, (float(alpha), 1.0)) if turned else (x, y, (1.0, float(alpha)))
    shape = a.shape
    b = b.reshape((1,) * (a.ndim - b.ndim) + b.shape)
    if a.shape == b.shape:
        a, b = matrix(a), matrix(b)
    return summed((*factors, a.dtype, b.shape), a, b).reshape(shape)


def turn(x):
    results = dict(y=made((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype))
    return launch("transpose", dict(x=x), results)["y"]


@operator
class turned_matrices:
    def run(options, x):
        return turn(x), ()

    def backward(wanted, options, saved, dy):
        return (turn(dy),)


def matrix_transpose(x):
    """The last two dimensions exchanged, as jax.numpy.matrix_transpose.

    bf16, fp16, fp32, int32 or fp8, whose bits are copied. The gradient is turned back. TypeError
    for other types, ValueError for an array without two dimensions.
    """
    x = jnp.asarray(x)
    if x.ndim < 2:
        raise ValueError(f"matrix_transpose: x {list(x.shape)} must have two dimensions")
    sizes = x.shape if x.ndim <= 4 else (-1, *x.shape[-3:])
    return turned_matrices((), x.reshape(sizes)).reshape(*x.shape[:-2], *x.shape[:-3:-1])
