# SPDX-License-Identifier: MIT
"""TK's attention for models of transformers:

    import tk_ops.transformers
    tk_ops.transformers.register()
    model = AutoModelForCausalLM.from_pretrained(
        name, dtype=torch.bfloat16, attn_implementation="tk")

Heads are grouped without copies of keys, softcaps and sinks are the kernel's own. Where a causal
mask will do there is none in memory; padding, static caches, packed sequences that only positions
tell apart, and sequences longer than a sliding window have one, [b or 1, 1, nq, nk], made once for
all layers. bf16 and fp16, heads that are
multiples of 8 to 256.

    print(tk_ops.transformers.replace(model))

makes norms, gated units, rotary embedding, linear and embedding layers and the loss TK's, too, and
says what it left and why.
"""

import functools
import sys

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.activations import GELUActivation, GELUTanh, SiLUActivation
from transformers.loss.loss_utils import ForCausalLMLoss
from transformers.masking_utils import sdpa_mask
from transformers.modeling_utils import PreTrainedModel
from transformers.pytorch_utils import Conv1D

from . import torch as tk
from ._model_functions import FUNCTIONS, distance, replace_function
from .torch.functional import attention, bias_of, bias_of_bool
from .torch.replace import HALVES, Report

__all__ = ["attention_forward", "attention_mask", "register", "replace"]


SCORES = {"alibi", "attn_bias", "head_mask", "layer_head_mask", "sinks"}
"""What some layers give that changes scores."""


def is_chunked(module):
    """Whether a layer sees chunks, of which nothing but its mask tells."""
    kinds = getattr(getattr(module, "config", None), "layer_types", None)
    place = getattr(module, "layer_idx", None)
    return bool(kinds) and place is not None and kinds[place] == "chunked_attention"


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
    sliding_window=None,
    cu_seq_lens_q=None,
    cu_seq_lens_k=None,
    max_length_q=0,
    max_length_k=0,
    **others,
):
    """What a layer of a model calls: query [b, hq, nq, d], key and value [b, hk, nk, d],
    attention_mask of bool, or to be added, or None; s_aux sinks [hq], position_bias to be added.
    Returns the output [b, nq, hq, d], and no weights.

    With cu_seq_lens_q and cu_seq_lens_k, int32 [sequences + 1], as a collator gives them beside
    packed sequences (b is 1), these and the layer's sliding_window say what is seen, no mask does,
    but in layers of chunks.
    """
    for name in SCORES & others.keys():
        if others[name] is not None:
            raise NotImplementedError(f"attention: TK's takes no {name}")
    nq = query.size(2)
    if is_causal is None:
        is_causal = getattr(module, "is_causal", True)
    sinks = None if s_aux is None else s_aux.float()
    if cu_seq_lens_q is not None and position_bias is None and not is_chunked(module):
        if query.size(0) != 1:
            raise ValueError(f"attention: packed sequences are a batch of 1, not {query.size(0)}")
        right = None if is_causal or sliding_window is None else sliding_window - 1
        o = attention(
            *(x[0].transpose(0, 1) for x in (query, key, value)),
            causal=is_causal,
            window=None if sliding_window is None else (sliding_window - 1, right),
            scale=scaling,
            softcap=softcap or 0.0,
            sinks=sinks,
            dropout_p=dropout,
            cu_seqlens_q=cu_seq_lens_q,
            cu_seqlens_k=cu_seq_lens_k,
            max_seqlen_q=max_length_q or 0,
            max_seqlen_k=max_length_k or 0,
        )
        return o[None], None
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
        sinks=sinks,
        dropout_p=dropout,
    )
    return o, None


KNOWS = {}
"""Of types of configurations what says_is_causal() found: torch.compile looks through caches."""


