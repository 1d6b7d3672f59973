# SPDX-License-Identifier: MIT
"""The ops of products: of matrices, linear layers, attention."""

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


# ---- products of matrices ------------------------------------------------------------------------
call_gemm = launcher("gemm", "a b c d transpose_a transpose_b alpha beta repeat")
call_linear = launcher("gemm", "a b d transpose_a transpose_b alpha bias bias_kind repeat", rows=True)


def operand(x, transposed):
    """The matrix x, or a batch of them, as gemm takes it, with contiguous rows, and whether it is
    transposed then."""
    if x.stride(-1) == 1:
        return x, transposed
    if x.size(-1) > 1 and (x.size(-2) <= 1 or x.stride(-2) == 1):
        return x.mT, not transposed
    return x.clone(memory_format=torch.contiguous_format), transposed


@operator
class gemm:
    """alpha op(a) op(b) + beta c of matrices, or of batches of them."""

    schema = (
        "gemm(Tensor a, Tensor b, Tensor? c, bool transpose_a, bool transpose_b, float alpha,"
        " float beta, ScalarType dtype, int repeat) -> Tensor"
    )

    def made(a, b, c, transpose_a, transpose_b, alpha, beta, dtype, repeat):
        m, n = a.size(-1 if transpose_a else -2), b.size(-2 if transpose_b else -1)
        return a.new_empty(*a.shape[:-2], m, n, dtype=dtype)

    def launch(d, a, b, c, transpose_a, transpose_b, alpha, beta, dtype, repeat):
        (a, transpose_a), (b, transpose_b) = operand(a, transpose_a), operand(b, transpose_b)
        call_gemm(a, b, rows(c), d, transpose_a, transpose_b, alpha, beta, repeat)

    def saved(d, a, b, c, *options):
        return a, b

    def backward(wanted, saved, options, dd):
        a, b = saved
        transpose_a, transpose_b, alpha, beta, _, repeat = options
        g = dd.to(a.dtype)
        da = db = dc = None
        if wanted[0] and transpose_a:
            da = product(b, g, transpose_b, True, repeat, alpha)
        elif wanted[0]:
            da = product(g, b, False, not transpose_b, repeat, alpha)
        if wanted[1] and transpose_b:
            db = product(g, a, True, transpose_a, Repeat.RUN, alpha)
        elif wanted[1]:
            db = product(a, g, not transpose_a, False, Repeat.RUN, alpha)
        if wanted[2]:
            dc = dd * beta
        return da, db, dc


def product(a, b, transpose_a, transpose_b, repeat, alpha=1.0):
    """alpha op(a) op(b), of their type."""
    return gemm(a, b, None, transpose_a, transpose_b, alpha, 0.0, a.dtype, repeat)


@operator
class linear:
    schema = "linear(Tensor x, Tensor weight, Tensor? bias, int repeat) -> Tensor"

    def made(x, weight, bias, repeat):
        return x.new_empty(*x.shape[:-1], weight.size(0))

    def launch(y, x, weight, bias, repeat):
        (x, transpose_x), (weight, transpose_weight) = operand(lines(x), False), operand(weight, True)
        kind = Bias.NONE if bias is None else Bias.ROW
        call_linear(
            x, weight, lines(y), transpose_x, transpose_weight, 1.0, contiguous(bias), kind, repeat
        )

    def saved(y, x, weight, bias, repeat):
        return x, weight, bias

    def backward(wanted, saved, options, dy):
        x, weight, bias = saved
        dx = dweight = dbias = None
        dy, tokens = flat(dy), flat(x)
        if wanted[0]:
            dx = product(dy, weight, False, False, *options).view(x.shape)
        if wanted[1]:
            dweight = product(dy, tokens, True, False, Repeat.RUN)
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
    "SymInt max_nq, SymInt max_nk, bool causal, SymInt window_left, SymInt window_right, float scale,"
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
