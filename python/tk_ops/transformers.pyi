# SPDX-License-Identifier: MIT
from typing import Any

import torch
from torch import Tensor, nn

from .torch.replace import Report

def attention_forward(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    is_causal: bool | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    position_bias: Tensor | None = None,
    sliding_window: int | None = None,
    cu_seq_lens_q: Tensor | None = None,
    cu_seq_lens_k: Tensor | None = None,
    max_length_q: int = 0,
    max_length_k: int = 0,
    **others: Any,
) -> tuple[Tensor, None]: ...
def attention_mask(
    *arguments: Any, dtype: torch.dtype = ..., config: Any = None, **options: Any
) -> Tensor | None: ...
def register(name: str = "tk") -> None: ...
def replace(model: nn.Module) -> Report: ...
