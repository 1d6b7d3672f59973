# SPDX-License-Identifier: MIT
"""The functions of tk_ops.torch but those along sequences (sequences.py): argument checks, layouts
and defaults of PyTorch before TK's ops."""

import math

import torch

from tk_ops import ActivationKind
from tk_ops._options import window_of

from . import _products, _rows
from ._library import autocast
from ._random import random_state_of
from ._repeat import repeat_kind
from .norms import layer_norm, rms_norm

# fmt: off
__all__ = ["addmm", "attention", "baddbmm", "cross_entropy", "embedding", "geglu", "gelu",
           "layer_norm", "linear", "linear_cross_entropy", "matmul", "reglu", "rms_norm", "rotary",
           "scaled_dot_product_attention", "silu", "softmax", "swiglu"]
# fmt: on

GELU = {"none": ActivationKind.GELU_ERF, "tanh": ActivationKind.GELU_TANH}


# ---- products of matrices ------------------------------------------------------------------------
def matmul(input, other, *, out_dtype=None):
    """input other, as torch.matmul.

    input [..., m, k] and other [..., k, n], of one type, bf16 or fp16; leading sizes are broadcast,
    and either may be a vector [k]. The result has that type, or out_dtype: bf16, fp16 or fp32. Sums
    are fp32, rounded once, in an order that only the sizes and the device decide, with
    repeat("row") not the number of rows nor of matrices. In gradients that of the result is rounded
    to input's type first. Under torch.autocast both are cast to its type first. TypeError for other
    types, ValueError for sizes that do not fit.
    """
    input, other = autocast(input, other)
    if not (input.dim() and other.dim() and input.size(-1) == other.size(max(other.dim() - 2, 0))):
        raise ValueError(
            f"matmul: input {list(input.shape)} and other {list(other.shape)} do not fit,"
            " [..., m, k] and [..., k, n]"
        )
    if other.dim() == 1:
        return matmul(input, other.unsqueeze(1), out_dtype=out_dtype).squeeze(-1)
    if input.dim() == 1:
        return matmul(input.unsqueeze(0), other, out_dtype=out_dtype).squeeze(-2)
    (m, k), n = input.shape[-2:], other.size(-1)
    if other.dim() == 2:
        found = _product(input.reshape(math.prod(input.shape[:-1]), k), other, out_dtype)
        return found.view(*input.shape[:-1], n)
    try:
        batch = torch.broadcast_shapes(input.shape[:-2], other.shape[:-2])
    except RuntimeError as error:
        raise ValueError(f"matmul: {error}") from None
    input = input.expand(*batch, m, k).reshape(math.prod(batch), m, k)
    other = other.expand(*batch, k, n).reshape(math.prod(batch), k, n)
    return _product(input, other, out_dtype).view(*batch, m, n)


def _product(a, b, out_dtype, c=None, alpha=1.0, beta=0.0):
    dtype = out_dtype or a.dtype
    c = c if c is None else c.to(dtype)
    return _products.gemm(a, b, c, False, False, alpha, beta, dtype, repeat_kind())


def _add_product(name, dims, input, a, b, beta, alpha, out_dtype):
    a, b = autocast(a, b)
    fit = a.dim() == b.dim() == dims and a.shape[:-2] == b.shape[:-2] and a.size(-1) == b.size(-2)
    if not fit:
        raise ValueError(f"{name}: {list(a.shape)} and {list(b.shape)} are no matrices that fit")
    if beta == 0:
        return _product(a, b, out_dtype, alpha=alpha)
    try:
        input = input.expand(*a.shape[:-1], b.size(-1))
    except RuntimeError as error:
        raise ValueError(f"{name}: input: {error}") from None
    return _product(a, b, out_dtype, input, alpha, beta)


def addmm(input, mat1, mat2, *, beta=1.0, alpha=1.0, out_dtype=None):
    """beta input + alpha mat1 mat2, as torch.addmm: added in fp32 and rounded once.

    mat1 [m, k] and mat2 [k, n]; input is cast to the result's type and broadcast to [m, n], and is
    not looked at where beta is 0. Types, order and errors are those of matmul.
    """
    return _add_product("addmm", 2, input, mat1, mat2, beta, alpha, out_dtype)


