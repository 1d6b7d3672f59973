# SPDX-License-Identifier: MIT
"""The functions of tk_ops.jax that multiply: products of matrices, linear layers, attention."""

import math

import jax
import jax.numpy as jnp
from jax import lax

from tk_ops import Bias, Repeat
from tk_ops._options import mask_of, window_fields, window_of

from ._library import if_wanted, launch, like, made, matrix, operator
from ._repeat import repeat_kind

__all__ = ["attention", "dot_product_attention", "linear", "matmul"]


# ---- products of matrices ------------------------------------------------------------------------
def multiply(a, b, transpose_a, transpose_b, dtype, repeat, bias=None):
    """op(a) op(b) + bias, of matrices or of batches of them."""
    shape = *a.shape[:-2], a.shape[-1 if transpose_a else -2], b.shape[-2 if transpose_b else -1]
    return launch(
        "gemm",
        {"a": a, "b": b, "bias": bias},
        {"d": made(shape, dtype)},
        transpose_a=transpose_a,
        transpose_b=transpose_b,
        alpha=1.0,
        bias_kind=Bias.NONE if bias is None else Bias.ROW,
        repeat=repeat,
    )["d"]


@operator
class gemm:
    def run(options, a, b):
        return multiply(a, b, *options), (a, b)

    def backward(wanted, options, saved, dd):
        (a, b), (transpose_a, transpose_b, _, repeat) = saved, options
        dd, da, db = dd.astype(a.dtype), None, None
        if wanted[0]:
            left, right = (b, dd) if transpose_a else (dd, b)
            turned = (transpose_b, True) if transpose_a else (False, not transpose_b)
            da = multiply(left, right, *turned, a.dtype, repeat)
        if wanted[1]:
            left, right = (dd, a) if transpose_b else (a, dd)
            turned = (True, transpose_a) if transpose_b else (not transpose_a, False)
            db = multiply(left, right, *turned, b.dtype, Repeat.RUN)
        return da, db


@operator
class affine:
    def run(repeat, x, kernel, bias):
        return multiply(x, kernel, False, False, x.dtype, repeat, bias), (x, kernel, bias)

    def backward(wanted, repeat, saved, dy):
        x, kernel, bias = saved
        return (
            multiply(dy, kernel, False, True, x.dtype, repeat) if wanted[0] else None,
            multiply(x, dy, True, False, kernel.dtype, Repeat.RUN) if wanted[1] else None,
            dy.sum(0, dtype=jnp.float32).astype(bias.dtype) if wanted[2] else None,
        )


def matmul(a, b, *, preferred_element_type=None):
    """a b, as jax.numpy.matmul of matrices and batches.

    a [..., m, k] and b [..., k, n] of the same leading sizes, or [k, n]; both bf16 or fp16, of one
    type. The result [..., m, n] has that type, or preferred_element_type: bf16, fp16 or fp32. Sums
    are fp32, rounded once, in an order that only the sizes and the device decide, with repeat("row")
    not the number of rows. In gradients that of the result is rounded to a's type first. TypeError
    for other types, ValueError for sizes that do not fit.
    """
    a, b = jnp.asarray(a), jnp.asarray(b)
    shared = b.ndim == 2
    if (
        min(a.ndim, b.ndim) < 2
        or a.shape[-1] != b.shape[-2]
        or not (shared or a.shape[:-2] == b.shape[:-2])
    ):
        raise ValueError(
            f"matmul: a {list(a.shape)} and b {list(b.shape)} do not fit, [..., m, k] and"
            " [..., k, n] or [k, n]"
        )
    dtype = jnp.dtype(preferred_element_type or a.dtype)
    shape = *a.shape[:-1], b.shape[-1]
    options = False, False, dtype, repeat_kind()
    if shared:
        return gemm(options, matrix(a), b).reshape(shape)
    count = math.prod(a.shape[:-2])
    a, b = (x.reshape(count, *x.shape[-2:]) for x in (a, b))
    return gemm(options, a, b).reshape(shape)


def linear(x, kernel, bias=None):
    """x kernel + bias, the layer of flax.linen.Dense.

    x [..., k] and kernel [k, n], of one type, bf16 or fp16; bias [n] of that type or fp32; the
    result [..., n] of that type. Sums and errors are as in matmul.
    """
    x, kernel = jnp.asarray(x), jnp.asarray(kernel)
    if kernel.ndim != 2 or x.ndim < 1 or x.shape[-1] != kernel.shape[0]:
        raise ValueError(
            f"linear: x {list(x.shape)} and kernel {list(kernel.shape)} do not fit, [..., k] and"
            " [k, n]"
        )
    rows = x.reshape(math.prod(x.shape[:-1]), x.shape[-1])
    return affine(repeat_kind(), rows, kernel, bias).reshape(*x.shape[:-1], kernel.shape[1])


