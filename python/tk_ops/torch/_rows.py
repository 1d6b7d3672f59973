# SPDX-License-Identifier: MIT
"""The ops of rows: norms, softmax, cross-entropy, activations, embedding, rotary position
embedding."""

import torch

import tk_ops
from tk_ops._options import loss_fields, mask_of, norm_kind

from ._library import contiguous, launch, like, matrix, operator, optional, rows


# ---- norms ---------------------------------------------------------------------------------------
@operator
class norm_backward:
    schema = (
        "norm_backward(Tensor r, Tensor dy, Tensor? dr, Tensor? weight, Tensor? bias, bool rms,"
        " float eps, bool dresidual, bool dweight, bool dbias) -> (Tensor, Tensor, Tensor, Tensor)"
    )

    def made(r, dy, dr, weight, bias, rms, eps, dresidual, dweight, dbias):
        of = bias if weight is None else weight
        return (
            like(dy),
            optional(r, dresidual),
            optional(dy if of is None else of, dweight),
            optional(dy if of is None else of, dbias),
        )

    def launch(made, r, dy, dr, weight, bias, rms, eps, *wanted):
        dx, dresidual, dweight, dbias = made
        launch(
            tk_ops.norm_backward,
            r=matrix(r),
            dy=matrix(dy),
            dr=None if dr is None else matrix(dr),
            weight=contiguous(weight),
            dx=matrix(dx),
            dresidual=matrix(dresidual) if wanted[0] else None,
            dweight=dweight if wanted[1] else None,
            dbias=dbias if wanted[2] else None,
            kind=norm_kind(rms),
            eps=eps,
        )


@operator
class norm:
    schema = "norm(Tensor x, Tensor? weight, Tensor? bias, bool rms, float eps) -> Tensor"

    def made(x, weight, bias, rms, eps):
        return like(x)

    def launch(y, x, weight, bias, rms, eps):
        launch(
            tk_ops.norm,
            x=matrix(x),
            weight=contiguous(weight),
            bias=contiguous(bias),
            y=matrix(y),
            kind=norm_kind(rms),
            eps=eps,
        )

    def saved(y, x, weight, bias, rms, eps):
        return x, weight, bias

    def backward(wanted, saved, options, dy):
        x, weight, bias = saved
        dx, _, dweight, dbias = norm_backward(
            x, dy, None, weight, bias, *options, False, *wanted[1:]
        )
        return dx, dweight, dbias


@operator
class add_norm:
    schema = (
        "add_norm(Tensor x, Tensor residual, Tensor? weight, Tensor? bias, bool rms, float eps)"
        " -> (Tensor, Tensor)"
    )

    def made(x, residual, weight, bias, rms, eps):
        return like(x), like(residual)

    def launch(made, x, residual, weight, bias, rms, eps):
        y, r = map(matrix, made)
        launch(
            tk_ops.norm,
            x=matrix(x),
            residual=matrix(residual),
            weight=contiguous(weight),
            bias=contiguous(bias),
            y=y,
            r=r,
            kind=norm_kind(rms),
            eps=eps,
        )

    def saved(made, x, residual, weight, bias, rms, eps):
        return made[1], weight, bias, made[0] if x.dtype != residual.dtype else None

    def backward(wanted, saved, options, dy, dr):
        r, weight, bias, y = saved
        if dy is None:
            dy = torch.zeros_like(r if y is None else y)
        dx, dresidual, dweight, dbias = norm_backward(
            r, dy, dr, weight, bias, *options, y is not None, *wanted[2:]
        )
        return dx, dx if y is None else dresidual, dweight, dbias


# ---- softmax and cross-entropy -------------------------------------------------------------------
def matrices(x, causal):
    """x as a matrix or, where its rows see different columns, as matrices."""
    if not causal or x.dim() <= 2:
        return matrix(x)
    return rows(x if x.dim() <= 4 else x.flatten(0, -3))