def baddbmm(input, batch1, batch2, *, beta=1.0, alpha=1.0, out_dtype=None):
    """beta input + alpha batch1 batch2, as torch.baddbmm: batch1 [b, m, k] and batch2 [b, k, n],
    all else as in addmm."""
    return _add_product("baddbmm", 3, input, batch1, batch2, beta, alpha, out_dtype)


# ---- linear layers and rows ----------------------------------------------------------------------
def linear(input, weight, bias=None):
    """input weight^T + bias, as torch.nn.functional.linear.

    input [..., k], weight [n, k], of one type, bf16 or fp16; bias [n] of that type or fp32; the
    result [..., n] of that type. Sums are fp32, rounded once, in an order that only the sizes and
    the device decide, with repeat("row") not the number of rows. Under torch.autocast all are cast
    to its type first. TypeError for other types, ValueError for sizes that do not fit.
    """
    input, weight, bias = autocast(input, weight, bias)
    if weight.dim() != 2 or input.dim() < 1 or input.size(-1) != weight.size(1):
        raise ValueError(
            f"linear: input {list(input.shape)} and weight {list(weight.shape)} do not fit,"
            " [..., k] and [n, k]"
        )
    return _products.linear(input, weight, bias, repeat_kind())


def _for_softmax(name, x, input, dim):
    """x of input's dimensions, with 1 in the place of those that it lacks, dim last and whole."""
    if x.dim() > input.dim():
        raise ValueError(
            f"softmax: {name} {list(x.shape)} has more dimensions than input {list(input.shape)}"
        )
    x = x[(None,) * (input.dim() - x.dim())].movedim(dim, -1)
    others = input.movedim(dim, -1).shape[:-2] if input.dim() > 4 else ()  # they become one
    return x.expand(*others, *x.shape[len(others) : -1], input.size(dim))


def softmax(input, dim=-1, dtype=None, *, scale=1.0, causal=False, bias=None, mask=None):
    """softmax(scale input + bias) along dim, as torch.nn.functional.softmax; input is cast to dtype
    first.

    bf16, fp16 or fp32, any sizes; sums are fp32. bias, of that type or fp32, and mask, bool or
    uint8, broadcast to input's sizes. A row sees the columns where mask is True, and with causal,
    of the last two dimensions [rows, width], row i column j where j <= i + width - rows (dim must
    be the last); the result is 0 elsewhere, and in a row that sees nothing. Gradients reach input
    and bias. TypeError for other types, ValueError for sizes that do not fit.
    """
    if not input.dim():
        raise ValueError("softmax: input must have a dimension")
    input = input if dtype is None else input.to(dtype)
    is_last = dim in (-1, input.dim() - 1)
    if causal and not is_last:
        raise ValueError(f"softmax: a causal one is along the last dimension, not {dim}")
    if bias is not None:
        bias = _for_softmax("bias", bias, input, dim)
    if mask is not None:
        mask = _for_softmax("mask", mask, input, dim)
    if is_last:
        return _rows.softmax(input, bias, mask, scale, causal)
    return _rows.softmax(input.movedim(dim, -1), bias, mask, scale, False).movedim(-1, dim)


def cross_entropy(
    input,
    target,
    weight=None,
    *,
    ignore_index=-100,
    reduction="mean",
    label_smoothing=0.0,
    z_loss=0.0,
    softcap=0.0,
):
    """The cross-entropy of logits and labels, as torch.nn.functional.cross_entropy, but always
    fp32.

    input [classes], [n, classes] or [n, classes, ...], bf16, fp16 or fp32; target int32 or int64
    without the classes. reduction is "mean" (over the labels that are not ignore_index), "sum" or
    "none". A label that is no class and not ignore_index gives NaN. z_loss adds z_loss lse^2 to
    each loss, softcap takes softcap tanh(input / softcap) for the logits. Weights of classes, and
    probabilities as targets, are a NotImplementedError.
    """
    if weight is not None:
        raise NotImplementedError("cross_entropy: weights of classes are not supported")
    if target.is_floating_point():
        raise NotImplementedError("cross_entropy: target must be labels, not probabilities")
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"cross_entropy: {reduction} is no reduction")
    if input.dim() > 2:
        input = input.movedim(1, -1)
    if not input.dim() or input.shape[:-1] != target.shape:
        raise ValueError(
            f"cross_entropy: target {list(target.shape)} does not fit input's rows"
            f" {list(input.shape[:-1])}"
        )
    loss, _ = _rows.cross_entropy(input, target, ignore_index, label_smoothing, z_loss, softcap)
    if reduction == "none":
        return loss
    total = loss.sum()
    return total if reduction == "sum" else total / (target != ignore_index).sum()


