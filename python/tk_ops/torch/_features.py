# SPDX-License-Identifier: MIT
"""The ops of linear attention by feature maps: Based, Hedgehog; `starts` as in _sequences.py."""

import torch

from tk_ops._options import BASED, HEDGEHOG

from ._library import declared, fields_of, launch, like, operator, optional, rows
from ._sequences import or_zeros, sequences, wanted_of

# ---- Based ---------------------------------------------------------------------------------------
MOMENTS = 153  # 1, 16 elements, and 136 pairs of them
TENSORS = declared(BASED, 3)


@operator
class based_backward:
    schema = (
        f"based_backward({TENSORS}, Tensor dout, Tensor? dfinal_state, Tensor? dfinal_sums,"
        " float scale, bool normalise, bool dinitial_state, bool dinitial_sums)"
        " -> (Tensor, Tensor, Tensor, Tensor, Tensor)"
    )

    def made(q, k, v, initial_state, initial_sums, *others):
        return (
            like(q),
            like(k),
            like(v),
            optional(q if initial_state is None else initial_state, others[-2]),
            optional(q if initial_sums is None else initial_sums, others[-1]),
        )

    def launch(made, *arguments):
        dout, dfinal_state, dfinal_sums, scale, normalise, *wanted = arguments[6:]
        dinitial_state, dinitial_sums = wanted_of(made[3:], wanted)
        launch(
            "based_backward",
            **fields_of(BASED, arguments[:6]),
            dout=rows(dout),
            dq=made[0],
            dk=made[1],
            dv=made[2],
            dfinal_state=rows(dfinal_state),
            dfinal_sums=rows(dfinal_sums),
            dinitial_state=dinitial_state,
            dinitial_sums=dinitial_sums,
            scale=scale,
            normalise=normalise,
        )


@operator
class based:
    schema = (
        f"based({TENSORS}, float scale, bool normalise, int repeat, bool final_state)"
        " -> (Tensor, Tensor, Tensor)"
    )

    def made(q, k, v, initial_state, initial_sums, starts, scale, normalise, repeat, final_state):
        shape = sequences(q, starts), q.size(-2), MOMENTS
        return (
            like(v),
            optional(q, final_state, (*shape, v.size(-1)), torch.float32),
            optional(q, final_state and normalise, shape, torch.float32),
        )

    def launch(made, *arguments):
        scale, normalise, repeat, final_state = arguments[6:]
        launch(
            "based",
            **fields_of(BASED, arguments[:6]),
            o=made[0],
            final_state=made[1] if final_state else None,
            final_sums=made[2] if final_state and normalise else None,
            scale=scale,
            normalise=normalise,
            repeat=repeat,
        )

    def saved(made, *arguments):
        return arguments[:6]

    def backward(wanted, saved, options, dout, dfinal_state, dfinal_sums):
        dout = or_zeros(dout, saved[2])
        scale, normalise, *_ = options
        found = based_backward(
            *saved, dout, dfinal_state, dfinal_sums, scale, normalise, *wanted[3:5]
        )
        return *found, None


# ---- Hedgehog ------------------------------------------------------------------------------------
TENSORS = declared(HEDGEHOG, 7)


@operator
class hedgehog_backward:
    schema = (
        f"hedgehog_backward({TENSORS}, Tensor o, Tensor normaliser, Tensor dout,"
        " Tensor? dfinal_kv, Tensor? dfinal_k, float scale, bool dmap_q, bool dmap_k, bool dalpha,"
        " bool dbeta, bool dinitial)"
        " -> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)"
    )

    def made(q, k, v, *others):
        initial = [q if x is None else x for x in others[4:6]]
        key_starts, lengths = others[7:9]
        # Of more queries than keys some have no token, and get none.
        has_all = key_starts is None and lengths is None and q.size(-3) <= k.size(-3)
        dq = like(q) if has_all else like(q).zero_()
        return (
            dq,
            like(k),
            like(v),
            *(
                optional(x, is_wanted, dtype=torch.float32)
                for x, is_wanted in zip((*others[:4], *initial), (*others[-5:], others[-1]))
            ),
        )

    def launch(made, *arguments):
        o, normaliser, dout, dfinal_kv, dfinal_k, scale, *wanted = arguments[12:]
        names = "dmap_q", "dmap_k", "dalpha", "dbeta", "dinitial_kv", "dinitial_k"
        launch(
            "hedgehog_backward",
            **fields_of(HEDGEHOG, arguments[:12]),
            o=rows(o),
            normaliser=rows(normaliser),
            dout=rows(dout),
            dq=made[0],
            dk=made[1],
            dv=made[2],
            dfinal_kv=rows(dfinal_kv),
            dfinal_k=rows(dfinal_k),
            **dict(zip(names, wanted_of(made[3:], (*wanted, wanted[-1])))),
            scale=scale,
        )


@operator
class hedgehog:
    schema = (
        f"hedgehog({TENSORS}, float scale, int repeat, bool final_state)"
        " -> (Tensor, Tensor, Tensor, Tensor)"
    )
    constants = 1

    def made(q, k, v, *others):
        final_state, starts = others[-1], others[6]
        h, d = q.size(-2), q.size(-1)
        count = sequences(q, starts)
        return (
            like(q),
            optional(q, final_state, (count, h, d, v.size(-1)), torch.float32),
            optional(q, final_state, (count, h, d), torch.float32),
            q.new_empty(*q.shape[:-3], h, q.size(-3), dtype=torch.float32),
        )

    def launch(made, *arguments):
        scale, repeat, final_state = arguments[12:]
        launch(
            "hedgehog",
            **fields_of(HEDGEHOG, arguments[:12]),
            o=made[0],
            final_kv=made[1] if final_state else None,
            final_k=made[2] if final_state else None,
            normaliser=made[3],
            scale=scale,
            repeat=repeat,
        )

    def saved(made, *arguments):
        return *arguments[:12], made[0], made[3]

    def backward(wanted, saved, options, dout, dfinal_kv, dfinal_k, _):
        inputs, o, normaliser = saved[:12], *saved[12:]
        if (dfinal_kv is None) != (dfinal_k is None):
            states = inputs[0].size(-1), inputs[2].size(-1)
            count = sequences(inputs[0], inputs[9]), inputs[0].size(-2)
            if dfinal_kv is None:
                dfinal_kv = dfinal_k.new_zeros(*count, *states)
            else:
                dfinal_k = dfinal_kv.new_zeros(*count, states[0])
        found = hedgehog_backward(
            *inputs,
            o,
            normaliser,
            or_zeros(dout, o),
            dfinal_kv,
            dfinal_k,
            options[0],
            *wanted[3:7],
            wanted[7] or wanted[8],
        )
        dmaps = (x.to(inputs[3].dtype) for x in found[3:5])
        return *found[:3], *dmaps, *found[5:], None, None, None