@torch.compiler.assume_constant_result
def says_is_causal(configuration):
    """Whether the layers of a model say by is_causal what "sdpa" is to see where there is no mask:
    those of models that know "sdpa" do."""
    if configuration not in KNOWS:
        name = configuration.__module__.replace("configuration_", "modeling_")
        models = vars(sys.modules[name]).values() if name in sys.modules else ()
        KNOWS[configuration] = any(
            isinstance(x, type) and issubclass(x, PreTrainedModel) and x._supports_sdpa
            for x in models
        )
    return KNOWS[configuration]


def attention_mask(*arguments, dtype=torch.float32, config=None, **options):
    """What a model calls once for all its layers: the mask of "sdpa" as a bias, or None."""
    if config is None or not says_is_causal(type(config)):
        options["allow_is_causal_skip"] = False
    mask = sdpa_mask(*arguments, config=config, **options)
    if mask is None:
        return None
    return bias_of_bool(mask[:1] if mask.stride(0) == 0 else mask, dtype)


def register(name="tk"):
    """Makes `name` an attn_implementation of every model that takes one."""
    AttentionInterface.register(name, attention_forward)
    AttentionMaskInterface.register(name, attention_mask)


# ---- the other layers of a model
def norm_forwards(module):
    """What a norm of a model may mean by its weight and eps."""
    eps = getattr(module, "variance_epsilon", None) or module.eps
    yield functools.partial(norm_forward, module, eps=eps)
    yield functools.partial(norm_of_more_forward, module, eps=eps)


def norm_forward(module, x, eps):
    return tk.rms_norm(x, module.weight.shape, module.weight.to(x.dtype), eps)


def norm_of_more_forward(module, x, eps):
    return tk.rms_norm(x, module.weight.shape, 1 + module.weight.float(), eps)


def gated_forwards(module):
    if isinstance(module.act_fn, torch.nn.SiLU | SiLUActivation):
        gate = tk.swiglu
    elif isinstance(module.act_fn, GELUTanh):
        gate = functools.partial(tk.geglu, approximate="tanh")
    elif isinstance(module.act_fn, torch.nn.GELU | GELUActivation):
        gate = tk.geglu
    else:
        raise NotImplementedError(f"{type(module.act_fn).__name__} is no gate of TK's")
    yield functools.partial(gated_forward, module, gate=gate)


def gated_forward(module, x, gate):
    return module.down_proj(gate(module.gate_proj(x), module.up_proj(x)))


def conv1d_forward(module, x):
    return tk.linear(x, module.weight.t(), module.bias)


LAYERS = {
    Conv1D: conv1d_forward,
    torch.nn.Linear: tk.Linear.forward,
    torch.nn.Embedding: tk.Embedding.forward,
    torch.nn.LayerNorm: tk.LayerNorm.forward,
}


def give(module, forward, **options):
    """Has a function compute a module, and copies of it, whose weights are their own."""
    module.forward = functools.partial(forward, module, **options)
    module._replicate_for_data_parallel = functools.partial(replica_of, module)


def replica_of(module):
    """For torch.nn.DataParallel."""
    replica = type(module)._replicate_for_data_parallel(module)
    give(replica, module.forward.func, **module.forward.keywords)
    return replica


def replace_module(module):
    """Gives a layer a forward of TK's. NotImplementedError where there is none for it."""
    if hasattr(module, "_hf_hook"):
        raise NotImplementedError("accelerate's hooks are in its forward")
    if isinstance(module, torch.nn.Embedding) and (
        module.max_norm is not None or module.sparse or module.scale_grad_by_freq
    ):
        raise NotImplementedError("max_norm, sparse and scale_grad_by_freq are not supported")
    if isinstance(module, tuple(LAYERS)):
        if type(module) not in LAYERS:
            raise NotImplementedError("it is a class of its own")
        if isinstance(module, torch.nn.Linear | Conv1D) and module.weight.dtype not in HALVES:
            raise NotImplementedError(f"{module.weight.dtype} is not of 16 bits")
        give(module, LAYERS[type(module)])
        return
    is_norm = hasattr(module, "weight")
    weight = module.weight if is_norm else module.gate_proj.weight
    width = weight.size(-1)
    x = torch.randn(2, 3, width + 8, dtype=weight.dtype, device=weight.device)
    if is_norm and takes(module, x):
        raise NotImplementedError("its weight does not say of which width its rows are")
    x = x[..., :width].contiguous()
    want = module(x)
    forwards = (norm_forwards if is_norm else gated_forwards)(module)
    far, forward = min(
        ((distance(y(x), want, x.dtype), y) for y in forwards), key=lambda found: found[0]
    )
    if far > 1:
        raise NotImplementedError("it computes something else")
    give(module, forward.func, **forward.keywords)