def linear_cross_entropy(
    input,
    linear_weight,
    target,
    *,
    reduction="mean",
    ignore_index=-100,
    label_smoothing=0.0,
    z_loss=0.0,
    softcap=0.0,
):
    """cross_entropy(linear(input, linear_weight), target), whose logits are never stored whole.

    input [..., k] and linear_weight [classes, k], of one type, bf16 or fp16; target [...], int32 or
    int64; reduction "mean" or "sum". Logits are rounded to input's type, a chunk of rows of them
    lies in the workspace (512 MiB at most), and gradients are made with the loss, where input or
    linear_weight wants one. The loss is fp32; other options are those of cross_entropy, and with
    ignore_index None no label is ignored. Under torch.autocast input and linear_weight are cast to
    its type first.
    """
    input, linear_weight = autocast(input, linear_weight)
    if reduction not in ("mean", "sum"):
        raise NotImplementedError(
            f"linear_cross_entropy: reduction must be mean or sum, not {reduction}"
        )
    if input.shape[:-1] != target.shape or linear_weight.dim() != 2:
        raise ValueError(
            f"linear_cross_entropy: target {list(target.shape)} does not fit input's rows"
            f" {list(input.shape[:-1])}, or linear_weight is no matrix"
        )
    if ignore_index is None:
        ignore_index = -(2**63)  # which is no label
    makes = torch.is_grad_enabled()
    total, _, _ = _rows.linear_cross_entropy(
        input,
        linear_weight,
        target,
        ignore_index,
        label_smoothing,
        z_loss,
        softcap,
        repeat_kind(),
        makes and input.requires_grad,
        makes and linear_weight.requires_grad,
    )
    return total if reduction == "sum" else total / (target != ignore_index).sum()


def embedding(
    input,
    weight,
    padding_idx=None,
    max_norm=None,
    norm_type=2.0,
    scale_grad_by_freq=False,
    sparse=False,
):
    """Rows of weight [v, d] (bf16, fp16 or fp32) by the numbers input (int32 or int64, any sizes),
    as torch.nn.functional.embedding. A number that is no row gives zeros. The gradient, of weight's
    type, is summed in fp32 in a fixed order, without the tokens of padding_idx. max_norm,
    scale_grad_by_freq and sparse are a NotImplementedError."""
    if max_norm is not None or scale_grad_by_freq or sparse:
        raise NotImplementedError(
            "embedding: max_norm, scale_grad_by_freq and sparse are not supported"
        )
    count = weight.size(0)
    padding = -1
    if padding_idx is not None:
        if not -count <= padding_idx < count:
            raise ValueError(
                f"embedding: padding_idx {padding_idx} is none of weight's {count} rows"
            )
        padding = padding_idx % count
    return _rows.embedding(weight, input, count, padding)


# ---- activations ---------------------------------------------------------------------------------
def silu(input):
    """input / (1 + exp(-input)): bf16, fp16 or fp32, of any sizes."""
    return _rows.activation(input, None, ActivationKind.SILU, False, False)


def gelu(input, approximate="none"):
    """As torch.nn.functional.gelu: bf16, fp16 or fp32, of any sizes; approximate is "none" or
    "tanh"."""
    if approximate not in GELU:
        raise ValueError(f"gelu: approximate must be none or tanh, not {approximate}")
    return _rows.activation(input, None, GELU[approximate], False, False)


