# SPDX-License-Identifier: MIT
"""The ops of rows but norms (_norms.py): softmax, cross-entropy, activations, embedding, rotary
position embedding."""

import torch

from tk_ops._options import mask_of

from ._library import (
    flat,
    launch,
    launcher,
    like,
    maker,
    matrix,
    operator,
    optional,
    row,
    rows,
)


# ---- softmax and cross-entropy -------------------------------------------------------------------
call_softmax = [launcher("softmax", "x y scale mask", rows) for rows in (True, False)]
call_softmax_backward = [
    launcher("softmax_backward", "y dy dx scale mask", rows) for rows in (True, False)
]
make_softmax = maker("softmax", "x scale y")
make_softmax_backward = maker("softmax_backward", "y dy scale dx")
LOSS = "ignore_index has_ignore_index label_smoothing z_loss softcap"
call_cross_entropy = launcher("cross_entropy", f"x labels loss lse {LOSS}", rows=True)
call_cross_entropy_backward = launcher(
    "cross_entropy_backward", f"x labels lse dloss dx {LOSS}", rows=True
)
call_linear_cross_entropy = launcher(
    "linear_cross_entropy", f"x w labels loss dx dw {LOSS} dloss_scale repeat", rows=True
)


def matrices(x, causal):
    """x as a launch of rows takes it or, where rows see different columns, as matrices."""
    if not causal or x.dim() <= 2:
        return matrix(x)
    return rows(x if x.dim() <= 4 else x.flatten(0, -3))


@operator
class softmax_backward:
    schema = "softmax_backward(Tensor y, Tensor dy, float scale, bool causal) -> Tensor"

    def make(y, dy, scale, causal):
        return None if causal else make_softmax_backward(y, dy, scale)

    def made(y, dy, scale, causal):
        return like(y)

    def launch(dx, y, dy, scale, causal):
        y, dy, dx = (matrices(x, causal) for x in (y, dy, dx))
        call_softmax_backward[causal](y, dy, dx, scale, mask_of(causal))


@operator
class softmax:
    schema = "softmax(Tensor x, float scale, bool causal) -> Tensor"

    def make(x, scale, causal):
        return None if causal else make_softmax(x, scale)

    def made(x, scale, causal):
        return like(x)

    def launch(y, x, scale, causal):
        call_softmax[causal](matrices(x, causal), matrices(y, causal), scale, mask_of(causal))

    def saved(y, x, scale, causal):
        return (y,)

    def backward(wanted, saved, options, dy):
        return (softmax_backward(*saved, dy, *options),)


@operator
class cross_entropy_backward:
    schema = (
        "cross_entropy_backward(Tensor x, Tensor labels, Tensor lse, Tensor dloss,"
        " int ignore_index, float label_smoothing, float z_loss, float softcap) -> Tensor"
    )

    def made(x, *others):
        return like(x)

    def launch(dx, x, labels, lse, dloss, *options):
        ignore_index, *others = options
        labels, lse, dloss = row(labels), row(lse), row(dloss)
        call_cross_entropy_backward(
            matrix(x), labels, lse, dloss, matrix(dx), ignore_index, True, *others
        )


@operator
class cross_entropy:
    schema = (
        "cross_entropy(Tensor x, Tensor labels, int ignore_index, float label_smoothing,"
        " float z_loss, float softcap) -> (Tensor, Tensor)"
    )
    constants = 1

    def made(x, labels, *options):
        return like(labels, torch.float32), like(labels, torch.float32)

    def launch(made, x, labels, *options):
        ignore_index, *others = options
        loss, lse = map(row, made)
        call_cross_entropy(matrix(x), row(labels), loss, lse, ignore_index, True, *others)

    def saved(made, x, labels, *options):
        return x, labels, made[1]

    def backward(wanted, saved, options, dloss, dlse):
        return cross_entropy_backward(*saved, dloss, *options), None


@operator
class linear_cross_entropy:
    """The sum of all losses. Its gradients come with it, in one walk through chunks of logits."""

    schema = (
        "linear_cross_entropy(Tensor x, Tensor weight, Tensor labels, int ignore_index,"
        " float label_smoothing, float z_loss, float softcap, int repeat, bool dx, bool dweight)"
        " -> (Tensor, Tensor, Tensor)"
    )
    constants = 2

    def made(x, weight, labels, *options):
        return (
            torch.empty((), dtype=torch.float32, device=x.device),
            optional(x, options[-2]),
            optional(weight, options[-1]),
        )

    def launch(made, x, weight, labels, *options):
        ignore_index, *others, repeat, wants_dx, wants_dweight = options
        total, dx, dweight = made
        loss = torch.empty(labels.numel(), dtype=torch.float32, device=x.device)
        call_linear_cross_entropy(
            matrix(x),
            rows(weight),
            row(labels),
            loss,
            matrix(dx) if wants_dx else None,
            dweight if wants_dweight else None,
            ignore_index,
            True,
            *others,
            1.0,
            repeat,
        )
        torch.sum(loss, 0, out=total)

    def saved(made, *arguments):
        return made[1:]

    def backward(wanted, saved, options, dloss, *_):
        dx, dweight = saved
        return dx * dloss if wanted[0] else None, dweight * dloss if wanted[1] else None, None