@operator
class softmax_backward:
    schema = "softmax_backward(Tensor y, Tensor dy, float scale, bool causal) -> Tensor"

    def made(y, dy, scale, causal):
        return like(y)

    def launch(dx, y, dy, scale, causal):
        y, dy, dx = (matrices(x, causal) for x in (y, dy, dx))
        launch(tk_ops.softmax_backward, y=y, dy=dy, dx=dx, scale=scale, mask=mask_of(causal))


@operator
class softmax:
    schema = "softmax(Tensor x, float scale, bool causal) -> Tensor"

    def made(x, scale, causal):
        return like(x)

    def launch(y, x, scale, causal):
        launch(
            tk_ops.softmax,
            x=matrices(x, causal),
            y=matrices(y, causal),
            scale=scale,
            mask=mask_of(causal),
        )

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
        launch(
            tk_ops.cross_entropy_backward,
            x=matrix(x),
            labels=labels.reshape(-1),
            lse=lse.reshape(-1),
            dloss=dloss.reshape(-1),
            dx=matrix(dx),
            **loss_fields(*options),
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
        loss, lse = made
        launch(
            tk_ops.cross_entropy,
            x=matrix(x),
            labels=labels.reshape(-1),
            loss=loss.reshape(-1),
            lse=lse.reshape(-1),
            **loss_fields(*options),
        )

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
        repeat, *wanted = options[4:]
        total, dx, dweight = made
        loss = torch.empty(labels.numel(), dtype=torch.float32, device=x.device)
        launch(
            tk_ops.linear_cross_entropy,
            x=matrix(x),
            w=rows(weight),
            labels=labels.reshape(-1),
            loss=loss,
            dx=matrix(dx) if wanted[0] else None,
            dw=dweight if wanted[1] else None,
            **loss_fields(*options[:4]),
            dloss_scale=1.0,
            repeat=repeat,
        )
        torch.sum(loss, 0, out=total)

    def saved(made, *arguments):
        return made[1:]

    def backward(wanted, saved, options, dloss, *_):
        dx, dweight = saved
        return dx * dloss if wanted[0] else None, dweight * dloss if wanted[1] else None, None


# ---- activations ---------------------------------------------------------------------------------
def halves(x):
    """The two halves of each row of x."""
    x = matrix(x)
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
        launch(tk_ops.activation_backward, a=a, b=b, dy=matrix(dy), da=da, db=db, kind=kind)


@operator
class activation:
    schema = "activation(Tensor a, Tensor? b, int kind, bool packed) -> Tensor"

    def made(a, b, kind, packed):
        return a.new_empty(*a.shape[:-1], a.size(-1) // 2) if packed else like(a)

    def launch(y, a, b, kind, packed):
        a, b = halves(a) if packed else (matrix(a), None if b is None else matrix(b))
        launch(tk_ops.activation, a=a, b=b, y=matrix(y), kind=kind)

    def saved(y, a, b, kind, packed):
        return a, b

    def backward(wanted, saved, options, dy):
        return activation_backward(*saved, dy, *options)


# ---- embedding -----------------------------------------------------------------------------------
@operator
class embedding_backward:
    schema = "embedding_backward(Tensor dy, Tensor ids, SymInt count, int padding_idx) -> Tensor"

    def made(dy, ids, count, padding_idx):
        return dy.new_empty(count, dy.size(-1))

    def launch(dtable, dy, ids, count, padding_idx):
        launch(
            tk_ops.embedding_backward,
            dy=matrix(dy),
            ids=ids.reshape(-1),
            dtable=dtable,
            ignored_id=max(padding_idx, 0),
            ignores=padding_idx >= 0,
        )


@operator
class embedding:
    schema = "embedding(Tensor table, Tensor ids, SymInt count, int padding_idx) -> Tensor"

    def made(table, ids, count, padding_idx):
        return table.new_empty(*ids.shape, table.size(-1))

    def launch(y, table, ids, count, padding_idx):
        launch(tk_ops.embedding, table=rows(table), ids=ids.reshape(-1), y=matrix(y))

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
            tk_ops.rotary,
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