def _gated(name, kind, input, other, interleaved):
    if interleaved and other is not None:
        raise ValueError(f"{name}: interleaved is for one input, without other")
    if other is None:
        (input,) = autocast(input) if interleaved else (input,)
        if not input.dim() or input.size(-1) % 2:
            raise ValueError(
                f"{name}: the last size of input {list(input.shape)}, of two halves, must be even"
            )
        return _rows.activation(input, None, kind, True, interleaved)
    if input.shape != other.shape:
        raise ValueError(
            f"{name}: input {list(input.shape)} and other {list(other.shape)} must have the same"
            " sizes"
        )
    return _rows.activation(input, other, kind, False, False)


def swiglu(input, other=None, *, interleaved=False):
    """silu(input) other; without other input is [..., 2 w], whose first half is passed through
    silu, or with interleaved its columns 0, 2, 4 and so on: bf16, fp16 or fp32, both of one type,
    interleaved of 16 bits. TypeError for other types, ValueError for an odd last size."""
    return _gated("swiglu", ActivationKind.SILU, input, other, interleaved)


def geglu(input, other=None, approximate="none", *, interleaved=False):
    """gelu(input, approximate) other, as swiglu."""
    if approximate not in GELU:
        raise ValueError(f"geglu: approximate must be none or tanh, not {approximate}")
    return _gated("geglu", GELU[approximate], input, other, interleaved)


def reglu(input, other=None, *, interleaved=False):
    """relu(input) other, as swiglu."""
    return _gated("reglu", ActivationKind.RELU, input, other, interleaved)


def rotary(query, key, cos, sin, *, positions=None, offsets=None, interleaved=False, inverse=False):
    """Rotary position embedding of query [b, n, h, d] and key [b, n, hk, d] (or None), of one type,
    bf16, fp16 or fp32; both may lack b. The pair of them comes back.

    cos and sin are [m, w] with 2 w <= d, of that type or fp32; columns from 2 w on pass through.
    The row of a token is its place in n, positions[b, n], or offsets[b] more than its place (int32
    or int64). Pairs are columns i and i + w, or with interleaved 2 i and 2 i + 1. inverse turns
    back. Gradients reach query and key alone.
    """
    if torch.is_grad_enabled() and (cos.requires_grad or sin.requires_grad):
        raise NotImplementedError("rotary: cos and sin have no gradient here; detach them")
    first, second = _rows.rotary(query, key, cos, sin, positions, offsets, interleaved, inverse)
    return first, None if key is None else second


# ---- attention -----------------------------------------------------------------------------------
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
    dropout_p=0.0,
    cu_seqlens_q=None,
    cu_seqlens_k=None,
    max_seqlen_q=0,
    max_seqlen_k=0,
    return_lse=False,
):
    """softmax(scale query key^T + ...) value with all options of TK's attention, in its own layout.

    query [b, nq, hq, d], key [b, nk, hk, d], value [b, nk, hk, dv], of one type, bf16 or fp16, any
    strides; hk divides hq, d and dv are multiples of 8 to 256. The result is [b, nq, hq, dv]. Query
    i stands opposite key a = i + nk - nq: a causal mask shows it keys to a, a window (left, right),
    of which either may be None, keys from a - left to a + right. scale None is 1 / sqrt(d). softcap
    c takes c tanh(score / c); alibi, fp32 [hq] or [b, hq], are slopes by distance; bias [b or 1, hq
    or 1, nq, nk], fp32 or of query's type, is added; sinks, fp32 [hq], are logits that take part in
    the sum alone. Gradients reach query, key, value, bias and sinks. A query that sees no key gives
    0. dropout_p is rounded to a multiple of 1/256; its seed is drawn by PyTorch's generator. With
    return_lse the pair (result, lse) comes back: of each row the logarithm of its softmax's sum,
    sinks in it, dropout not, fp32 [b, hq, nq], -inf where no key is seen. lse has no gradient: it
    is as detached.

    With cu_seqlens_q and cu_seqlens_k, int32 [sequences + 1], sequences are packed: query [n, hq,
    d], key and value lack b, lse is [hq, n], and rows of no sequence, in results and gradients, may
    hold anything. max_seqlen_q and max_seqlen_k bound the lengths (0: not said); bias is of these
    sizes.
    """
    query, key, value = autocast(query, key, value)
    dims = 4 if cu_seqlens_q is None else 3
    if query.dim() != dims or key.dim() != dims or value.dim() != dims:
        raise ValueError(
            "attention: query, key and value must have 4 dimensions, [b, n, h, d], or packed 3"
        )
    if alibi is not None and alibi.requires_grad and torch.is_grad_enabled():
        raise NotImplementedError("attention: alibi has no gradient")
    left, right = window_of(window)
    o, lse = _products.attention(
        query,
        key,
        value,
        bias,
        alibi,
        sinks,
        random_state_of(dropout_p, query.device),
        cu_seqlens_q,
        cu_seqlens_k,
        max_seqlen_q,
        max_seqlen_k,
        causal,
        left,
        right,
        query.size(-1) ** -0.5 if scale is None else scale,
        softcap,
        dropout_p,
    )
    return (o, lse) if return_lse else o


