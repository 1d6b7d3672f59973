# SPDX-License-Identifier: MIT
from collections.abc import Sequence
from typing import Any, Literal, overload

import torch
from torch import Tensor, nn

from tk_ops._repeat import repeat as repeat

from .replace import replacing as replacing

def addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: float = 1.0,
    alpha: float = 1.0,
    out_dtype: torch.dtype | None = None,
) -> Tensor: ...
@overload
def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    causal: bool = False,
    window: tuple[int | None, int | None] | None = None,
    scale: float | None = None,
    softcap: float = 0.0,
    bias: Tensor | None = None,
    alibi: Tensor | None = None,
    sinks: Tensor | None = None,
    dropout_p: float = 0.0,
    cu_seqlens_q: Tensor | None = None,
    cu_seqlens_k: Tensor | None = None,
    max_seqlen_q: int = 0,
    max_seqlen_k: int = 0,
    return_lse: Literal[False] = False,
) -> Tensor: ...
@overload
def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    causal: bool = False,
    window: tuple[int | None, int | None] | None = None,
    scale: float | None = None,
    softcap: float = 0.0,
    bias: Tensor | None = None,
    alibi: Tensor | None = None,
    sinks: Tensor | None = None,
    dropout_p: float = 0.0,
    cu_seqlens_q: Tensor | None = None,
    cu_seqlens_k: Tensor | None = None,
    max_seqlen_q: int = 0,
    max_seqlen_k: int = 0,
    return_lse: Literal[True],
) -> tuple[Tensor, Tensor]: ...
def baddbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: float = 1.0,
    alpha: float = 1.0,
    out_dtype: torch.dtype | None = None,
) -> Tensor: ...
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: Literal["mean", "sum", "none"] = "mean",
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
    softcap: float = 0.0,
) -> Tensor: ...
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor: ...
def geglu(
    input: Tensor,
    other: Tensor | None = None,
    approximate: Literal["none", "tanh"] = "none",
    *,
    interleaved: bool = False,
) -> Tensor: ...
def gelu(input: Tensor, approximate: Literal["none", "tanh"] = "none") -> Tensor: ...
@overload
def layer_norm(
    input: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    *,
    residual: None = None,
    dropout_p: float = 0.0,
    out_dtype: None = None,
    scale: Tensor | None = None,
    power_of_two: bool = False,
) -> Tensor: ...
@overload
def layer_norm(
    input: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    *,
    residual: None = None,
    dropout_p: float = 0.0,
    out_dtype: torch.dtype,
    scale: Tensor | None = None,
    power_of_two: bool = False,
) -> tuple[Tensor, Tensor]: ...
@overload
def layer_norm(
    input: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    *,
    residual: Tensor,
    dropout_p: float = 0.0,
    out_dtype: None = None,
    scale: Tensor | None = None,
    power_of_two: bool = False,
) -> tuple[Tensor, Tensor]: ...
@overload
def layer_norm(
    input: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    *,
    residual: Tensor,
    dropout_p: float = 0.0,
    out_dtype: torch.dtype,
    scale: Tensor | None = None,
    power_of_two: bool = False,
) -> tuple[Tensor, Tensor, Tensor]: ...
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor: ...
def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    reduction: Literal["mean", "sum"] = "mean",
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
    softcap: float = 0.0,
) -> Tensor: ...
def matmul(
    input: Tensor, other: Tensor, *, out_dtype: torch.dtype | None = None
) -> Tensor: ...
def reglu(
    input: Tensor, other: Tensor | None = None, *, interleaved: bool = False
) -> Tensor: ...
@overload
def rms_norm(
    input: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
    *,
    bias: Tensor | None = None,
    residual: None = None,
    dropout_p: float = 0.0,
    out_dtype: None = None,
    scale: Tensor | None = None,
    power_of_two: bool = False,
) -> Tensor: ...
@overload
def rms_norm(
    input: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
    *,
    bias: Tensor | None = None,
    residual: None = None,
    dropout_p: float = 0.0,
    out_dtype: torch.dtype,
    scale: Tensor | None = None,
    power_of_two: bool = False,
) -> tuple[Tensor, Tensor]: ...
@overload
def rms_norm(
    input: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
    *,
    bias: Tensor | None = None,
    residual: Tensor,
    dropout_p: float = 0.0,
    out_dtype: None = None,
    scale: Tensor | None = None,
    power_of_two: bool = False,
) -> tuple[Tensor, Tensor]: ...
@overload
def rms_norm(
    input: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
    *,
    bias: Tensor | None = None,
    residual: Tensor,
    dropout_p: float = 0.0,
    out_dtype: torch.dtype,
    scale: Tensor | None = None,
    power_of_two: bool = False,
) -> tuple[Tensor, Tensor, Tensor]: ...
@overload
def rotary(
    query: Tensor,
    key: Tensor,
    cos: Tensor,
    sin: Tensor,
    *,
    positions: Tensor | None = None,
    offsets: Tensor | None = None,
    interleaved: bool = False,
    inverse: bool = False,
) -> tuple[Tensor, Tensor]: ...
@overload
def rotary(
    query: Tensor,
    key: None,
    cos: Tensor,
    sin: Tensor,
    *,
    positions: Tensor | None = None,
    offsets: Tensor | None = None,
    interleaved: bool = False,
    inverse: bool = False,
) -> tuple[Tensor, None]: ...
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor: ...
def silu(input: Tensor) -> Tensor: ...
def softmax(
    input: Tensor,
    dim: int = -1,
    dtype: torch.dtype | None = None,
    *,
    scale: float = 1.0,
    causal: bool = False,
    bias: Tensor | None = None,
    mask: Tensor | None = None,
) -> Tensor: ...
def swiglu(
    input: Tensor, other: Tensor | None = None, *, interleaved: bool = False
) -> Tensor: ...
@overload
def based(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    scale: float | None = None,
    normalise: bool = True,
    initial_states: tuple[Tensor, Tensor | None] | None = None,
    return_final_states: Literal[False] = False,
    cu_seqlens: Tensor | None = None,
) -> Tensor: ...
@overload
def based(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    scale: float | None = None,
    normalise: bool = True,
    initial_states: tuple[Tensor, Tensor | None] | None = None,
    return_final_states: Literal[True],
    cu_seqlens: Tensor | None = None,
) -> tuple[Tensor, tuple[Tensor, Tensor | None]]: ...
@overload
def causal_conv1d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    activation: Literal["silu", "swish"] | None = None,
    initial_states: Tensor | None = None,
    return_final_states: Literal[False] = False,
    cu_seqlens: Tensor | None = None,
) -> Tensor: ...
@overload
def causal_conv1d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    activation: Literal["silu", "swish"] | None = None,
    initial_states: Tensor | None = None,
    *,
    return_final_states: Literal[True],
    cu_seqlens: Tensor | None = None,
) -> tuple[Tensor, Tensor]: ...
def fft_conv(
    u: Tensor,
    k: Tensor,
    pre: Tensor | None = None,
    post: Tensor | None = None,
    circular: bool = False,
    *,
    filter: Tensor | None = None,
) -> Tensor: ...
def fft_filter(k: Tensor, u: Tensor, circular: bool = False) -> Tensor: ...
@overload
def hedgehog(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    map_q: Tensor,
    map_k: Tensor,
    alpha: Tensor,
    beta: Tensor,
    *,
    scale: float | None = None,
    initial_states: tuple[Tensor, Tensor] | None = None,
    return_final_states: Literal[False] = False,
    cu_seqlens_q: Tensor | None = None,
    cu_seqlens_k: Tensor | None = None,
    lengths: Tensor | None = None,
    return_normaliser: Literal[False] = False,
) -> Tensor: ...
@overload
def hedgehog(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    map_q: Tensor,
    map_k: Tensor,
    alpha: Tensor,
    beta: Tensor,
    *,
    scale: float | None = None,
    initial_states: tuple[Tensor, Tensor] | None = None,
    return_final_states: Literal[False] = False,
    cu_seqlens_q: Tensor | None = None,
    cu_seqlens_k: Tensor | None = None,
    lengths: Tensor | None = None,
    return_normaliser: Literal[True],
) -> tuple[Tensor, Tensor]: ...
@overload
def hedgehog(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    map_q: Tensor,
    map_k: Tensor,
    alpha: Tensor,
    beta: Tensor,
    *,
    scale: float | None = None,
    initial_states: tuple[Tensor, Tensor] | None = None,
    return_final_states: Literal[True],
    cu_seqlens_q: Tensor | None = None,
    cu_seqlens_k: Tensor | None = None,
    lengths: Tensor | None = None,
    return_normaliser: Literal[False] = False,
) -> tuple[Tensor, tuple[Tensor, Tensor]]: ...
@overload
def hedgehog(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    map_q: Tensor,
    map_k: Tensor,
    alpha: Tensor,
    beta: Tensor,
    *,
    scale: float | None = None,
    initial_states: tuple[Tensor, Tensor] | None = None,
    return_final_states: Literal[True],
    cu_seqlens_q: Tensor | None = None,
    cu_seqlens_k: Tensor | None = None,
    lengths: Tensor | None = None,
    return_normaliser: Literal[True],
) -> tuple[Tensor, tuple[Tensor, Tensor], Tensor]: ...
@overload
def linear_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    log_decay: Tensor | None = None,
    decay: Tensor | None = None,
    scale: float | None = None,
    initial_state: Tensor | None = None,
    return_final_state: Literal[False] = False,
    cu_seqlens: Tensor | None = None,
) -> Tensor: ...
@overload
def linear_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    log_decay: Tensor | None = None,
    decay: Tensor | None = None,
    scale: float | None = None,
    initial_state: Tensor | None = None,
    return_final_state: Literal[True],
    cu_seqlens: Tensor | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def mamba2(
    x: Tensor,
    dt: Tensor,
    A: Tensor,
    B: Tensor,
    C: Tensor,
    D: Tensor | None = None,
    z: Tensor | None = None,
    dt_bias: Tensor | None = None,
    initial_states: Tensor | None = None,
    dt_softplus: bool = False,
    dt_limit: tuple[float, float] = ...,
    return_final_states: Literal[False] = False,
    cu_seqlens: Tensor | None = None,
) -> Tensor: ...
@overload
def mamba2(
    x: Tensor,
    dt: Tensor,
    A: Tensor,
    B: Tensor,
    C: Tensor,
    D: Tensor | None = None,
    z: Tensor | None = None,
    dt_bias: Tensor | None = None,
    initial_states: Tensor | None = None,
    dt_softplus: bool = False,
    dt_limit: tuple[float, float] = ...,
    *,
    return_final_states: Literal[True],
    cu_seqlens: Tensor | None = None,
) -> tuple[Tensor, Tensor]: ...
def add(input: Tensor, other: Tensor, *, alpha: float = 1.0) -> Tensor: ...
def transpose(input: Tensor, dim0: int = -2, dim1: int = -1) -> Tensor: ...
def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor: ...
def quantise(
    input: Tensor,
    dtype: torch.dtype = ...,
    *,
    block: Literal["row", "1x128", "128x128", "tensor"] = "row",
    scale: Tensor | None = None,
    power_of_two: bool = False,
) -> tuple[Tensor, Tensor]: ...
def topk(
    input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> torch.return_types.topk: ...

class Linear(nn.Linear):
    def forward(self, input: Tensor) -> Tensor: ...

class RMSNorm(nn.RMSNorm):
    @overload
    def forward(self, x: Tensor, residual: None = None) -> Tensor: ...
    @overload
    def forward(self, x: Tensor, residual: Tensor) -> tuple[Tensor, Tensor]: ...

class LayerNorm(nn.LayerNorm):
    @overload
    def forward(self, input: Tensor, residual: None = None) -> Tensor: ...
    @overload
    def forward(self, input: Tensor, residual: Tensor) -> tuple[Tensor, Tensor]: ...

class Embedding(nn.Embedding):
    def forward(self, input: Tensor) -> Tensor: ...

class SiLU(nn.SiLU):
    def __init__(self, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class GELU(nn.GELU):
    def forward(self, input: Tensor) -> Tensor: ...

class SwiGLU(nn.Module):
    def forward(self, input: Tensor, other: Tensor | None = None) -> Tensor: ...

class CrossEntropyLoss(nn.CrossEntropyLoss):
    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...

class Mamba2(nn.Module):
    d_inner: int
    d_state: int
    headdim: int
    ngroups: int
    dt_limit: tuple[float, float]
    in_proj: Linear
    conv1d: nn.Conv1d
    dt_bias: nn.Parameter
    A_log: nn.Parameter
    D: nn.Parameter
    norm: RMSNorm
    out_proj: Linear
    def __init__(
        self,
        d_model: int,
        d_state: int = 128,
        d_conv: int = 4,
        expand: int = 2,
        headdim: int = 64,
        ngroups: int = 1,
        A_init_range: tuple[float, float] = (1, 16),
        dt_min: float = 0.001,
        dt_max: float = 0.1,
        dt_init_floor: float = 1e-4,
        dt_limit: tuple[float, float] = ...,
        bias: bool = False,
        conv_bias: bool = True,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None: ...
    @overload
    def forward(
        self,
        u: Tensor,
        cu_seqlens: Tensor | None = None,
        initial_states: tuple[Tensor, Tensor] | None = None,
        return_final_states: Literal[False] = False,
    ) -> Tensor: ...
    @overload
    def forward(
        self,
        u: Tensor,
        cu_seqlens: Tensor | None = None,
        initial_states: tuple[Tensor, Tensor] | None = None,
        *,
        return_final_states: Literal[True],
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]: ...

class LinearAttention(nn.Module):
    num_heads: int
    decay: Literal["heads", "tokens"] | None
    qkv_proj: Linear
    out_proj: Linear
    norm: RMSNorm
    gate_proj: Linear
    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        decay: Literal["heads", "tokens"] | None = "tokens",
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None: ...
    @overload
    def forward(
        self,
        x: Tensor,
        cu_seqlens: Tensor | None = None,
        initial_state: Tensor | None = None,
        return_final_state: Literal[False] = False,
    ) -> Tensor: ...
    @overload
    def forward(
        self,
        x: Tensor,
        cu_seqlens: Tensor | None = None,
        initial_state: Tensor | None = None,
        *,
        return_final_state: Literal[True],
    ) -> tuple[Tensor, Tensor]: ...

class LongConv(nn.Module):
    filters: nn.Parameter
    D: nn.Parameter
    def __init__(self, channels: int, length: int, device: Any = None) -> None: ...
    def forward(self, u: Tensor) -> Tensor: ...
