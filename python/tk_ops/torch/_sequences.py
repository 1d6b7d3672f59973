# SPDX-License-Identifier: MIT
"""The ops along sequences: linear attention, Mamba-2's scan, short and long convolutions.

`starts`, where given, are the first tokens of packed sequences, and tensors of tokens have no batch
then.
"""

import torch

from ._library import contiguous, launch, like, operator, optional, rows


def sequences(x, starts):
    return x.size(0) if starts is None else starts.size(0) - 1


def wanted_of(made, wanted):
    return [x if is_wanted else None for x, is_wanted in zip(made, wanted, strict=True)]


def or_zeros(gradient, x):
    return torch.zeros_like(x) if gradient is None else gradient


# ---- linear attention ----------------------------------------------------------------------------
@operator
class linear_attention_backward:
    schema = (
        "linear_attention_backward(Tensor q, Tensor k, Tensor v, Tensor? log_decay, Tensor? decay,"
        " Tensor? initial_state, Tensor? starts, Tensor dout, Tensor? dfinal_state, float scale,"
        " bool dlog_decay, bool ddecay, bool dinitial_state)"
        " -> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)"
    )

    def made(q, k, v, log_decay, decay, initial_state, starts, dout, dfinal_state, scale, *wanted):
        return (
            like(q),
            like(k),
            like(v),
            *(
                optional(q if x is None else x, is_wanted)
                for x, is_wanted in zip((log_decay, decay, initial_state), wanted)
            ),
        )

    def launch(
        made, q, k, v, log_decay, decay, initial_state, starts, dout, dfinal_state, scale, *wanted
    ):
        dq, dk, dv = made[:3]
        dlog_decay, ddecay, dinitial_state = wanted_of(made[3:], wanted)
        launch(
            "linear_attention_backward",
            q=rows(q),
            k=rows(k),
            v=rows(v),
            dout=rows(dout),
            dq=dq,
            dk=dk,
            dv=dv,
            log_decay=rows(log_decay),
            decay=rows(decay),
            initial_state=rows(initial_state),
            dfinal_state=rows(dfinal_state),
            dinitial_state=dinitial_state,
            dlog_decay=dlog_decay,
            ddecay=ddecay,
            starts=starts,
            scale=scale,
        )


@operator
class linear_attention:
    schema = (
        "linear_attention(Tensor q, Tensor k, Tensor v, Tensor? log_decay, Tensor? decay,"
        " Tensor? initial_state, Tensor? starts, float scale, bool final_state) -> (Tensor, Tensor)"
    )

    def made(q, k, v, log_decay, decay, initial_state, starts, scale, final_state):
        shape = sequences(q, starts), q.size(-2), q.size(-1), v.size(-1)
        return like(v), optional(q, final_state, shape, torch.float32)

    def launch(made, q, k, v, log_decay, decay, initial_state, starts, scale, final_state):
        launch(
            "linear_attention",
            q=rows(q),
            k=rows(k),
            v=rows(v),
            o=made[0],
            log_decay=rows(log_decay),
            decay=rows(decay),
            initial_state=rows(initial_state),
            final_state=made[1] if final_state else None,
            starts=starts,
            scale=scale,
        )

    def saved(made, q, k, v, log_decay, decay, initial_state, starts, *options):
        return q, k, v, log_decay, decay, initial_state, starts

    def backward(wanted, saved, options, dout, dfinal_state):
        dout = or_zeros(dout, saved[2])
        return (
            *linear_attention_backward(*saved, dout, dfinal_state, options[0], *wanted[3:6]),
            None,
        )


# ---- Mamba-2 -------------------------------------------------------------------------------------
MAMBA2 = (
    "Tensor x, Tensor dt, Tensor A, Tensor B, Tensor C, Tensor? D, Tensor? z, Tensor? dt_bias,"
    " Tensor? initial_state, Tensor? starts"
)


def fields_of_mamba2(x, dt, A, B, C, D, z, dt_bias, initial_state, starts):
    return dict(
        x=rows(x),
        dt=rows(dt),
        A=rows(A),
        B=rows(B),
        C=rows(C),
        D=rows(D),
        z=rows(z),
        dt_bias=rows(dt_bias),
        initial_state=rows(initial_state),
        starts=starts,
    )


@operator
class mamba2_backward:
    schema = (
        f"mamba2_backward({MAMBA2}, Tensor dy, Tensor? dfinal_state, bool dt_softplus,"
        " float dt_min, float dt_max, bool dD, bool dz, bool ddt_bias, bool dinitial_state)"
        " -> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)"
    )

    def made(*arguments):
        return (
            *map(like, arguments[:5]),
            *(
                optional(arguments[0] if x is None else x, is_wanted)
                for x, is_wanted in zip(arguments[5:9], arguments[-4:])
            ),
        )

    def launch(made, *arguments):
        dy, dfinal_state, softplus, low, high = arguments[10:15]
        dx, ddt, dA, dB, dC = made[:5]
        dD, dz, ddt_bias, dinitial_state = wanted_of(made[5:], arguments[-4:])
        launch(
            "mamba2_backward",
            **fields_of_mamba2(*arguments[:10]),
            dy=rows(dy),
            dx=dx,
            ddt=ddt,
            dA=dA,
            dB=dB,
            dC=dC,
            dD=dD,
            dz=dz,
            ddt_bias=ddt_bias,
            dfinal_state=rows(dfinal_state),
            dinitial_state=dinitial_state,
            dt_softplus=softplus,
            dt_min=low,
            dt_max=high,
        )


