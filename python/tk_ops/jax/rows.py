# SPDX-License-Identifier: MIT
"""The functions of tk_ops.jax that go by rows: norms, softmax, cross-entropy, activations,
embedding, rotary position embedding."""

import jax.numpy as jnp

from tk_ops import ActivationKind
from tk_ops._options import loss_fields, mask_of, norm_kind

from ._library import if_wanted, launch, like, made, matrix, operator, or_zeros
from ._repeat import repeat_kind

# fmt: off
__all__ = ["cross_entropy", "embedding", "geglu", "gelu", "layer_norm", "linear_cross_entropy",
           "reglu", "rms_norm", "rotary", "silu", "softmax", "swiglu"]
# fmt: on

GELU = {True: ActivationKind.GELU_TANH, False: ActivationKind.GELU_ERF}


# ---- norms ---------------------------------------------------------------------------------------
def norm_backward(wanted, options, r, dy, dr, weight, bias, apart=False):
    """The gradients dx, dresidual (where it is `apart` from dx), dweight, dbias of matrices."""
    rms, eps = options
    found = launch(
        "norm_backward",
        dict(r=r, dy=dy, dr=dr, weight=weight),
        dict(
            dx=like(dy),
            dresidual=if_wanted(r, apart),
            dweight=if_wanted(weight, wanted[0]),
            dbias=if_wanted(bias, wanted[1]),
        ),
        kind=norm_kind(rms),
        eps=eps,
    )
    return map(found.get, ("dx", "dresidual", "dweight", "dbias"))


@operator
class norm:
    def run(options, x, weight, bias):
        rms, eps = options
        y = launch(
            "norm",
            dict(x=x, weight=weight, bias=bias),
            dict(y=like(x)),
            kind=norm_kind(rms),
            eps=eps,
        )["y"]
        return y, (x, weight, bias)

    def backward(wanted, options, saved, dy):
        x, weight, bias = saved
        dx, _, dweight, dbias = norm_backward(wanted[1:], options, x, dy, None, weight, bias)
        return dx, dweight, dbias


@operator
class add_norm:
    def run(options, x, residual, weight, bias):
        rms, eps = options
        found = launch(
            "norm",
            dict(x=x, residual=residual, weight=weight, bias=bias),
            dict(y=like(x), r=like(residual)),
            kind=norm_kind(rms),
            eps=eps,
        )
        of_two_types = found["y"] if x.dtype != residual.dtype else None
        return (found["y"], found["r"]), (found["r"], weight, bias, of_two_types)

    def backward(wanted, options, saved, dy, dr):
        r, weight, bias, y = saved
        dy = or_zeros(dy, r if y is None else y)
        dx, dresidual, dweight, dbias = norm_backward(
            wanted[2:], options, r, dy, dr, weight, bias, y is not None
        )
        return dx, dx if y is None else dresidual, dweight, dbias


def normalised(name, x, weight, bias, rms, eps, residual):
    x = jnp.asarray(x)
    width = x.shape[-1:]
    if not width or any(w is not None and w.shape != width for w in (weight, bias)):
        raise ValueError(f"{name}: weight and bias must have the last size of x {list(x.shape)}")
    if residual is not None and residual.shape != x.shape:
        raise ValueError(f"{name}: residual must have the sizes of x {list(x.shape)}")
    options = rms, float(eps)
    if residual is None:
        return norm(options, matrix(x), weight, bias).reshape(x.shape)
    found = add_norm(options, matrix(x), matrix(residual), weight, bias)
    return tuple(y.reshape(x.shape) for y in found)


def rms_norm(x, weight=None, *, bias=None, eps=1e-6, residual=None):
    """x / sqrt(mean x^2 + eps) weight + bias over the last dimension.

    x [..., width], bf16, fp16 or fp32; weight and bias [width], both of one type, x's or fp32.
    Statistics are fp32; the result is as x. With a residual (x's sizes, its type or fp32) it is a
    pair: the norm of r = x + residual, and r, of residual's type. TypeError for other types,
    ValueError for sizes that do not fit.
    """
    return normalised("rms_norm", x, weight, bias, True, eps, residual)


def layer_norm(x, weight=None, bias=None, *, eps=1e-6, residual=None):
    """(x - mean) / sqrt(var + eps) weight + bias over the last dimension.

    Sizes, types, statistics, residual and errors are as in rms_norm; var is biased, of differences
    from the mean.
    """
    return normalised("layer_norm", x, weight, bias, False, eps, residual)


# ---- softmax and cross-entropy -------------------------------------------------------------------
@operator
class softmax_of_rows:
    def run(options, x):
        causal, scale = options
        fields = dict(mask=mask_of(causal), scale=scale)
        y = launch("softmax", dict(x=x), dict(y=like(x)), **fields)["y"]
        return y, y

    def backward(wanted, options, y, dy):
        causal, scale = options
        fields = dict(mask=mask_of(causal), scale=scale)
        return (launch("softmax_backward", dict(y=y, dy=dy), dict(dx=like(y)), **fields)["dx"],)


