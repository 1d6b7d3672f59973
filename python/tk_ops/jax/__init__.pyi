# SPDX-License-Identifier: MIT
from typing import Literal, overload

from jax import Array
from jax.typing import ArrayLike, DTypeLike

from tk_ops._repeat import repeat as repeat

@overload
def based(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    scale: float | None = None,
    normalise: bool = True,
    initial_states: tuple[ArrayLike, ArrayLike | None] | None = None,
    return_final_states: Literal[False] = False,
    cu_seqlens: ArrayLike | None = None,
) -> Array: ...
@overload
def based(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    scale: float | None = None,
    normalise: bool = True,
    initial_states: tuple[ArrayLike, ArrayLike | None] | None = None,
    return_final_states: Literal[True],
    cu_seqlens: ArrayLike | None = None,
) -> tuple[Array, tuple[Array, Array | None]]: ...
@overload
def hedgehog(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    map_q: ArrayLike,
    map_k: ArrayLike,
    alpha: ArrayLike,
    beta: ArrayLike,
    *,
    scale: float | None = None,
    initial_states: tuple[ArrayLike, ArrayLike] | None = None,
    return_final_states: Literal[False] = False,
    cu_seqlens_q: ArrayLike | None = None,
    cu_seqlens_k: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
) -> Array: ...
@overload
def hedgehog(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    map_q: ArrayLike,
    map_k: ArrayLike,
    alpha: ArrayLike,
    beta: ArrayLike,
    *,
    scale: float | None = None,
    initial_states: tuple[ArrayLike, ArrayLike] | None = None,
    return_final_states: Literal[True],
    cu_seqlens_q: ArrayLike | None = None,
    cu_seqlens_k: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
) -> tuple[Array, tuple[Array, Array]]: ...
def attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    causal: bool = False,
    window: tuple[int | None, int | None] | None = None,
    scale: float | None = None,
    softcap: float = 0.0,
    bias: ArrayLike | None = None,
    alibi: ArrayLike | None = None,
    sinks: ArrayLike | None = None,
    dropout_rate: float = 0.0,
    dropout_rng: ArrayLike | None = None,
    cu_seqlens_q: ArrayLike | None = None,
    cu_seqlens_k: ArrayLike | None = None,
    max_seqlen_q: int = 0,
    max_seqlen_k: int = 0,
) -> Array: ...
def dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    bias: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    *,
    is_causal: bool = False,
    scale: float | None = None,
    query_seq_lengths: ArrayLike | None = None,
    key_value_seq_lengths: ArrayLike | None = None,
    local_window_size: int | tuple[int, int] | None = None,
) -> Array: ...
def linear(x: ArrayLike, kernel: ArrayLike, bias: ArrayLike | None = None) -> Array: ...
def matmul(
    a: ArrayLike, b: ArrayLike, *, preferred_element_type: DTypeLike | None = None
) -> Array: ...
def cross_entropy(
    logits: ArrayLike,
    labels: ArrayLike,
    *,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
    softcap: float = 0.0,
) -> Array: ...
def embedding(table: ArrayLike, ids: ArrayLike, *, padding_idx: int | None = None) -> Array: ...
def geglu(x: ArrayLike, other: ArrayLike | None = None, approximate: bool = True) -> Array: ...
def gelu(x: ArrayLike, approximate: bool = True) -> Array: ...
@overload
def layer_norm(
    x: ArrayLike,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    *,
    eps: float = 1e-06,
    residual: None = None,
) -> Array: ...
@overload
def layer_norm(
    x: ArrayLike,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    *,
    eps: float = 1e-06,
    residual: ArrayLike,
) -> tuple[Array, Array]: ...
def linear_cross_entropy(
    x: ArrayLike,
    weight: ArrayLike,
    labels: ArrayLike,
    *,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
    softcap: float = 0.0,
) -> Array: ...
def reglu(x: ArrayLike, other: ArrayLike | None = None) -> Array: ...
@overload
def rms_norm(
    x: ArrayLike,
    weight: ArrayLike | None = None,
    *,
    bias: ArrayLike | None = None,
    eps: float = 1e-06,
    residual: None = None,
) -> Array: ...
@overload
def rms_norm(
    x: ArrayLike,
    weight: ArrayLike | None = None,
    *,
    bias: ArrayLike | None = None,
    eps: float = 1e-06,
    residual: ArrayLike,
) -> tuple[Array, Array]: ...
@overload
def rotary(
    query: ArrayLike,
    key: ArrayLike,
    cos: ArrayLike,
    sin: ArrayLike,
    *,
    positions: ArrayLike | None = None,
    offsets: ArrayLike | None = None,
    interleaved: bool = False,
    inverse: bool = False,
) -> tuple[Array, Array]: ...
@overload
def rotary(
    query: ArrayLike,
    key: None,
    cos: ArrayLike,
    sin: ArrayLike,
    *,
    positions: ArrayLike | None = None,
    offsets: ArrayLike | None = None,
    interleaved: bool = False,
    inverse: bool = False,
) -> tuple[Array, None]: ...
def silu(x: ArrayLike) -> Array: ...
def softmax(x: ArrayLike, axis: int = -1, *, scale: float = 1.0, causal: bool = False) -> Array: ...
def swiglu(x: ArrayLike, other: ArrayLike | None = None) -> Array: ...
@overload
def causal_conv1d(
    x: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike | None = None,
    *,
    activation: Literal["silu", "swish"] | None = None,
    initial_states: ArrayLike | None = None,
    return_final_states: Literal[False] = False,
    cu_seqlens: ArrayLike | None = None,
) -> Array: ...
@overload
def causal_conv1d(
    x: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike | None = None,
    *,
    activation: Literal["silu", "swish"] | None = None,
    initial_states: ArrayLike | None = None,
    return_final_states: Literal[True],
    cu_seqlens: ArrayLike | None = None,
) -> tuple[Array, Array]: ...
def fft_conv(
    u: ArrayLike,
    k: ArrayLike,
    pre: ArrayLike | None = None,
    post: ArrayLike | None = None,
    *,
    circular: bool = False,
) -> Array: ...
@overload
def linear_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    log_decay: ArrayLike | None = None,
    decay: ArrayLike | None = None,
    scale: float | None = None,
    initial_state: ArrayLike | None = None,
    return_final_state: Literal[False] = False,
    cu_seqlens: ArrayLike | None = None,
) -> Array: ...
@overload
def linear_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    log_decay: ArrayLike | None = None,
    decay: ArrayLike | None = None,
    scale: float | None = None,
    initial_state: ArrayLike | None = None,
    return_final_state: Literal[True],
    cu_seqlens: ArrayLike | None = None,
) -> tuple[Array, Array]: ...
@overload
def mamba2(
    x: ArrayLike,
    dt: ArrayLike,
    A: ArrayLike,
    B: ArrayLike,
    C: ArrayLike,
    D: ArrayLike | None = None,
    z: ArrayLike | None = None,
    dt_bias: ArrayLike | None = None,
    *,
    initial_states: ArrayLike | None = None,
    dt_softplus: bool = False,
    dt_limit: tuple[float, float] = ...,
    return_final_states: Literal[False] = False,
    cu_seqlens: ArrayLike | None = None,
) -> Array: ...
@overload
def mamba2(
    x: ArrayLike,
    dt: ArrayLike,
    A: ArrayLike,
    B: ArrayLike,
    C: ArrayLike,
    D: ArrayLike | None = None,
    z: ArrayLike | None = None,
    dt_bias: ArrayLike | None = None,
    *,
    initial_states: ArrayLike | None = None,
    dt_softplus: bool = False,
    dt_limit: tuple[float, float] = ...,
    return_final_states: Literal[True],
    cu_seqlens: ArrayLike | None = None,
) -> tuple[Array, Array]: ...
def add(x: ArrayLike, y: ArrayLike, *, alpha: float = 1.0) -> Array: ...
def matrix_transpose(x: ArrayLike) -> Array: ...
def argmax(a: ArrayLike, axis: int | None = None, *, keepdims: bool = False) -> Array: ...
def quantise(
    x: ArrayLike,
    dtype: DTypeLike = ...,
    *,
    block: Literal["row", "1x128", "128x128", "tensor"] = "row",
    scale: ArrayLike | None = None,
    power_of_two: bool = False,
) -> tuple[Array, Array]: ...
def top_k(
    operand: ArrayLike, k: int, *, axis: int = -1, largest: bool = True
) -> tuple[Array, Array]: ...