# ---- attention -----------------------------------------------------------------------------------
def fields_of(causal, left, right, scale, softcap, dropout, max_nq, max_nk):
    return dict(
        mask=mask_of(causal),
        scale=scale,
        **window_fields(left, right),
        softcap=softcap,
        dropout=dropout,
        max_nq=max_nq,
        max_nk=max_nk,
    )


def launch_attention(op, inputs, bits, outputs, options):
    """With dropout by four words of 32 bits, as integers of 64, also where JAX has none."""
    if bits is None:
        return launch(op, inputs, outputs, **fields_of(*options))
    with jax.enable_x64(True):
        state = lax.bitcast_convert_type(bits.reshape(2, 2), jnp.int64)
        return launch(op, dict(**inputs, random_state=state), outputs, **fields_of(*options))


@operator
class attend:
    def run(options, q, k, v, bias, alibi, sinks, q_starts, k_starts, bits):
        terms = dict(bias=bias, alibi=alibi, sinks=sinks, q_starts=q_starts, k_starts=k_starts)
        found = launch_attention(
            "attention_forward",
            dict(q=q, k=k, v=v, **terms),
            bits,
            dict(
                o=made((*q.shape[:-1], v.shape[-1]), q.dtype),
                lse=made((*q.shape[:-3], q.shape[-2], q.shape[-3]), jnp.float32),
            ),
            options,
        )
        return found["o"], (dict(q=q, k=k, v=v, **found), terms, bits)

    def backward(wanted, options, saved, dout):
        tensors, terms, bits = saved
        if wanted[4]:
            raise NotImplementedError("attention: alibi has no gradient")
        found = launch_attention(
            "attention_backward",
            dict(**tensors, dout=dout, **terms),
            bits,
            dict(
                dq=like(tensors["q"]),
                dk=like(tensors["k"]),
                dv=like(tensors["v"]),
                dbias=if_wanted(terms["bias"], wanted[3]),
                dsinks=if_wanted(terms["sinks"], wanted[5]),
            ),
            options,
        )
        dq, dk, dv, dbias, dsinks = map(found.get, ("dq", "dk", "dv", "dbias", "dsinks"))
        return dq, dk, dv, dbias, None, dsinks, None, None, None


def attention(
    query,
    key,
    value,
    *,
    causal=False,
    window=None,
    scale=None,
    softcap=0.0,
    bias=None,
    alibi=None,
    sinks=None,
    dropout_rate=0.0,
    dropout_rng=None,
    cu_seqlens_q=None,
    cu_seqlens_k=None,
    max_seqlen_q=0,
    max_seqlen_k=0,
):
    """softmax(scale query key^T + ...) value with all options of TK's attention.

    query [b, nq, hq, d], key [b, nk, hk, d], value [b, nk, hk, dv], of one type, bf16 or fp16; hk
    divides hq, d and dv are multiples of 8 to 256. The result is [b, nq, hq, dv]. Query i stands
    opposite key a = i + nk - nq: a causal mask shows it keys to a, a window (left, right), of which
    either may be None, keys from a - left to a + right. scale None is 1 / sqrt(d). softcap c takes
    c tanh(score / c); alibi, fp32 [hq] or [b, hq], are slopes by distance; bias [b or 1, hq or 1,
    nq, nk], fp32 or of query's type, is added; sinks, fp32 [hq], are logits that take part in the
    sum alone. Gradients reach query, key, value, bias and sinks; that of alibi is a
    NotImplementedError. A query that sees no key gives 0. TypeError for other types, ValueError for
    sizes that do not fit, NotImplementedError for other sizes of heads.

    dropout_rate, rounded to a multiple of 1/256, drops weights and divides the others by 1 -
    dropout_rate; which ones follows from dropout_rng, a key of jax.random, without which it is a
    ValueError: the same key drops the same ones, and gradients those of their results.

    With cu_seqlens_q and cu_seqlens_k, int32 [sequences + 1], sequences are packed: query [n, hq,
    d], key and value lack b, and rows of no sequence, in results and gradients, may hold anything.
    max_seqlen_q and max_seqlen_k bound the lengths (0: not said); bias is of these sizes.
    """
    dims = 4 if cu_seqlens_q is None else 3
    if query.ndim != dims or key.ndim != dims or value.ndim != dims:
        raise ValueError(
            "attention: query, key and value must have 4 dimensions, [b, n, h, d], or packed 3"
        )
    left, right = window_of(window)
    scale = query.shape[-1] ** -0.5 if scale is None else float(scale)
    bits = None
    if dropout_rate:
        if dropout_rng is None:
            raise ValueError(f"attention: dropout_rate {dropout_rate} needs dropout_rng, a key")
        bits = jax.random.bits(dropout_rng, (4,), jnp.uint32)
    numbers = scale, float(softcap), float(dropout_rate)
    options = causal, left, right, *numbers, max_seqlen_q, max_seqlen_k
    terms = bias, alibi, sinks, cu_seqlens_q, cu_seqlens_k
    return attend(options, query, key, value, *terms, bits)


