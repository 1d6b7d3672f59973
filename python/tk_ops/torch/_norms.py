# SPDX-License-Identifier: MIT
"""The ops of norms: plain ones, with a residual or dropout, and with a result of fp8."""

import torch

from tk_ops import ScaleKind

from ._library import contiguous, launcher, like, maker, matrix, operator, optional, row

call_norm_backward = launcher(
    "norm_backward",
    "r dy dr weight dx dresidual dweight dbias kind eps dropout random_state",
    rows=True,
)
call_norm = launcher("norm", "x weight bias y kind eps", rows=True)
call_add_norm = launcher(
    "norm", "x residual weight bias y r kind eps dropout random_state", rows=True
)
call_quantised_norm = launcher(
    "norm", "x residual weight bias y r kind eps y_scale y_scale_kind power_of_two", rows=True
)


def matrix_or_none(x):
    return None if x is None else matrix(x)


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
        call_norm_backward(
            matrix(r),
            matrix(dy),
            matrix_or_none(dr),
            contiguous(weight),
            matrix(dx),
            matrix(dresidual) if wanted[0] else None,
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
        call_norm(matrix(x), contiguous(weight), contiguous(bias), matrix(y), kind, eps)

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
        y, r = map(matrix, made)
        weight, bias = contiguous(weight), contiguous(bias)
        residual = matrix_or_none(residual)
        call_add_norm(matrix(x), residual, weight, bias, y, r, *options, random_state)

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
        call_quantised_norm(
            matrix(x),
            matrix_or_none(residual),
            contiguous(weight),
            contiguous(bias),
            matrix(y),
            None if residual is None else matrix(r),
            kind,
            eps,
            row(made_scale) if is_made else scale,
            ScaleKind.ROW if is_made else ScaleKind.GIVEN,
            power_of_two,
        )