def bias_of_bool(mask, dtype):
    """0 where the mask is True, else -inf."""
    bias = torch.zeros(mask.shape, dtype=dtype, device=mask.device)
    return bias.masked_fill_(~mask, -math.inf)


def bias_of(mask, query, nk):
    """A mask, of bool or added to scores, as a bias [b or 1, h or 1, nq, nk] of query
    [b, h, nq, d]."""
    if mask.dtype == torch.bool:
        mask = bias_of_bool(mask, query.dtype)
    mask = mask[(None,) * (4 - mask.dim())]
    return mask.expand(mask.size(0), mask.size(1), query.size(2), nk)


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    """As torch.nn.functional.scaled_dot_product_attention, of bf16 and fp16.

    query [b, hq, nq, d], key [b, hk, nk, d], value [b, hk, nk, dv], any strides; all may lack h.
    With enable_gqa hk divides hq, else they are equal. d and dv are multiples of 8 to 256.
    attn_mask, of bool (True: is seen) or of query's type or fp32, broadcasts to [b, hq, nq, nk].
    is_causal shows query i keys to i, as PyTorch does. A query that sees no key gives 0. The result
    [b, hq, nq, dv] lies in memory as [b, nq, hq, dv]. Under torch.autocast query, key and value are
    cast to its type first. Dropout is as in `attention`.
    """
    if query.dim() not in (3, 4) or key.dim() != query.dim() or value.dim() != query.dim():
        raise ValueError(
            "scaled_dot_product_attention: query, key and value must have 4 dimensions, or 3,"
            " [b, n, d]"
        )
    if attn_mask is not None and is_causal:
        raise ValueError(
            "scaled_dot_product_attention: attn_mask and is_causal cannot both be given"
        )
    if query.dim() == 3:
        mask = attn_mask if attn_mask is None or attn_mask.dim() < 3 else attn_mask.unsqueeze(-3)
        return scaled_dot_product_attention(
            query.unsqueeze(1),
            key.unsqueeze(1),
            value.unsqueeze(1),
            mask,
            dropout_p,
            is_causal,
            scale,
            enable_gqa,
        ).squeeze(1)
    query, key, value = autocast(query, key, value)
    if not enable_gqa and query.size(1) != key.size(1):
        raise ValueError(
            f"scaled_dot_product_attention: {query.size(1)} heads of query and {key.size(1)} of key"
            " need enable_gqa"
        )
    nq, nk, window = query.size(2), key.size(2), None
    if is_causal and nk > nq:  # keys that no query sees
        key, value = key[:, :, :nq], value[:, :, :nq]
    elif is_causal and nq > nk:
        is_causal, window = False, (None, nq - nk)
    bias = None if attn_mask is None else bias_of(attn_mask, query, nk)
    return attention(
        query.transpose(1, 2),
        key.transpose(1, 2),
        value.transpose(1, 2),
        causal=is_causal,
        window=window,
        scale=scale,
        bias=bias,
        dropout_p=dropout_p,
    ).transpose(1, 2)