def takes(module, x):
    try:
        module(x)
    except RuntimeError:
        return False
    return True


def is_layer(module):
    """Whether there is something of TK's for modules that look so."""
    return (
        isinstance(module, tuple(LAYERS))
        or (type(module).__name__.endswith("RMSNorm") and hasattr(module, "weight"))
        or all(hasattr(module, x) for x in ("gate_proj", "up_proj", "down_proj", "act_fn"))
    )


def causal_loss(
    logits,
    labels,
    vocab_size,
    num_items_in_batch=None,
    ignore_index=-100,
    shift_labels=None,
    **_,
):
    """transformers' ForCausalLMLoss, without a copy of the logits in fp32."""
    if shift_labels is None:
        shift_labels = torch.nn.functional.pad(labels, (0, 1), value=ignore_index)[..., 1:]
    loss = tk.cross_entropy(
        logits.view(-1, vocab_size),
        shift_labels.reshape(-1).to(logits.device),
        ignore_index=ignore_index,
        reduction="mean" if num_items_in_batch is None else "sum",
    )
    return loss if num_items_in_batch is None else loss / num_items_in_batch


@torch.no_grad()
def replace(model):
    """Has TK compute what a model of transformers is made of, with its weights as they are, in
    training and in generation; attention is attn_implementation="tk". Returns a report of what was
    replaced, by class, and what was not and why; print it.

    Linear, Embedding and LayerNorm of torch.nn and GPT-2's Conv1D; and, if TK gives what they give
    of random numbers, but for rounding, modules called RMSNorm and those with gate_proj, up_proj,
    down_proj and act_fn, and apply_rotary_pos_emb, causal_conv1d_fn, causal_conv1d_update,
    mamba2_chunk_scan and mamba2_selective_state_update of the model's file, for all models of that
    file; and the causal loss. A token that is no row of an embedding gives zeros then, a label that
    is no class NaN.
    """
    devices = {x.device.index for x in model.parameters() if x.is_cuda}
    with torch.random.fork_rng(devices):
        return replaced(model)


def replaced(model):
    report, functions, layers = Report(), {}, []
    for module in model.modules():
        place = sys.modules[type(module).__module__]
        functions |= {(place.__name__, x): place for x in FUNCTIONS if hasattr(place, x)}
        if is_layer(module):
            layers.append(module)
        elif any(True for _ in module.parameters(recurse=False)):
            report.kept[type(module).__name__, "TK has no such layer"] += 1
    # What is compared runs as it was until then: gates come before what they call.
    for module in sorted(layers, key=lambda x: type(x) in LAYERS):
        name = type(module).__name__
        try:
            replace_module(module)
            report.replaced[name] += 1
        except Exception as refusal:  # of TK, or whatever a module says to random numbers
            report.kept[name, str(refusal).split("\n")[0]] += 1
    like = next(model.parameters(), None)
    for (_, name), place in () if like is None else functions.items():
        try:
            replace_function(place, name, like)
            report.replaced[name] += 1
        except Exception as refusal:
            report.kept[name, str(refusal).split("\n")[0]] += 1
    loss = getattr(model, "loss_function", None)
    if loss in (ForCausalLMLoss, causal_loss):
        model.loss_function = causal_loss
        report.replaced["ForCausalLMLoss"] += 1
    elif loss is not None:
        report.kept[getattr(loss, "__name__", str(loss)), "TK has no such loss"] += 1
    return report