def softmax(x, axis=-1, *, scale=1.0, causal=False):
    """softmax(scale x) along an axis, as jax.nn.softmax.

    x of any sizes, bf16, fp16 or fp32; the result is as x, sums are fp32. With causal, row i of the
    last two dimensions [rows, width] sees column j where j <= i + width - rows (axis must be the
    last), and is 0 elsewhere. TypeError for other types, ValueError for another axis.
    """
    x = jnp.asarray(x)
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"softmax: x {list(x.shape)} has no axis {axis}")
    options = causal, float(scale)
    if axis % x.ndim == x.ndim - 1:
        rows = x.reshape(-1, *x.shape[-2:]) if causal and x.ndim > 3 and x.size else x
        return softmax_of_rows(options, rows if causal else matrix(x)).reshape(x.shape)
    if causal:
        raise ValueError(f"softmax: a causal one is along the last axis, not {axis}")
    return jnp.moveaxis(softmax(jnp.moveaxis(x, axis, -1), scale=scale), -1, axis)


@operator
class losses_of_rows:
    def run(options, x, labels):
        found = launch(
            "cross_entropy",
            dict(x=x, labels=labels),
            dict(loss=like(labels, jnp.float32), lse=like(labels, jnp.float32)),
            **loss_fields(*options),
        )
        return found["loss"], (x, labels, found["lse"])

    def backward(wanted, options, saved, dloss):
        x, labels, lse = saved
        found = launch(
            "cross_entropy_backward",
            dict(x=x, labels=labels, lse=lse, dloss=dloss),
            dict(dx=like(x)),
            **loss_fields(*options),
        )
        return found["dx"], None


def cross_entropy(
    logits, labels, *, ignore_index=-100, label_smoothing=0.0, z_loss=0.0, softcap=0.0
):
    """The cross-entropy of each row of logits and its label, always fp32, as optax's
    softmax_cross_entropy_with_integer_labels.

    logits [..., classes], bf16, fp16 or fp32; labels [...], int32 or int64; the result [...]. It is
    0 where a label is ignore_index, and NaN where one is no class. z_loss adds z_loss lse^2 to each
    loss, softcap takes softcap tanh(logits / softcap) for the logits. TypeError for other types,
    ValueError for sizes that do not fit.
    """
    logits, labels = jnp.asarray(logits), jnp.asarray(labels)
    check_labels("cross_entropy", logits, labels)
    options = ignore_index, float(label_smoothing), float(z_loss), float(softcap)
    return losses_of_rows(options, matrix(logits), labels.reshape(-1)).reshape(labels.shape)


def check_labels(name, x, labels):
    if not x.ndim or x.shape[:-1] != labels.shape:
        raise ValueError(
            f"{name}: labels {list(labels.shape)} do not fit the rows {list(x.shape[:-1])}"
        )


@operator
class losses_of_linear:
    """The sum of all losses. Its gradients come with it, in one walk through chunks of logits."""

    def run_for(wanted, options, x, weight, labels):
        repeat, *options = options
        found = launch(
            "linear_cross_entropy",
            dict(x=x, w=weight, labels=labels),
            dict(
                loss=like(labels, jnp.float32),
                dx=if_wanted(x, wanted[0]),
                dw=if_wanted(weight, wanted[1]),
            ),
            dloss_scale=1.0,
            repeat=repeat,
            **loss_fields(*options),
        )
        return found["loss"].sum(), (found.get("dx"), found.get("dw"))

    def backward(wanted, options, saved, dloss):
        return *(None if x is None else (x * dloss).astype(x.dtype) for x in saved), None


def linear_cross_entropy(
    x, weight, labels, *, ignore_index=-100, label_smoothing=0.0, z_loss=0.0, softcap=0.0
):
    """The sum of cross_entropy(x weight^T, labels), whose logits are never stored whole.

    x [..., k] and weight [classes, k], of one type, bf16 or fp16; labels [...], int32 or int64.
    Logits are rounded to x's type, a chunk of rows of them lies in the workspace (512 MiB at most),
    and gradients are made with the loss, where x or weight wants one. The loss is fp32; options and
    errors are those of cross_entropy.
    """
    x, labels = jnp.asarray(x), jnp.asarray(labels)
    check_labels("linear_cross_entropy", x, labels)
    numbers = ignore_index, float(label_smoothing), float(z_loss), float(softcap)
    options = repeat_kind(), *numbers
    return losses_of_linear(options, matrix(x), weight, labels.reshape(-1))


# ---- activations ---------------------------------------------------------------------------------
@operator
class activation:
    def run(kind, a, b):
        return launch("activation", dict(a=a, b=b), dict(y=like(a)), kind=kind)["y"], (a, b)

    def backward(wanted, kind, saved, dy):
        a, b = saved
        results = dict(da=like(a), db=like(b))
        found = launch("activation_backward", dict(a=a, b=b, dy=dy), results, kind=kind)
        return found["da"], found.get("db")


