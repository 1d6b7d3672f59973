# SPDX-License-Identifier: MIT
"""The norms of tk_ops.torch."""

import torch

from tk_ops import NormKind

from . import _norms
from ._random import random_state_of

__all__ = ["layer_norm", "rms_norm"]

EPS, RMS, LAYER = torch.finfo(torch.float32).eps, NormKind.RMS, NormKind.LAYER


def _norm(
    name,
    input,
    normalized_shape,
    weight,
    bias,
    kind,
    eps,
    residual,
    dropout_p,
    out_dtype,
    scale,
    power_of_two,
):
    is_one = isinstance(normalized_shape, (int, torch.SymInt))
    shape = (normalized_shape,) if is_one else tuple(normalized_shape)
    sizes = input.shape
    if len(shape) != 1:
        fits = shape and sizes[-len(shape) :] == shape
    else:
        fits = sizes and sizes[-1] == shape[0]
    if not fits:
        raise ValueError(
            f"{name}: the last sizes of input {list(sizes)} must be normalized_shape {list(shape)}"
        )
    if (weight is not None and weight.shape != shape) or (bias is not None and bias.shape != shape):
        raise ValueError(
            f"{name}: weight and bias must have the sizes of normalized_shape {list(shape)}"
        )
    if residual is not None and residual.shape != sizes:
        raise ValueError(f"{name}: residual must have the sizes of input {list(sizes)}")
    if out_dtype is None:
        if scale is not None or power_of_two:
            raise ValueError(f"{name}: scale and power_of_two need out_dtype, of fp8")
        if len(shape) == 1 and not dropout_p:
            if residual is None:
                return _norms.norm(input, weight, bias, kind, eps)
            return _norms.add_norm(input, residual, weight, bias, None, kind, eps, 0.0)
    elif dropout_p:
        raise NotImplementedError(
            f"{name}: dropout_p {dropout_p} does not go with out_dtype {out_dtype}"
        )
    tensors = input, residual, weight, bias
    if len(shape) != 1:
        tensors = [None if x is None else x.flatten(-len(shape)) for x in tensors]
    y, scale, r = _of_rows(*tensors, kind, eps, dropout_p, out_dtype, scale, power_of_two)
    if len(shape) != 1:
        y, r = y.view(sizes), None if residual is None else r.view(sizes)
    if residual is None:
        return y if out_dtype is None else (y, scale)
    return (y, r) if out_dtype is None else (y, scale, r)


def _of_rows(
    input, residual, weight, bias, kind, eps, dropout_p, out_dtype, scale, power_of_two
):
    """The norm, its scale and r, without those that are not asked for."""
    if out_dtype is not None:
        y, made, r = _norms.quantised_norm(
            input, residual, weight, bias, scale, kind, eps, out_dtype, power_of_two
        )
        return y, made if scale is None else scale, r
    if residual is None and not dropout_p:
        return _norms.norm(input, weight, bias, kind, eps), None, None
    state = random_state_of(dropout_p, input.device)
    y, r = _norms.add_norm(input, residual, weight, bias, state, kind, eps, dropout_p)
    return y, None, r


def rms_norm(
    input,
    normalized_shape,
    weight=None,
    eps=None,
    *,
    bias=None,
    residual=None,
    dropout_p=0.0,
    out_dtype=None,
    scale=None,
    power_of_two=False,
):
    """input / sqrt(mean input^2 + eps) weight + bias over the last dimensions, as
    torch.nn.functional.rms_norm.

    input of any sizes, bf16, fp16 or fp32; up to four dimensions, the last contiguous, are read
    where they lie. weight and bias normalized_shape, both of one type, input's or fp32. Statistics
    are fp32; the result has input's type, also under torch.autocast. eps None is fp32's epsilon, as
    PyTorch computes it of 16 bits too. With a residual (input's sizes, its type or fp32) the result
    is a pair: the norm of r = input + residual, and r, of residual's type.

    dropout_p, rounded to a multiple of 1/256, drops elements of input before the residual is added,
    and divides the others by 1 - dropout_p; the seed is drawn by PyTorch's generator. With
    out_dtype, float8_e4m3fn or float8_e5m2, the norm is of fp8, and behind it comes its scale, as
    `quantise` has it of each row: fp32, of input's sizes without normalized_shape, with
    power_of_two the next power of two; a given scale, of one element, is used instead, and comes
    back. It takes input and residual of 16 bits, no dropout (NotImplementedError), and has no
    gradient. TypeError for other types, ValueError for sizes that do not fit.
    """
    return _norm(
        "rms_norm",
        input,
        normalized_shape,
        weight,
        bias,
        RMS,
        EPS if eps is None else eps,
        residual,
        dropout_p,
        out_dtype,
        scale,
        power_of_two,
    )


def layer_norm(
    input,
    normalized_shape,
    weight=None,
    bias=None,
    eps=1e-5,
    *,
    residual=None,
    dropout_p=0.0,
    out_dtype=None,
    scale=None,
    power_of_two=False,
):
    """(input - mean) / sqrt(var + eps) weight + bias over the last dimensions, as
    torch.nn.functional.layer_norm.

    Types, statistics, residual, dropout, fp8 and errors are as in rms_norm; var is biased, of
    differences from the mean.
    """
    return _norm(
        "layer_norm",
        input,
        normalized_shape,
        weight,
        bias,
        LAYER,
        eps,
        residual,
        dropout_p,
        out_dtype,
        scale,
        power_of_two,
    )
