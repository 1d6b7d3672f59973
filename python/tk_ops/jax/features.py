# SPDX-License-Identifier: MIT
"""The functions of tk_ops.jax of linear attention by feature maps: Based, Hedgehog; `starts` as in
sequences.py."""

import jax.numpy as jnp

from tk_ops._options import BASED, HEDGEHOG

from ._library import if_wanted, launch, like, made, operator, or_zeros
from ._repeat import repeat_kind
from .sequences import sequences

__all__ = ["based", "hedgehog"]


# ---- Based ---------------------------------------------------------------------------------------
MOMENTS = 153  # 1, 16 elements, and 136 pairs of them


@operator
class series:
    def run(options, *arrays):
        scale, normalise, repeat, final_states = options
        fields = dict(zip(BASED, arrays, strict=True))
        q, v = fields["q"], fields["v"]
        shape = sequences(q, fields["starts"]), q.shape[-2], MOMENTS
        results = dict(
            o=like(v),
            final_state=made((*shape, v.shape[-1]), jnp.float32) if final_states else None,
            final_sums=made(shape, jnp.float32) if final_states and normalise else None,
        )
        found = launch(
            "based", fields, results, scale=scale, normalise=normalise, repeat=repeat
        )
        return (*map(found.get, results),), fields

    def backward(wanted, options, fields, dout, dfinal_state, dfinal_sums):
        scale, normalise, *_ = options
        states = dict(dfinal_state=dfinal_state, dfinal_sums=dfinal_sums)
        found = launch(
            "based_backward",
            dict(**fields, dout=or_zeros(dout, fields["v"]), **states),
            dict(
                dq=like(fields["q"]),
                dk=like(fields["k"]),
                dv=like(fields["v"]),
                dinitial_state=if_wanted(fields["initial_state"], wanted[3]),
                dinitial_sums=if_wanted(fields["initial_sums"], wanted[4]),
            ),
            scale=scale,
            normalise=normalise,
        )
        return *(found.get(f"d{name}") for name in BASED[:-1]), None


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
    16 to 256, with normalise and gradients to 240. scale None is 1 / 4. initial_states is a pair,
    fp32, the state [b, h, 153, dv] and with normalise the sums [b, h, 153], else None; with
    return_final_states o and such a pair come back. cu_seqlens, gradients and errors are as in
    linear_attention.
    """
    states = initial_states or (None, None)
    scale = 0.25 if scale is None else float(scale)
    options = scale, bool(normalise), repeat_kind(), bool(return_final_states)
    o, *states = series(options, query, key, value, *states, cu_seqlens)
    return (o, tuple(states)) if return_final_states else o


# ---- Hedgehog ------------------------------------------------------------------------------------
@operator
class mixture:
    def run(options, *arrays):
        scale, repeat, final_states = options
        fields = dict(zip(HEDGEHOG, arrays, strict=True))
        q, v = fields["q"], fields["v"]
        n, h, d = q.shape[-3:]
        shape = sequences(q, fields["starts"]), h, d
        results = dict(
            o=like(q),
            final_kv=made((*shape, v.shape[-1]), jnp.float32) if final_states else None,
            final_k=made(shape, jnp.float32) if final_states else None,
            normaliser=made((*q.shape[:-3], h, n), jnp.float32),
        )
        found = launch("hedgehog", fields, results, scale=scale, repeat=repeat)
        *results, normaliser = map(found.get, results)
        return tuple(results), (fields, found["o"], normaliser)

    def backward(wanted, options, saved, dout, dfinal_kv, dfinal_k):
        fields, o, normaliser = saved
        q, v = fields["q"], fields["v"]
        if (dfinal_kv is None) != (dfinal_k is None):
            shape = sequences(q, fields["starts"]), q.shape[-2], q.shape[-1]
            dfinal_kv = or_zeros(dfinal_kv, made((*shape, v.shape[-1]), jnp.float32))
            dfinal_k = or_zeros(dfinal_k, made(shape, jnp.float32))
        asked = [*wanted[:7], *[wanted[7] or wanted[8]] * 2]
        names = HEDGEHOG[:9]
        found = launch(
            "hedgehog_backward",
            dict(
                **fields,
                o=o,
                normaliser=normaliser,
                dout=or_zeros(dout, o),
                dfinal_kv=dfinal_kv,
                dfinal_k=dfinal_k,
            ),
            {
                f"d{name}": like(fields[name], None if i < 3 else jnp.float32)
                for i, name in enumerate(names)
                if i < 3 or asked[i]
            },
            scale=options[0],
        )
        if fields["starts"] is None:  # of more queries than keys some have no token, and get none
            n, lengths = q.shape[-3], fields["lengths"]
            count = fields["k"].shape[-3] if lengths is None else jnp.clip(lengths, 0)[:, None]
            has_token = jnp.arange(n) >= n - jnp.minimum(count, fields["k"].shape[-3])
            found["dq"] = jnp.where(has_token[..., None, None], found["dq"], 0)
        for name in "map_q", "map_k":
            if f"d{name}" in found:
                found[f"d{name}"] = found[f"d{name}"].astype(fields[name].dtype)
        return *(found.get(f"d{name}") for name in names), None, None, None


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
    floating-point arrays. TypeError for other types, ValueError for sizes that do not fit,
    NotImplementedError for other widths.
    """
    states = initial_states or (None, None)
    scale = query.shape[-1] ** -0.5 if scale is None else float(scale)
    options = scale, repeat_kind(), bool(return_final_states)
    arrays = query, key, value, map_q, map_k, alpha, beta, *states
    o, *states = mixture(options, *arrays, cu_seqlens_q, cu_seqlens_k, lengths)
    return (o, tuple(states)) if return_final_states else o