def activated(kind, x, other=None):
    x = jnp.asarray(x)
    return activation(kind, matrix(x), matrix(other)).reshape(x.shape)


def silu(x):
    """x / (1 + exp(-x)), as jax.nn.silu: bf16, fp16 or fp32, of any sizes. TypeError for others."""
    return activated(ActivationKind.SILU, x)


def gelu(x, approximate=True):
    """As jax.nn.gelu, by tanh where approximate: bf16, fp16 or fp32, of any sizes. TypeError for
    others."""
    return activated(GELU[bool(approximate)], x)


def gated(name, kind, x, other):
    if other is None:
        if not x.ndim or x.shape[-1] % 2:
            raise ValueError(f"{name}: the last size of x {list(x.shape)}, of two halves, is odd")
        x, other = jnp.split(x, 2, axis=-1)
    if x.shape != other.shape:
        raise ValueError(
            f"{name}: x {list(x.shape)} and other {list(other.shape)} must have the same sizes"
        )
    return activated(kind, x, jnp.asarray(other))


def swiglu(x, other=None):
    """silu(x) other; without other x is [..., 2 w], whose first half is passed through silu.

    bf16, fp16 or fp32 of any sizes, both alike; XLA copies halves. TypeError for other types,
    ValueError for sizes that differ, or an odd last one.
    """
    return gated("swiglu", ActivationKind.SILU, x, other)


def geglu(x, other=None, approximate=True):
    """gelu(x, approximate) other, as swiglu."""
    return gated("geglu", GELU[bool(approximate)], x, other)


def reglu(x, other=None):
    """relu(x) other, as swiglu."""
    return gated("reglu", ActivationKind.RELU, x, other)


# ---- embedding -----------------------------------------------------------------------------------
@operator
class rows_of_table:
    def run(options, table, ids):
        results = dict(y=made((ids.size, table.shape[1]), table.dtype))
        # The table is kept for its sizes alone.
        return launch("embedding", dict(table=table, ids=ids), results)["y"], (table, ids)

    def backward(wanted, padding, saved, dy):
        table, ids = saved
        found = launch(
            "embedding_backward",
            dict(dy=dy, ids=ids),
            dict(dtable=like(table)),
            ignored_id=padding or 0,
            ignores=padding is not None,
        )
        return found["dtable"], None


def embedding(table, ids, *, padding_idx=None):
    """Rows of table [v, d] (bf16, fp16 or fp32) by the numbers ids (int32 or int64, any sizes), as
    jax.numpy.take(table, ids, axis=0): [..., d].

    A number that is no row gives zeros. The gradient, of table's type, is summed in fp32 in a fixed
    order, without the tokens of padding_idx. TypeError for other types, ValueError for a
    padding_idx that is no row.
    """
    table, ids = jnp.asarray(table), jnp.asarray(ids)
    count = table.shape[0]
    if padding_idx is not None:
        if not -count <= padding_idx < count:
            raise ValueError(
                f"embedding: padding_idx {padding_idx} is none of table's {count} rows"
            )
        padding_idx %= count
    found = rows_of_table(padding_idx, table, ids.reshape(-1))
    return found.reshape(*ids.shape, table.shape[1])


# ---- rotary position embedding -------------------------------------------------------------------
def turn(options, q, k, *tables):
    interleaved, inverse = options
    names = "cos", "sin", "positions", "offsets"
    found = launch(
        "rotary",
        dict(q=q, k=k, **dict(zip(names, tables, strict=True))),
        dict(q_out=like(q), k_out=like(k)),
        interleaved=interleaved,
        inverse=inverse,
    )
    return found["q_out"], found.get("k_out")


@operator
class turned:
    def run(options, q, k, *tables):
        return turn(options, q, k, *tables), tables

    def backward(wanted, options, tables, dq, dk):
        if wanted[2] or wanted[3]:
            raise NotImplementedError("rotary: cos and sin have no gradient; stop_gradient them")
        interleaved, inverse = options
        first, second = (dk, None) if dq is None else (dq, dk)  # at least one was used
        first, second = turn((interleaved, not inverse), first, second, *tables)
        return *((None, first) if dq is None else (first, second)), *[None] * 4


def rotary(query, key, cos, sin, *, positions=None, offsets=None, interleaved=False, inverse=False):
    """Rotary position embedding of query [b, n, h, d] and key [b, n, hk, d] (or None), of one type,
    bf16, fp16 or fp32; both may lack b. The pair of them comes back.

    cos and sin are [m, w] with 2 w <= d, of that type or fp32; columns from 2 w on pass through.
    The row of a token is its place in n, positions[b, n], or offsets[b] more than its place (int32
    or int64). Pairs are columns i and i + w, or with interleaved 2 i and 2 i + 1. inverse turns
    back. Gradients reach query and key; those of cos and sin are a NotImplementedError. TypeError
    for other types, ValueError for sizes that do not fit.
    """
    return turned((bool(interleaved), bool(inverse)), query, key, cos, sin, positions, offsets)