# ---- activations ---------------------------------------------------------------------------------
call_activation = launcher("activation", "a b y kind", rows=True)
make_activation = maker("activation", "a b kind y")
call_activation_backward = launcher("activation_backward", "a b dy da db kind", rows=True)


def halves(x):
    """The two halves of each row of x."""
    x = rows(flat(x))
    width = x.size(-1) // 2
    return x[:, :width], x[:, width:]


@operator
class activation_backward:
    schema = (
        "activation_backward(Tensor a, Tensor? b, Tensor dy, int kind, bool packed)"
        " -> (Tensor, Tensor)"
    )

    def made(a, b, dy, kind, packed):
        return like(a), optional(a, b is not None)

    def launch(made, a, b, dy, kind, packed):
        da, db = made
        if packed:
            (a, b), (da, db) = halves(a), halves(da)
        else:
            a, da = matrix(a), matrix(da)
            b, db = (None, None) if b is None else (matrix(b), matrix(db))
        call_activation_backward(a, b, matrix(dy), da, db, kind)


@operator
class activation:
    schema = "activation(Tensor a, Tensor? b, int kind, bool packed) -> Tensor"

    def make(a, b, kind, packed):
        return None if packed else make_activation(a, b, kind)

    def made(a, b, kind, packed):
        return a.new_empty(*a.shape[:-1], a.size(-1) // 2) if packed else like(a)

    def launch(y, a, b, kind, packed):
        a, b = halves(a) if packed else (matrix(a), None if b is None else matrix(b))
        call_activation(a, b, matrix(y), kind)

    def saved(y, a, b, kind, packed):
        return a, b

    def backward(wanted, saved, options, dy):
        return activation_backward(*saved, dy, *options)


# ---- embedding -----------------------------------------------------------------------------------
call_embedding = launcher("embedding", "table ids y", rows=True)
call_embedding_backward = launcher(
    "embedding_backward", "dy ids dtable ignored_id ignores", rows=True
)


@operator
class embedding_backward:
    schema = "embedding_backward(Tensor dy, Tensor ids, SymInt count, int padding_idx) -> Tensor"

    def made(dy, ids, count, padding_idx):
        return dy.new_empty(count, dy.size(-1))

    def launch(dtable, dy, ids, count, padding_idx):
        call_embedding_backward(matrix(dy), row(ids), dtable, max(padding_idx, 0), padding_idx >= 0)


@operator
class embedding:
    schema = "embedding(Tensor table, Tensor ids, SymInt count, int padding_idx) -> Tensor"

    def made(table, ids, count, padding_idx):
        return table.new_empty(*ids.shape, table.size(-1))

    def launch(y, table, ids, count, padding_idx):
        call_embedding(rows(table), row(ids), matrix(y))

    def saved(y, table, ids, count, padding_idx):
        return (ids,)

    def backward(wanted, saved, options, dy):
        return embedding_backward(dy, *saved, *options), None


# ---- rotary position embedding -------------------------------------------------------------------
@operator
class rotary:
    schema = (
        "rotary(Tensor q, Tensor? k, Tensor cos, Tensor sin, Tensor? positions, Tensor? offsets,"
        " bool interleaved, bool inverse) -> (Tensor, Tensor)"
    )

    def made(q, k, cos, sin, *others):
        return like(q), optional(q, False) if k is None else like(k)

    def launch(made, q, k, cos, sin, positions, offsets, interleaved, inverse):
        launch(
            "rotary",
            q=rows(q),
            k=rows(k),
            cos=rows(cos),
            sin=rows(sin),
            positions=positions,
            offsets=offsets,
            q_out=made[0],
            k_out=None if k is None else made[1],
            interleaved=interleaved,
            inverse=inverse,
        )

    def saved(made, q, k, cos, sin, positions, offsets, interleaved, inverse):
        return cos, sin, positions, offsets

    def backward(wanted, saved, options, dq, dk):
        interleaved, inverse = options
        first, second = (dk, None) if dq is None else (dq, dk)  # at least one was used
        first, second = rotary(first, second, *saved, interleaved, not inverse)
        dq, dk = (None, first) if dq is None else (first, None if dk is None else second)
        return dq, dk, None, None, None, None
