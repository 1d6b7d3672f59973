# SPDX-License-Identifier: MIT
"""TK's attention for models of transformers:

    import tk_ops.transformers
    tk_ops.transformers.register()
    model = AutoModelForCausalLM.from_pretrained(
        name, dtype=torch.bfloat16, attn_implementation="tk")

Heads are grouped without copies of keys, softcaps and sinks are the kernel's own. Where a causal
mask will do there is none in memory; padding, static caches and sequences longer than a sliding
window have one, [b or 1, 1, nq, nk], made once for all layers. bf16 and fp16, heads that are
multiples of 8 to 256.
"""

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import sdpa_mask

from .torch.functional import attention, bias_of, bias_of_bool


def attention_forward(
    module,
    query,
    key,
    value,
    attention_mask,
    dropout=0.0,
    scaling=None,
    is_causal=None,
    softcap=None,
    s_aux=None,
    position_bias=None,
    **_,
):
    """What a layer of a model calls: query [b, hq, nq, d], key and value [b, hk, nk, d],
    attention_mask of bool, or to be added, or None; s_aux sinks [hq], position_bias to be added.
    Returns the output [b, nq, hq, d], and no weights."""
    nq = query.size(2)
    if is_causal is None:
        is_causal = getattr(module, "is_causal", True)
    causal = nq > 1 and attention_mask is None and is_causal
    if causal and key.size(2) > nq:  # an empty static cache: query i sees keys to i
        key, value = key[:, :, :nq], value[:, :, :nq]
        position_bias = None if position_bias is None else position_bias[..., :nq]
    bias = None if attention_mask is None else bias_of(attention_mask, query, key.size(2))
    if position_bias is not None:
        bias = position_bias if bias is None else position_bias + bias
    o = attention(
        query.transpose(1, 2),
        key.transpose(1, 2),
        value.transpose(1, 2),
        causal=causal,
        scale=scaling,
        softcap=softcap or 0.0,
        bias=bias,
        sinks=None if s_aux is None else s_aux.float(),
        dropout_p=dropout,
    )
    return o, None


def attention_mask(*arguments, dtype=torch.float32, **options):
    """What a model calls once for all its layers: the mask of "sdpa" as a bias, or None."""
    mask = sdpa_mask(*arguments, **options)
    if mask is None:
        return None
    return bias_of_bool(mask[:1] if mask.stride(0) == 0 else mask, dtype)


def register(name="tk"):
    """Makes `name` an attn_implementation of every model that takes one."""
    AttentionInterface.register(name, attention_forward)
    AttentionMaskInterface.register(name, attention_mask)