@operator
class mamba2:
    schema = (
        f"mamba2({MAMBA2}, bool dt_softplus, float dt_min, float dt_max, bool final_state)"
        " -> (Tensor, Tensor)"
    )

    def made(x, dt, A, B, *others):
        shape = sequences(x, others[5]), x.size(-2), x.size(-1), B.size(-1)
        return like(x), optional(x, others[-1], shape, torch.float32)

    def launch(made, *arguments):
        softplus, low, high, final_state = arguments[10:]
        launch(
            "mamba2",
            **fields_of_mamba2(*arguments[:10]),
            y=made[0],
            final_state=made[1] if final_state else None,
            dt_softplus=softplus,
            dt_min=low,
            dt_max=high,
        )

    def saved(made, *arguments):
        return arguments[:10]

    def backward(wanted, saved, options, dy, dfinal_state):
        dy = or_zeros(dy, saved[0])
        return *mamba2_backward(*saved, dy, dfinal_state, *options[:3], *wanted[5:9]), None


# ---- short convolutions --------------------------------------------------------------------------
CONV1D = "Tensor x, Tensor weight, Tensor? bias, Tensor? initial_state, Tensor? starts"


@operator
class conv1d_backward:
    schema = (
        f"conv1d_backward({CONV1D}, Tensor dy, Tensor? dfinal_state, int activation, bool dbias,"
        " bool dinitial_state) -> (Tensor, Tensor, Tensor, Tensor)"
    )

    def made(x, weight, bias, initial_state, starts, dy, dfinal_state, activation, *wanted):
        return (
            like(x),
            like(weight),
            *(
                optional(x if of is None else of, is_wanted)
                for of, is_wanted in zip((bias, initial_state), wanted)
            ),
        )

    def launch(made, x, weight, bias, initial_state, starts, dy, dfinal_state, activation, *wanted):
        dbias, dinitial_state = wanted_of(made[2:], wanted)
        launch(
            "conv1d_backward",
            x=rows(x),
            weight=contiguous(weight),
            bias=contiguous(bias),
            dy=rows(dy),
            initial_state=rows(initial_state),
            dfinal_state=rows(dfinal_state),
            starts=starts,
            dx=made[0],
            dweight=made[1],
            dbias=dbias,
            dinitial_state=dinitial_state,
            activation=activation,
        )


@operator
class conv1d:
    schema = f"conv1d({CONV1D}, int activation, bool final_state) -> (Tensor, Tensor)"

    def made(x, weight, bias, initial_state, starts, activation, final_state):
        shape = weight.size(1) - 1, x.size(-1)
        if starts is not None or x.dim() == 3:
            shape = sequences(x, starts), *shape
        return like(x), optional(x, final_state, shape)

    def launch(made, x, weight, bias, initial_state, starts, activation, final_state):
        launch(
            "conv1d",
            x=rows(x),
            weight=contiguous(weight),
            bias=contiguous(bias),
            y=made[0],
            initial_state=rows(initial_state),
            final_state=made[1] if final_state else None,
            starts=starts,
            activation=activation,
        )

    def saved(made, x, weight, bias, initial_state, starts, *options):
        return x, weight, bias, initial_state, starts

    def backward(wanted, saved, options, dy, dfinal_state):
        dy = or_zeros(dy, saved[0])
        return *conv1d_backward(*saved, dy, dfinal_state, options[0], *wanted[2:4]), None


# ---- long convolutions ---------------------------------------------------------------------------
@operator
class fft_conv_backward:
    schema = (
        "fft_conv_backward(Tensor u, Tensor k, Tensor? pre, Tensor? post, Tensor dy, bool circular,"
        " bool du, bool dk, bool dpre, bool dpost) -> (Tensor, Tensor, Tensor, Tensor)"
    )

    def made(u, k, pre, post, dy, circular, *wanted):
        return tuple(optional(k if i == 1 else u, is_wanted) for i, is_wanted in enumerate(wanted))

    def launch(made, u, k, pre, post, dy, circular, *wanted):
        du, dk, dpre, dpost = wanted_of(made, wanted)
        launch(
            "fft_conv_backward",
            u=rows(u),
            k=rows(k),
            dy=rows(dy),
            pre=rows(pre),
            post=rows(post),
            du=du,
            dk=dk,
            dpre=dpre,
            dpost=dpost,
            circular=circular,
        )


@operator
class fft_conv:
    schema = "fft_conv(Tensor u, Tensor k, Tensor? pre, Tensor? post, bool circular) -> Tensor"

    def made(u, k, pre, post, circular):
        return like(u)

    def launch(y, u, k, pre, post, circular):
        launch(
            "fft_conv",
            u=rows(u),
            k=rows(k),
            y=y,
            pre=rows(pre),
            post=rows(post),
            circular=circular,
        )

    def saved(y, u, k, pre, post, circular):
        return u, k, pre, post

    def backward(wanted, saved, options, dy):
        return fft_conv_backward(*saved, dy, *options, *wanted)