def bias_of(bias, mask, dtype, shape):
    """What a mask, where it is False, leaves of a bias, as [b or 1, h or 1, nq, nk]; or None."""
    if mask is not None:
        bias = jnp.where(mask, jnp.zeros((), dtype) if bias is None else bias, -jnp.inf)
    if bias is None:
        return None
    bias = bias.reshape((1,) * (4 - bias.ndim) + bias.shape)
    return jnp.broadcast_to(bias, (*bias.shape[:2], *shape))


def seen(lengths, count):
    return None if lengths is None else jnp.arange(count) < jnp.asarray(lengths)[:, None]


def dot_product_attention(
    query,
    key,
    value,
    bias=None,
    mask=None,
    *,
    is_causal=False,
    scale=None,
    query_seq_lengths=None,
    key_value_seq_lengths=None,
    local_window_size=None,
):
    """As jax.nn.dot_product_attention, of bf16 and fp16.

    query [b, nq, hq, d] or [nq, hq, d], key [b, nk, hk, d], value [b, nk, hk, dv], without b where
    query is; hk divides hq, d and dv are multiples of 8 to 256. bias (added; fp32 or of query's
    type) and mask (bool; True: is seen) broadcast to [b, hq, nq, nk]. is_causal shows query i keys
    to i, local_window_size, (left, right) or both in one number, keys from i - left to i + right.
    Of the first query_seq_lengths[b] queries each sees at most the first key_value_seq_lengths[b]
    keys; both are masks of [b, 1, nq, nk] here. The result is [b, nq, hq, dv]. A query that sees no
    key gives 0. Gradients reach query, key, value and bias. Errors are as in `attention`; a window
    that ends before the last queries is a NotImplementedError.
    """
    if query.ndim == 3:
        lengths = (
            None if x is None else jnp.reshape(x, 1)
            for x in (query_seq_lengths, key_value_seq_lengths)
        )
        return dot_product_attention(
            query[None],
            key[None],
            value[None],
            bias,
            mask,
            is_causal=is_causal,
            scale=scale,
            query_seq_lengths=next(lengths),
            key_value_seq_lengths=next(lengths),
            local_window_size=local_window_size,
        )[0]
    if query.ndim != 4 or key.ndim != 4 or value.ndim != 4:
        raise ValueError(
            "dot_product_attention: query, key and value must have 4 dimensions, [b, n, h, d], or 3"
        )
    if mask is not None and mask.dtype != bool:
        raise TypeError(f"dot_product_attention: mask is of {mask.dtype}; it must be bool")
    nq, nk = query.shape[1], key.shape[1]
    rows, columns = seen(query_seq_lengths, nq), seen(key_value_seq_lengths, nk)
    for part in (
        None if rows is None else rows[:, None, :, None],
        None if columns is None else columns[:, None, None, :],
    ):
        if part is not None:
            mask = part if mask is None else mask & part
    bias = bias_of(bias, mask, query.dtype, (nq, nk))

    left, right = (
        local_window_size
        if isinstance(local_window_size, tuple)
        else (local_window_size, local_window_size)
    )
    if is_causal:
        right = 0
    if right is not None and nk > nq + right:  # keys that no query sees
        nk = nq + right
        key, value = key[:, :nk], value[:, :nk]
        bias = None if bias is None else bias[..., :nk]
    # Query i of TK stands opposite key i + nk - nq.
    left = None if left is None else left + nk - nq
    right = None if right is None else right - (nk - nq)
    if left is not None and left < 0:
        raise NotImplementedError(
            f"dot_product_attention: the last of {nq} queries must see one of {nk} keys through"
            f" local_window_size {local_window_size}"
        )
    return attention(
        query,
        key,
        value,
        causal=right == 0,
        window=(left, None if right == 0 else right),
        scale=scale,
        bias=bias,
    )
