# SPDX-License-Identifier: MIT
"""The ops of products: linear layers and attention."""

import torch

from tk_ops import Bias, Repeat
from tk_ops._options import mask_of, window_fields

from ._library import (
    contiguous,
    flat,
    launch,
    launcher,
    like,
    lines,
    operator,
    optional,
    rows,
)


# ---- linear layers -------------------------------------------------------------------------------
call_gemm = launcher("gemm", "a b d transpose_a transpose_b alpha bias bias_kind repeat", rows=True)


def operand(x, transposed):
    """The matrix x as gemm takes it, with contiguous rows, and whether it is transposed then."""
    if x.is_contiguous():
        return x, transposed
    if x.size(1) > 1 and x.stride(1) != 1 and (x.size(0) <= 1 or x.stride(0) == 1):
        return x.t(), not transposed
    return rows(x), transposed


def multiply(d, a, b, transpose_a, transpose_b, repeat, bias=None):
    """d = op(a) op(b) + bias."""
    (a, transpose_a), (b, transpose_b) = operand(a, transpose_a), operand(b, transpose_b)
    kind = Bias.NONE if bias is None else Bias.ROW
    call_gemm(a, b, d, transpose_a, transpose_b, 1.0, contiguous(bias), kind, repeat)


@operator
class gemm:
    schema = (
        "gemm(Tensor a, Tensor b, bool transpose_a, bool transpose_b, ScalarType dtype, int repeat)"
        " -> Tensor"
    )

    def made(a, b, transpose_a, transpose_b, dtype, repeat):
        return a.new_empty(a.size(int(transpose_a)), b.size(int(not transpose_b)), dtype=dtype)

    def launch(d, a, b, transpose_a, transpose_b, dtype, repeat):
        multiply(d, a, b, transpose_a, transpose_b, repeat)


@operator
class linear:
    schema = "linear(Tensor x, Tensor weight, Tensor? bias, int repeat) -> Tensor"

    def made(x, weight, bias, repeat):
        return x.new_empty(*x.shape[:-1], weight.size(0))

    def launch(y, x, weight, bias, repeat):
        multiply(lines(y), lines(x), weight, False, True, repeat, bias)

    def saved(y, x, weight, bias, repeat):
        return x, weight, bias

    def backward(wanted, saved, options, dy):
        x, weight, bias = saved
        dx = dweight = dbias = None
        dy, tokens = flat(dy), flat(x)
        if wanted[0]:
            dx = gemm(dy, weight, False, False, x.dtype, *options).view(x.shape)
        if wanted[1]:
            dweight = gemm(dy, tokens, True, False, weight.dtype, Repeat.RUN)
        if wanted[2]:
            dbias = dy.sum(0, dtype=torch.float32).to(bias.dtype)
        return dx, dweight, dbias


# ---- attention -----------------------------------------------------------------------------------
# q, k, v as [b, n, h, d], or [n, h, d] with starts of packed sequences; windows of -1 are none.
TERMS = (
    "Tensor? bias, Tensor? alibi, Tensor? sinks, Tensor? random_state, Tensor? q_starts,"
    " Tensor? k_starts"
)
OPTIONS = (
    "int max_nq, int max_nk, bool causal, int window_left, int window_right, float scale,"
    " float softcap, float dropout"
)


def fields_of(bias, alibi, sinks, random_state, q_starts, k_starts, max_nq, max_nk, *options):
    causal, left, right, scale, softcap, dropout = options
    return dict(
        q_starts=q_starts,
        k_starts=k_starts,
        max_nq=max_nq,
        max_nk=max_nk,
        mask=mask_of(causal),
        scale=scale,
        **window_fields(left, right),
        softcap=softcap,
        dropout=dropout,
        alibi=rows(alibi),
        bias=rows(bias),
        sinks=contiguous(sinks),
        random_state=random_state,
    )


@operator
class attention_backward:
    schema = (
        "attention_backward(Tensor q, Tensor k, Tensor v, Tensor o, Tensor lse, Tensor dout,"
        f" {TERMS}, {OPTIONS}, bool dbias, bool dsinks) -> (Tensor, Tensor, Tensor, Tensor, Tensor)"
    )

    def made(q, k, v, o, lse, dout, bias, alibi, sinks, *others):
        return (
            like(q),
            like(k),
            like(v),
            optional(q if bias is None else bias, others[-2]),
            optional(lse if sinks is None else sinks, others[-1]),
        )

    def launch(made, q, k, v, o, lse, dout, *others):
        dq, dk, dv, dbias, dsinks = made
        launch(
            "attention_backward",
            q=rows(q),
            k=rows(k),
            v=rows(v),
            o=rows(o),
            lse=rows(lse),
            dout=rows(dout),
            dq=dq,
            dk=dk,
            dv=dv,
            dbias=dbias if others[-2] else None,
            dsinks=dsinks if others[-1] else None,
            **fields_of(*others[:-2]),
        )


@operator
class attention:
    schema = f"attention(Tensor q, Tensor k, Tensor v, {TERMS}, {OPTIONS}) -> (Tensor, Tensor)"
    constants = 1

    def made(q, k, v, *others):
        return (
            q.new_empty(*q.shape[:-1], v.size(-1)),
            q.new_empty(*q.shape[:-3], q.size(-2), q.size(-3), dtype=torch.float32),
        )

    def launch(made, q, k, v, *others):
        launch(
            "attention_forward",
            q=rows(q),
            k=rows(k),
            v=rows(v),
            o=made[0],
            lse=made[1],
            **fields_of(*others),
        )

    def saved(made, q, k, v, *others):
        return q, k, v, *made, *others[:6]

    def backward(wanted, saved, options, dout, dlse):
        q, k, v, o, lse, *terms = saved
        dq, dk, dv, dbias, dsinks = attention_backward(
            q, k, v, o, lse, dout, *terms, *options, wanted[3], wanted[5]
        )
        return dq, dk, dv, dbias, None, dsinks, None, None, None
