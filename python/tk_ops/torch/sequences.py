# SPDX-License-Identifier: MIT
"""The functions of tk_ops.torch along sequences: kinds of linear attention, Mamba-2's scan,
convolutions."""

import math

from tk_ops._options import conv_activation

from . import _convolutions, _features, _sequences
from ._library import autocast
from ._repeat import repeat_kind

# fmt: off
__all__ = ["based", "causal_conv1d", "fft_conv", "fft_filter", "hedgehog", "linear_attention",
           "mamba2"]
# fmt: on


def linear_attention(
    query,
    key,
    value,
    *,
    log_decay=None,
    decay=None,
    scale=None,
    initial_state=None,
    return_final_state=False,
    cu_seqlens=None,
):
    """Causal attention without softmax: S_t = a_t S_(t-1) + k_t^T v_t, o_t = scale q_t S_t.

    query and key [b, n, h, d], value [b, n, h, dv], of one type, bf16 or fp16; d and dv are
    multiples of 16 to 256. a_t = exp(log_decay[b, n, h]) or exp(-decay[h]) (fp32), or 1. scale None
    is 1 / sqrt(d). States are fp32 [b, h, d, dv]; with return_final_state the pair (o, S_n) comes
    back. With cu_seqlens, int32 [sequences + 1], sequences are packed: tensors of tokens lack b,
    and states have one for each sequence. Gradients reach all but cu_seqlens.
    """
    query, key, value = autocast(query, key, value)
    o, state = _sequences.linear_attention(
        query,
        key,
        value,
        log_decay,
        decay,
        initial_state,
        cu_seqlens,
        query.size(-1) ** -0.5 if scale is None else scale,
        repeat_kind(),
        return_final_state,
    )
    return (o, state) if return_final_state else o


def based(
    query,
    key,
    value,
    *,
    scale=None,
    normalise=True,
    initial_states=None,
    return_final_states=False,
    cu_seqlens=None,
):
    """Based, causal linear attention by a second-order Taylor feature map: o_i = sum over j <= i of
    (1 + s_ij + s_ij^2 / 2) v_j, s_ij = scale q_i k_j, and with normalise divided by 1e-6 + the sum
    of (1 + s_ij + s_ij^2 / 2).

    query and key [b, n, h, 16], value [b, n, h, dv], of one type, bf16 or fp16; dv is a multiple of
    16 to 256. scale None is 1 / 4. initial_states is a pair,
    fp32, the state [b, h, 153, dv] and with normalise the sums [b, h, 153], else None; with
    return_final_states o and such a pair come back. cu_seqlens as in linear_attention. Gradients
    reach all but cu_seqlens.
    """
    query, key, value = autocast(query, key, value)
    state, sums = initial_states or (None, None)
    o, state, sums = _features.based(
        query,
        key,
        value,
        state,
        sums,
        cu_seqlens,
        0.25 if scale is None else scale,
        normalise,
        repeat_kind(),
        return_final_states,
    )
    return (o, (state, sums if normalise else None)) if return_final_states else o


def hedgehog(
    query,
    key,
    value,
    map_q,
    map_k,
    alpha,
    beta,
    *,
    scale=None,
    initial_states=None,
    return_final_states=False,
    cu_seqlens_q=None,
    cu_seqlens_k=None,
    lengths=None,
    return_normaliser=False,
):
    """Hedgehog attention as LoLCATs has it: softmax within a window, linear attention by learned
    features on the tokens before it, one normaliser for both. With phi(x) = max([softmax(x map),
    softmax(-x map)], 1e-6), p_ij = beta exp(scale (q_i k_j - the window's largest q_i k_j)) and
    l_ij = alpha phi(q_i) phi(k_j): o_i = sum of (p_ij or l_ij) v_j / (1e-6 + sum of these).

    query [b, nq, h, 128], key and value [b, nk, h, 128], map_q and map_k [h, 128, 64], of one type,
    bf16 or fp16; alpha and beta [h] fp32, 0 or more. Tokens lie in blocks of 64; the window is the
    query's own block, up to it, and the block before. Queries are the last nq of nk tokens (more
    queries than tokens: the first ones' results may hold anything), or with lengths, int32 [b], the
    last of lengths[b]. scale None is 1 / sqrt(128).

    initial_states is a pair, fp32, kv [b, h, 128, 128] and k [b, h, 128], sums over tokens before
    the first key. With return_final_states o and such a pair come back: of the keys that are before
    the window of the next token, all but the last 64 + nk % 64. To go on, keep these keys and
    values, and give them before the next tokens'. With cu_seqlens_q, int32 [sequences + 1],
    sequences are packed; cu_seqlens_k is the same of keys, where it differs. Gradients reach all
    floating-point tensors. Under torch.autocast all but alpha, beta and states are cast.

    With return_normaliser what o is divided by comes back last, fp32 [b, h, nq], or packed [h, n];
    it has no gradient: it is as detached.
    """
    query, key, value, map_q, map_k = autocast(query, key, value, map_q, map_k)
    kv, k = initial_states or (None, None)
    o, kv, k, normaliser = _features.hedgehog(
        query,
        key,
        value,
        map_q,
        map_k,
        alpha,
        beta,
        kv,
        k,
        cu_seqlens_q,
        cu_seqlens_k,
        lengths,
        query.size(-1) ** -0.5 if scale is None else scale,
        repeat_kind(),
        return_final_states,
    )
    results = (o, (kv, k)) if return_final_states else (o,)
    results = (*results, normaliser) if return_normaliser else results
    return results if len(results) > 1 else o


