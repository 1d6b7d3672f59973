# SPDX-License-Identifier: MIT
"""The functions of tk_ops.jax that choose numbers or round them."""

import jax.numpy as jnp

from tk_ops import ScaleKind
from tk_ops._options import block_kind, scale_shape

from ._library import launch, like, made, matrix, operator

__all__ = ["argmax", "quantise", "top_k"]


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
