# SPDX-License-Identifier: MIT
"""The ops along sequences: linear attention, Mamba-2's scan, short convolutions.

`starts`, where given, are the first tokens of packed sequences, and tensors of tokens have no batch
then.
"""

import torch

from tk_ops._options import CONV1D, LINEAR_ATTENTION, MAMBA2

from ._library import contiguous, declared, fields_of, launch, like, operator, optional, rows


def sequences(x, starts):
    return x.size(0) if starts is None else starts.size(0) - 1


def wanted_of(made, wanted):
    return [x if is_wanted else None for x, is_wanted in zip(made, wanted, strict=True)]


def or_zeros(gradient, x):
    return torch.zeros_like(x) if gradient is None else gradient


# ---- linear attention ----------------------------------------------------------------------------
TENSORS = declared(LINEAR_ATTENTION, 3)


@operator
class linear_attention_backward:
    schema = (
        f"linear_attention_backward({TENSORS}, Tensor dout, Tensor? dfinal_state, float scale,"
        " bool dlog_decay, bool ddecay, bool dinitial_state)"
        " -> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)"
    )

    def made(q, k, v, log_decay, decay, initial_state, *others):
        return (
            like(q),
            like(k),
            like(v),
            *(
                optional(q if x is None else x, is_wanted)
                for x, is_wanted in zip((log_decay, decay, initial_state), others[-3:])
            ),
        )

    def launch(made, *arguments):
        dout, dfinal_state, scale, *wanted = arguments[7:]
        dq, dk, dv = made[:3]
        dlog_decay, ddecay, dinitial_state = wanted_of(made[3:], wanted)
        launch(
            "linear_attention_backward",
            **fields_of(LINEAR_ATTENTION, arguments[:7]),
            dout=rows(dout),
            dfinal_state=rows(dfinal_state),
            dq=dq,
            dk=dk,
            dv=dv,
            dlog_decay=dlog_decay,
            ddecay=ddecay,
            dinitial_state=dinitial_state,
            scale=scale,
        )


@operator
class linear_attention:
    schema = (
        f"linear_attention({TENSORS}, float scale, int repeat, bool final_state)"
        " -> (Tensor, Tensor)"
    )

    def made(q, k, v, log_decay, decay, initial_state, starts, scale, repeat, final_state):
        shape = sequences(q, starts), q.size(-2), q.size(-1), v.size(-1)
        return like(v), optional(q, final_state, shape, torch.float32)

    def launch(made, *arguments):
        scale, repeat, final_state = arguments[7:]
        launch(
            "linear_attention",
            **fields_of(LINEAR_ATTENTION, arguments[:7]),
            o=made[0],
            final_state=made[1] if final_state else None,
            scale=scale,
            repeat=repeat,
        )

    def saved(made, *arguments):
        return arguments[:7]

    def backward(wanted, saved, options, dout, dfinal_state):
        dout = or_zeros(dout, saved[2])
        return (
            *linear_attention_backward(*saved, dout, dfinal_state, options[0], *wanted[3:6]),
            None,
        )


# ---- Mamba-2 -------------------------------------------------------------------------------------
TENSORS = declared(MAMBA2, 5)


@operator
class mamba2_backward:
    schema = (
        f"mamba2_backward({TENSORS}, Tensor dy, Tensor? dfinal_state, bool dt_softplus,"
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
        dy, dfinal_state, softplus, low, high, *wanted = arguments[10:]
        results = *made[:5], *wanted_of(made[5:], wanted)
        launch(
            "mamba2_backward",
            **fields_of(MAMBA2, arguments[:10]),
            dy=rows(dy),
            dfinal_state=rows(dfinal_state),
            **{f"d{name}": x for name, x in zip(MAMBA2, results)},
            dt_softplus=softplus,
            dt_min=low,
            dt_max=high,
        )


@operator
class mamba2:
    schema = (
        f"mamba2({TENSORS}, bool dt_softplus, float dt_min, float dt_max, int repeat,"
        " bool final_state) -> (Tensor, Tensor)"
    )

    def made(x, dt, A, B, *others):
        shape = sequences(x, others[5]), x.size(-2), x.size(-1), B.size(-1)
        return like(x), optional(x, others[-1], shape, torch.float32)

    def launch(made, *arguments):
        softplus, low, high, repeat, final_state = arguments[10:]
        launch(
            "mamba2",
            **fields_of(MAMBA2, arguments[:10]),
            y=made[0],
            final_state=made[1] if final_state else None,
            dt_softplus=softplus,
            dt_min=low,
            dt_max=high,
            repeat=repeat,
        )

    def saved(made, *arguments):
        return arguments[:10]

    def backward(wanted, saved, options, dy, dfinal_state):
        dy = or_zeros(dy, saved[0])
        return *mamba2_backward(*saved, dy, dfinal_state, *options[:3], *wanted[5:9]), None


# ---- short convolutions --------------------------------------------------------------------------
TENSORS = declared(CONV1D, 2)


def fields_of_conv1d(x, weight, *others):
    return fields_of(CONV1D, (x, contiguous(weight), *others))


@operator
class conv1d_backward:
    schema = (
        f"conv1d_backward({TENSORS}, Tensor dy, Tensor? dfinal_state, int activation, bool dbias,"
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

    def launch(made, *arguments):
        dy, dfinal_state, activation, *wanted = arguments[5:]
        dbias, dinitial_state = wanted_of(made[2:], wanted)
        launch(
            "conv1d_backward",
            **fields_of_conv1d(*arguments[:5]),
            dy=rows(dy),
            dfinal_state=rows(dfinal_state),
            dx=made[0],
            dweight=made[1],
            dbias=dbias,
            dinitial_state=dinitial_state,
            activation=activation,
        )


@operator
class conv1d:
    schema = f"conv1d({TENSORS}, int activation, bool final_state) -> (Tensor, Tensor)"

    def made(x, weight, bias, initial_state, starts, activation, final_state):
        shape = weight.size(1) - 1, x.size(-1)
        if starts is not None or x.dim() == 3:
            shape = sequences(x, starts), *shape
        return like(x), optional(x, final_state, shape)

    def launch(made, *arguments):
        activation, final_state = arguments[5:]
        launch(
            "conv1d",
            **fields_of_conv1d(*arguments[:5]),
            y=made[0],
            final_state=made[1] if final_state else None,
            activation=activation,
        )

    def saved(made, *arguments):
        return arguments[:5]

    def backward(wanted, saved, options, dy, dfinal_state):
        dy = or_zeros(dy, saved[0])
        return *conv1d_backward(*saved, dy, dfinal_state, options[0], *wanted[2:4]), None
