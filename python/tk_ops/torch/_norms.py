# SPDX-License-Identifier: MIT
"""The ops of norms: plain ones, with a residual or dropout, and with a result of fp8."""

import torch

from tk_ops import ScaleKind

from ._library import alike, contiguous, last, launcher, like, maker, operator, optional, row


def launchers(name, names):
    """One for matrices, one for rows that are apart (`alike`)."""
    return [launcher(name, names, rows) for rows in (True, False)]


call_norm_backward = launchers(
    "norm_backward", "r dy dr weight dx dresidual dweight dbias kind eps dropout random_state"
)
call_norm = launchers("norm", "x weight bias y kind eps")
call_add_norm = launchers("norm", "x residual weight bias y r kind eps dropout random_state")
call_quantised_norm = launchers(
    "norm", "x residual weight bias y r kind eps y_scale y_scale_kind power_of_two"
)


@operator
class norm_backward:
    schema = (
        "norm_backward(Tensor r, Tensor dy, Tensor? dr, Tensor? weight, Tensor? bias,"
        " Tensor? random_state, int kind, float eps, float dropout, bool dresidual, bool dweight,"
        " bool dbias) -> (Tensor, Tensor, Tensor, Tensor)"
    )

    def made(r, dy, dr, weight, bias, random_state, kind, eps, dropout, *wanted):
        of = bias if weight is None else weight
        return (
            like(dy),
            optional(r, wanted[0]),
            optional(dy if of is None else of, wanted[1]),
            optional(dy if of is None else of, wanted[2]),
        )

    def launch(made, r, dy, dr, weight, bias, random_state, kind, eps, dropout, *wanted):
        dx, dresidual, dweight, dbias = made
        dresidual = dresidual if wanted[0] else None
        apart, r, dy, dr, dx, dresidual = alike(r, dy, dr, dx, dresidual)
        call_norm_backward[apart](
            r,
            dy,
            dr,
            contiguous(weight),
            dx,
            dresidual,
            dweight if wanted[1] else None,
            dbias if wanted[2] else None,
            kind,
            eps,
            dropout,
            random_state,
        )


@operator
class norm:
    schema = "norm(Tensor x, Tensor? weight, Tensor? bias, int kind, float eps) -> Tensor"
    make = maker("norm", "x weight bias kind eps y")

    def made(x, weight, bias, kind, eps):
        return like(x)

    def launch(y, x, weight, bias, kind, eps):
        apart, x, y = alike(x, y)
        call_norm[apart](x, contiguous(weight), contiguous(bias), y, kind, eps)

    def saved(y, x, weight, bias, kind, eps):
        return x, weight, bias

    def backward(wanted, saved, options, dy):
        x, weight, bias = saved
        dx, _, dweight, dbias = norm_backward(
            x, dy, None, weight, bias, None, *options, 0.0, False, *wanted[1:]
        )
        return dx, dweight, dbias


@operator
class add_norm:
    """Of r = residual + x, where x may be dropped in part; and r, in residual's type or x's."""

    schema = (
        "add_norm(Tensor x, Tensor? residual, Tensor? weight, Tensor? bias, Tensor? random_state,"
        " int kind, float eps, float dropout) -> (Tensor, Tensor)"
    )

    def made(x, residual, *others):
        return like(x), like(x if residual is None else residual)

    def launch(made, x, residual, weight, bias, random_state, *options):
        apart, x, residual, y, r = alike(x, residual, *made)
        weight, bias = contiguous(weight), contiguous(bias)
        call_add_norm[apart](x, residual, weight, bias, y, r, *options, random_state)

    def saved(made, x, residual, weight, bias, random_state, *options):
        y, r = made
        return r, weight, bias, random_state, None if y.dtype == r.dtype else y

    def backward(wanted, saved, options, dy, dr):
        r, weight, bias, random_state, y = saved
        if dy is None:
            dy = torch.zeros_like(r if y is None else y)
        apart = y is not None or random_state is not None  # dx is not dresidual
        dx, dresidual, dweight, dbias = norm_backward(
            r, dy, dr, weight, bias, random_state, *options, apart, *wanted[2:4]
        )
        return dx, dresidual if apart else dx, dweight, dbias, None


@operator
class quantised_norm:
    """The norm in fp8, its scales, which are none where one is given, and r, where residual is."""

    schema = (
        "quantised_norm(Tensor x, Tensor? residual, Tensor? weight, Tensor? bias, Tensor? scale,"
        " int kind, float eps, ScalarType dtype, bool power_of_two) -> (Tensor, Tensor, Tensor)"
    )

    def made(x, residual, weight, bias, scale, kind, eps, dtype, power_of_two):
        return (
            like(x, dtype),
            optional(x, scale is None, x.shape[:-1], torch.float32),
            optional(x, False) if residual is None else like(residual),
        )

    def launch(made, x, residual, weight, bias, scale, kind, eps, dtype, power_of_two):
        y, made_scale, r = made
        is_made = scale is None
        apart, x, residual, y, r = alike(x, residual, y, None if residual is None else r)
        if is_made:
            scale = last(3, made_scale) if apart else row(made_scale)
        call_quantised_norm[apart](
            x,
            residual,
            contiguous(weight),
            contiguous(bias),
            y,
            r,
            kind,
            eps,
            scale,
            ScaleKind.ROW if is_made else ScaleKind.GIVEN,
            power_of_two,
        )
