# SPDX-License-Identifier: MIT
"""Modules of PyTorch whose forward is TK's: the same constructors, parameters and state_dict."""

import torch

from . import functional

__all__ = [
    "CrossEntropyLoss",
    "Embedding",
    "GELU",
    "LayerNorm",
    "Linear",
    "RMSNorm",
    "SiLU",
    "SwiGLU",
]


class Linear(torch.nn.Linear):
    """torch.nn.Linear by tk_ops.torch.linear: bf16 or fp16, or any type under torch.autocast."""

    def forward(self, input):
        return functional.linear(input, self.weight, self.bias)


class RMSNorm(torch.nn.RMSNorm):
    """torch.nn.RMSNorm by tk_ops.torch.rms_norm; with a residual, the pair of the norm of input +
    residual and that sum."""

    def forward(self, x, residual=None):
        return functional.rms_norm(
            x, self.normalized_shape, self.weight, self.eps, residual=residual
        )


class LayerNorm(torch.nn.LayerNorm):
    """torch.nn.LayerNorm by tk_ops.torch.layer_norm; with a residual as RMSNorm."""

    def forward(self, input, residual=None):
        return functional.layer_norm(
            input, self.normalized_shape, self.weight, self.bias, self.eps, residual=residual
        )


class Embedding(torch.nn.Embedding):
    """torch.nn.Embedding by tk_ops.torch.embedding."""

    def forward(self, input):
        return functional.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )


class SiLU(torch.nn.SiLU):
    """torch.nn.SiLU by tk_ops.torch.silu; inplace is a NotImplementedError."""

    def __init__(self, inplace=False):
        super().__init__(inplace)
        if inplace:
            raise NotImplementedError("SiLU: not in place")

    def forward(self, input):
        return functional.silu(input)


class GELU(torch.nn.GELU):
    """torch.nn.GELU by tk_ops.torch.gelu."""

    def forward(self, input):
        return functional.gelu(input, self.approximate)


class SwiGLU(torch.nn.Module):
    """silu(a) b of input's halves, or of input and other."""

    def forward(self, input, other=None):
        return functional.swiglu(input, other)


class CrossEntropyLoss(torch.nn.CrossEntropyLoss):
    """torch.nn.CrossEntropyLoss by tk_ops.torch.cross_entropy."""

    def forward(self, input, target):
        return functional.cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )
