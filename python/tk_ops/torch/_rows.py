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
call_softmax = [launcher("softmax", "x bias bool_mask y scale mask", rows) for rows in (True, False)]
call_softmax_backward = [
    launcher("softmax_backward", "y dy dx dbias scale mask", rows) for rows in (True, False)
]
make_softmax = maker("softmax", "x scale y")
make_softmax_backward = maker("softmax_backward", "y dy scale dx")
LOSS = "ignore_index has_ignore_index label_smoothing z_loss softcap"
call_cross_entropy = launcher("cross_entropy", f"x labels loss lse {LOSS}", rows=True)
call_cross_entropy_backward = launcher(
    "cross_entropy_backward", f"x labels lse dloss dx {LOSS}", rows=True
)
HELD = {torch.float16: torch.float32}
call_linear_cross_entropy = launcher(
    "linear_cross_entropy", f"x w labels loss dx dw {LOSS} dloss_scale repeat", rows=True
)


def matrices(x, apart):
    """x as a launch of rows takes it or, where rows are `apart` (they see different columns, have a
    bias), as matrices."""
    if x is None or not apart or x.dim() <= 2:
        return None if x is None else matrix(x)
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
        call_softmax_backward[causal](y, dy, dx, None, scale, mask_of(causal))


@operator
class biased_softmax_backward:
    """dx, and the gradient of a bias of its sizes."""

    schema = "biased_softmax_backward(Tensor y, Tensor dy, float scale, bool causal) -> (Tensor, Tensor)"

    def made(y, dy, scale, causal):
        return like(y), like(y)

    def launch(made, y, dy, scale, causal):
        y, dy, dx, dbias = (matrices(x, True) for x in (y, dy, *made))
        call_softmax_backward[True](y, dy, dx, dbias, scale, mask_of(causal))


@operator
class softmax:
    schema = "softmax(Tensor x, Tensor? bias, Tensor? seen, float scale, bool causal) -> Tensor"

    def make(x, bias, seen, scale, causal):
        plain = bias is None and seen is None and not causal
        return make_softmax(x, scale) if plain else None

    def made(x, bias, seen, scale, causal):
        return like(x)

    def launch(y, x, bias, seen, scale, causal):
        apart = causal or bias is not None or seen is not None
        x, bias, seen, y = (matrices(z, apart) for z in (x, bias, seen, y))
        call_softmax[apart](x, bias, seen, y, scale, mask_of(causal))

    def saved(y, x, bias, seen, scale, causal):
        return y, None if bias is None else bias.new_empty(*bias.shape, 0)  # its type and sizes

    def backward(wanted, saved, options, dy):
        y, bias = saved
        if not wanted[1]:
            return softmax_backward(y, dy, *options), None, None
        dx, dbias = biased_softmax_backward(y, dy, *options)
        sizes = bias.shape[:-1]
        if sizes != y.shape:
            dbias = dbias.float().sum_to_size(sizes)
        return dx, dbias.to(bias.dtype), None


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
class linear_cross_entropy_backward:
    """The gradients of a sum, times that of the sum. x and weight say only what they depend on."""

    schema = (
        "linear_cross_entropy_backward(Tensor x, Tensor weight, Tensor dx, Tensor dweight,"
        " Tensor dloss) -> (Tensor, Tensor)"
    )

    def made(x, weight, dx, dweight, dloss):
        return like(dx, x.dtype), like(dweight, weight.dtype)

    def launch(made, x, weight, dx, dweight, dloss):
        torch.mul(dx, dloss, out=made[0])
        torch.mul(dweight, dloss, out=made[1])


@operator
class linear_cross_entropy:
    """The sum of all losses. Its gradients come with it, in one walk through chunks of logits; that
    of the weight, a sum over all rows, in fp32 where fp16 might not hold it."""

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
            optional(weight, options[-1], dtype=HELD.get(weight.dtype)),
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

    def saved(made, x, weight, *others):
        return x, weight, *made[1:]

    def backward(wanted, saved, options, dloss, *_):
        return *linear_cross_entropy_backward(*saved, dloss), None


# ---- activations ---------------------------------------------------------------------------------
call_activation = launcher("activation", "a b y kind interleaved", rows=True)
make_activation = maker("activation", "a b kind y")
call_activation_backward = launcher(
    "activation_backward", "a b dy da db kind interleaved", rows=True
)


def halves(x):
    """The two halves of each row of x."""
    x = rows(flat(x))
    width = x.size(-1) // 2
    return x[:, :width], x[:, width:]


def pairs(x):
    """x as rows of pairs that can be moved as one."""
    x = matrix(x)
    fit = x.data_ptr() % 4 == 0 and not any(stride % 2 for stride in x.stride()[:-1])
    return x if fit else x.clone(memory_format=torch.contiguous_format)


@operator
class activation_backward:
    schema = (
        "activation_backward(Tensor a, Tensor? b, Tensor dy, int kind, bool packed,"
        " bool interleaved) -> (Tensor, Tensor)"
    )

    def made(a, b, dy, kind, packed, interleaved):
        return like(a), optional(a, b is not None)

    def launch(made, a, b, dy, kind, packed, interleaved):
        da, db = made
        if interleaved:
            a, da, db = pairs(a), matrix(da), None
        elif packed:
            (a, b), (da, db) = halves(a), halves(da)
        else:
            a, da = matrix(a), matrix(da)
            b, db = (None, None) if b is None else (matrix(b), matrix(db))
        call_activation_backward(a, b, matrix(dy), da, db, kind, interleaved)


@operator
class activation:
    """With `packed` a is of two halves, or `interleaved` of pairs, in b's place."""

    schema = (
        "activation(Tensor a, Tensor? b, int kind, bool packed, bool interleaved) -> Tensor"
    )

    def make(a, b, kind, packed, interleaved):
        return None if packed else make_activation(a, b, kind)

    def made(a, b, kind, packed, interleaved):
        return a.new_empty(*a.shape[:-1], a.size(-1) // 2) if packed else like(a)

    def launch(y, a, b, kind, packed, interleaved):
        if interleaved:
            a = pairs(a)
        else:
            a, b = halves(a) if packed else (matrix(a), None if b is None else matrix(b))
        call_activation(a, b, matrix(y), kind, interleaved)

    def saved(y, a, b, *options):
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