def mamba2(
    x,
    dt,
    A,
    B,
    C,
    D=None,
    z=None,
    dt_bias=None,
    initial_states=None,
    dt_softplus=False,
    dt_limit=(0.0, math.inf),
    return_final_states=False,
    cu_seqlens=None,
):
    """The state space scan of Mamba-2 (SSD): S_t = exp(dt'_t A) S_(t-1) + dt'_t x_t B_t^T, y_t =
    S_t C_t + D x_t, and with z y_t silu(z_t), where dt' = dt + dt_bias, passed through softplus
    where asked for, and clamped to dt_limit.

    x and z [b, n, h, p], B and C [b, n, g, s], of one type, bf16 or fp16; g divides h, p and s are
    multiples of 16 to 256; dt [b, n, h] of that type or fp32; A and dt_bias [h], D [h] or [h, p],
    and states [b, h, p, s] are fp32. With return_final_states the pair (y, S_n) comes back;
    cu_seqlens as in linear_attention.
    """
    x, B, C, z = autocast(x, B, C, z)
    y, state = _sequences.mamba2(
        x,
        dt,
        A,
        B,
        C,
        D,
        z,
        dt_bias,
        initial_states,
        cu_seqlens,
        dt_softplus,
        float(dt_limit[0]),
        float(dt_limit[1]),
        repeat_kind(),
        return_final_states,
    )
    return (y, state) if return_final_states else y


def causal_conv1d(
    x,
    weight,
    bias=None,
    activation=None,
    initial_states=None,
    return_final_states=False,
    cu_seqlens=None,
):
    """A short causal convolution of each channel: y[t, c] = act(bias[c] + sum of weight[c, i] x[t -
    (w - 1) + i, c]).

    x [b, n, c], or [n, c], tokens before channels, of bf16, fp16 or fp32; weight [c, w], w 2 to 4,
    and bias [c], of that type or fp32; activation None or "silu". States are the last w - 1 tokens,
    [b, w - 1, c] of x's type; with return_final_states the pair (y, state) comes back. With
    cu_seqlens x is [n, c] of packed sequences.
    """
    kind = conv_activation(activation)
    if weight.dim() != 2 or x.dim() not in (2, 3):
        raise ValueError("causal_conv1d: x must be [b, n, c] or [n, c], and weight [c, w]")
    y, state = _sequences.conv1d(
        x, weight, bias, initial_states, cu_seqlens, kind, return_final_states
    )
    return (y, state) if return_final_states else y


def fft_filter(k, u, circular=False):
    """What fft_conv needs of the filters k, for its calls with filter=: their transforms, which are
    not made again then. A tensor of bytes, good for u of these h, n and type, of any b, for this
    circular, on this kind of device.

    k and u are as in fft_conv; of u its sizes and type count alone. Filters of up to 128 taps have no
    transforms, and need none. It has no gradient, and k must not change while it is used. TypeError
    for other types, ValueError for sizes that do not fit.
    """
    (u,) = autocast(u)
    return _convolutions.fft_filter(k.detach(), u.detach(), circular)


def fft_conv(u, k, pre=None, post=None, circular=False, *, filter=None):
    """Long convolution of each channel: y[b, c, t] = post sum over j of k[f, j] (u pre)[t - j], f =
    c h_k / h.

    u and the gates pre and post [b, h, n], or [h, n], of one type, bf16 or fp16; filters k fp32
    [h_k, nk], h a multiple of h_k. Causal, or circular modulo n. Any n to 2^24, by Fourier
    transforms; filters of up to 128 taps are applied directly. Gradients reach u, k and both gates.

    filter is what fft_filter made of k and of such a u; the transforms of k are not made again, here
    and in the gradients. It is not looked at whether k is still the same, but a filter of another
    size is a ValueError.
    """
    u, pre, post = autocast(u, pre, post)
    return _convolutions.fft_conv(u, k, pre, post, filter, circular)
