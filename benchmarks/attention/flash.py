# SPDX-License-Identifier: MIT
"""FlashAttention-3 and -4 as peers, where PyTorch finds them: FlashAttention-3's operators are
loaded already (peers.py --flash3) or come with a package, FlashAttention-4 is flash_attn.cute.

Both take the tensors that TK takes, [b, n, h, d] or packed sequences, and align a causal mask and a
window to the last key as TK does; neither takes slopes or dropout. FlashAttention-4 compiles a
kernel at the first call of its kind. The backward reads o and lse of TK's own forward; lse is
natural in all.
"""
import functools
import importlib

import torch

from torch_cases import implementation, unavailable


def imported(*names):
    """The first of the modules that can be imported. What a package raises if it doesn't suit this
    machine is any exception at all."""
    failures = []
    for name in names:
        try:
            return importlib.import_module(name)
        except Exception as failure:
            failures.append(f"{name}: {failure!r}")
    raise unavailable("; ".join(failures))


@functools.cache
def flash3():
    if not hasattr(torch.ops.flash_attn_3, "fwd"):
        imported("flash_attn_3._C", "xformers.flash_attn_3._C")
    return torch.ops.flash_attn_3


@functools.cache
def flash4():
    return imported("flash_attn.cute.interface")


def sequences(x):
    """The arguments that say where packed sequences start."""
    if x.alibi is not None or x.dropout:
        raise NotImplementedError("it has neither slopes nor dropout")
    if not x.packed:
        return {}
    longest = max(x.lengths)
    return {"cu_seqlens_q": x.table, "cu_seqlens_k": x.table,
            "max_seqlen_q": longest, "max_seqlen_k": longest}


def options3(x):
    return {"softmax_scale": x.scale, "is_causal": x.mask == "causal", "softcap": x.softcap,
            "window_size_left": -1 if x.left is None else x.left, **sequences(x)}


def options4(x):
    return {"softmax_scale": x.scale, "causal": x.mask == "causal", "softcap": x.softcap,
            "window_size_left": x.left, **sequences(x)}


def forward_peers(x):
    """Of a case of the forward, packed or not. Both write lse, as TK does; it isn't compared."""
    q, k, v = (x.operands()[name] for name in "qkv")

    def call3():
        return flash3().fwd(q, k, v, num_splits=1, **options3(x))

    def call4():
        return flash4()._flash_attn_fwd(q, k, v, return_lse=True, **options4(x))

    def results(returned):
        return x.flat(returned[0]), None

    return [implementation("flash3", call3, results), implementation("flash4", call4, results)]


def backward_peers(case):
    """Of a case of the backward, packed or not."""
    x = case.forward
    q, k, v, o, lse = (x.operands()[name] for name in ("q", "k", "v", "o", "lse"))
    dout = x.shaped(case.dout)

    def call3(deterministic):
        return flash3().bwd(dout, q, k, v, o, lse, deterministic=deterministic, **options3(x))

    def call4():
        return flash4()._flash_attn_bwd(q, k, v, o, dout, lse, **options4(x))

    def results(returned):
        return [x.flat(y) for y in returned[:3]]

    return [implementation("flash3", functools.partial(call3, False), results),
            implementation("flash3_deterministic", functools.partial(call3, True), results),
            implementation("flash4", call4, results)]
