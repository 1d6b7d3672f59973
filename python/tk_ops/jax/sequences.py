# SPDX-License-Identifier: MIT
"""The functions of tk_ops.jax along sequences: linear attention, Mamba-2's scan, convolutions.

`starts`, where given, are the first tokens of packed sequences, and tensors of tokens have no batch
then.
"""

import math

import jax.numpy as jnp

from tk_ops._options import CONV1D, FFT_CONV, LINEAR_ATTENTION, MAMBA2, conv_activation

from ._library import if_wanted, launch, like, made, operator, or_zeros
from ._repeat import repeat_kind

__all__ = ["causal_conv1d", "fft_conv", "linear_attention", "mamba2"]


def sequences(x, starts):
    return x.shape[0] if starts is None else starts.shape[0] - 1


# ---- linear attention ----------------------------------------------------------------------------
@operator
class scan:
    def run(options, *arrays):
        scale, repeat, final_state = options
        fields = dict(zip(LINEAR_ATTENTION, arrays, strict=True))
        q, v = fields["q"], fields["v"]
        shape = sequences(q, fields["starts"]), q.shape[-2], q.shape[-1], v.shape[-1]
        state = made(shape, jnp.float32) if final_state else None
        results = dict(o=like(v), final_state=state)
        found = launch("linear_attention", fields, results, scale=scale, repeat=repeat)
        return (found["o"], found.get("final_state")), fields

    def backward(wanted, options, fields, dout, dfinal_state=None):
        dout = or_zeros(dout, fields["v"])
        found = launch(
            "linear_attention_backward",
            dict(**fields, dout=dout, dfinal_state=dfinal_state),
            dict(
                dq=like(fields["q"]),
                dk=like(fields["k"]),
                dv=like(fields["v"]),
                dlog_decay=if_wanted(fields["log_decay"], wanted[3]),
                ddecay=if_wanted(fields["decay"], wanted[4]),
                dinitial_state=if_wanted(fields["initial_state"], wanted[5]),
            ),
            scale=options[0],
        )
        return *(found.get(f"d{name}") for name in LINEAR_ATTENTION[:-1]), None


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
    and states have one for each sequence. Gradients reach all but cu_seqlens. TypeError for other
    types, ValueError for sizes that do not fit, NotImplementedError for other d and dv.
    """
    scale = query.shape[-1] ** -0.5 if scale is None else float(scale)
    options = scale, repeat_kind(), bool(return_final_state)
    arrays = query, key, value, log_decay, decay, initial_state, cu_seqlens
    found = scan(options, *arrays)
    return found if return_final_state else found[0]


# ---- Mamba-2 -------------------------------------------------------------------------------------
@operator
class ssd:
    def run(options, *arrays):
        dt_softplus, dt_min, dt_max, repeat, final_state = options
        fields = dict(zip(MAMBA2, arrays, strict=True))
        x = fields["x"]
        shape = sequences(x, fields["starts"]), *x.shape[-2:], fields["B"].shape[-1]
        state = made(shape, jnp.float32) if final_state else None
        found = launch(
            "mamba2",
            fields,
            dict(y=like(x), final_state=state),
            dt_softplus=dt_softplus,
            dt_min=dt_min,
            dt_max=dt_max,
            repeat=repeat,
        )
        return (found["y"], found.get("final_state")), fields

    def backward(wanted, options, fields, dy, dfinal_state=None):
        dt_softplus, dt_min, dt_max, *_ = options
        names = MAMBA2[:-1]
        asked = [True] * 5 + list(wanted[5:9])  # the kernel makes the first five in any case
        found = launch(
            "mamba2_backward",
            dict(**fields, dy=or_zeros(dy, fields["x"]), dfinal_state=dfinal_state),
            {f"d{name}": if_wanted(fields[name], asked[i]) for i, name in enumerate(names)},
            dt_softplus=dt_softplus,
            dt_min=dt_min,
            dt_max=dt_max,
        )
        return *(found.get(f"d{name}") for name in names), None


def mamba2(
    x,
    dt,
    A,
    B,
    C,
    D=None,
    z=None,
    dt_bias=None,
    *,
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
    cu_seqlens, gradients and errors are as in linear_attention.
    """
    low, high = dt_limit
    numbers = bool(dt_softplus), float(low), float(high)
    options = *numbers, repeat_kind(), bool(return_final_states)
    found = ssd(options, x, dt, A, B, C, D, z, dt_bias, initial_states, cu_seqlens)
    return found if return_final_states else found[0]


# ---- short convolutions --------------------------------------------------------------------------
@operator
class conv1d:
    def run(options, *arrays):
        activation, final_state = options
        fields = dict(zip(CONV1D, arrays, strict=True))
        x, starts = fields["x"], fields["starts"]
        shape = fields["weight"].shape[1] - 1, x.shape[-1]
        if starts is not None or x.ndim == 3:
            shape = sequences(x, starts), *shape
        state = made(shape, x.dtype) if final_state else None
        results = dict(y=like(x), final_state=state)
        found = launch("conv1d", fields, results, activation=activation)
        return (found["y"], found.get("final_state")), fields

    def backward(wanted, options, fields, dy, dfinal_state=None):
        found = launch(
            "conv1d_backward",
            dict(**fields, dy=or_zeros(dy, fields["x"]), dfinal_state=dfinal_state),
            dict(
                dx=like(fields["x"]),
                dweight=like(fields["weight"]),
                dbias=if_wanted(fields["bias"], wanted[2]),
                dinitial_state=if_wanted(fields["initial_state"], wanted[3]),
            ),
            activation=options[0],
        )
        return *(found.get(f"d{name}") for name in CONV1D[:-1]), None


def causal_conv1d(
    x,
    weight,
    bias=None,
    *,
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
    cu_seqlens, int32 [sequences + 1], x is [n, c] of packed sequences. TypeError for other types,
    ValueError for sizes and activations that do not fit.
    """
    kind = conv_activation(activation)
    if weight.ndim != 2 or x.ndim not in (2, 3):
        raise ValueError("causal_conv1d: x must be [b, n, c] or [n, c], and weight [c, w]")
    options = kind, bool(return_final_states)
    found = conv1d(options, x, weight, bias, initial_states, cu_seqlens)
    return found if return_final_states else found[0]


# ---- long convolutions ---------------------------------------------------------------------------
@operator
class convolution:
    def run(circular, *arrays):
        fields = dict(zip(FFT_CONV, arrays, strict=True))
        found = launch("fft_conv", fields, dict(y=like(fields["u"])), circular=circular)
        return found["y"], fields

    def backward(wanted, circular, fields, dy):
        results = {
            f"d{name}": if_wanted(fields[name], is_wanted)
            for name, is_wanted in zip(FFT_CONV, wanted, strict=True)
        }
        found = launch("fft_conv_backward", dict(**fields, dy=dy), results, circular=circular)
        return (*map(found.get, results),)


def fft_conv(u, k, pre=None, post=None, *, circular=False):
    """Long convolution of each channel: y[b, c, t] = post sum over j of k[f, j] (u pre)[t - j], f =
    c h_k / h.

    u and the gates pre and post [b, h, n], or [h, n], of one type, bf16 or fp16; filters k fp32
    [h_k, nk], h a multiple of h_k. Causal, or circular modulo n. Any n to 2^24, by Fourier
    transforms; filters of up to 128 taps are applied directly. Gradients reach u, k and both gates.
    TypeError for other types, ValueError for sizes that do not fit.
    """
    return convolution(bool(circular), u, k, pre, post)
