# SPDX-License-Identifier: MIT
"""attn_implementation="tk" in small models with random weights. In bf16 their logits and gradients
may be as far from those of the same weights in fp32 as 1.5 times what "eager" is: both round the
same tensors on their way."""

import copy
import os
import sys

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
import tk_ops.transformers  # noqa: E402

torch.set_num_threads(1)
torch.set_default_device(os.environ.get("TK_TORCH_DEVICE", "cpu"))
tk_ops.transformers.register()
SIZES = dict(
    vocab_size=97,
    hidden_size=64,
    intermediate_size=96,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=16,
    max_position_embeddings=128,
    pad_token_id=0,
)
LLAMA_3 = {
    "rope_type": "llama3",
    "rope_theta": 5e5,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
CONFIGS = {
    "llama": lambda: transformers.LlamaConfig(**SIZES, rope_parameters=LLAMA_3),
    "gemma2": lambda: transformers.Gemma2Config(
        **SIZES, sliding_window=8, attn_logit_softcapping=2.0, query_pre_attn_scalar=4
    ),
    "gpt_oss": lambda: transformers.GptOssConfig(
        **SIZES, sliding_window=8, num_local_experts=2, num_experts_per_tok=2
    ),
}


@pytest.fixture(params=CONFIGS)
def models(request):
    """The same weights in fp32 and eager, in bf16 and eager, and in bf16 by TK."""
    torch.manual_seed(0)
    config = CONFIGS[request.param]()
    model = transformers.AutoModelForCausalLM.from_config(
        config, dtype=torch.bfloat16, attn_implementation="eager"
    )
    for x in model.parameters():  # large enough for attention that is not uniform
        x.data = (torch.randn_like(x) * (0.125 if x.dim() > 1 else 1)).to(x.dtype)
    ours = copy.deepcopy(model)
    ours.set_attn_implementation("tk")
    return [x.eval() for x in (copy.deepcopy(model).float(), model, ours)]


def distance(x, exact):
    return ((x.double() - exact.double()).norm() / exact.double().norm()).item()


def check(exact, eager, ours):
    assert distance(ours, exact) <= 1.5 * distance(eager, exact) < 0.2


def ids_and_mask():
    torch.manual_seed(1)
    mask = torch.ones(2, 21, dtype=torch.int64)
    mask[1, :5] = 0
    return torch.randint(1, 97, (2, 21)), mask


@pytest.mark.parametrize("padded", (False, True))
def test_logits_and_gradients(models, padded):
    ids, mask = ids_and_mask()
    seen = mask.bool() if padded else torch.ones_like(ids, dtype=bool)
    logits, gradients = [], []
    for model in models:
        result = model(ids, attention_mask=mask if padded else None).logits[seen]
        result.float().logsumexp(-1).sum().backward()
        logits.append(result.detach())
        gradients.append(model.model.layers[0].self_attn.k_proj.weight.grad)
    check(*logits)
    check(*gradients)


@pytest.mark.parametrize("by", ("positions", "starts"))
def test_packed(models, by):
    """Sequences beside each other see nothing of one another: where positions begin anew, or where
    starts say so, as for FlashAttention; then a mask that knows of none is not looked at."""
    if models[0].config.model_type == "gpt_oss" and by == "positions":
        pytest.skip("it asks for its masks without positions")
    ids, _ = ids_and_mask()
    ids, places = ids[:1], torch.cat((torch.arange(9), torch.arange(12)))[None]
    parts = slice(0, 9), slice(9, 21)
    alone = [
        torch.cat(
            [x(ids[:, y], position_ids=places[:, y], use_cache=False).logits for y in parts], 1
        )
        for x in models[:2]
    ]
    starts, options = torch.tensor([0, 9, 21], dtype=torch.int32), {}
    if by == "starts":
        options = dict(cu_seq_lens_q=starts, cu_seq_lens_k=starts, max_length_q=12, max_length_k=12)
    check(*alone, models[2](ids, position_ids=places, use_cache=False, **options).logits)


def test_tokens_one_by_one(models):
    """Steps of decoding with a cache give what a whole prompt gives."""
    ids, _ = ids_and_mask()
    exact, eager, ours = models
    cache, steps = transformers.DynamicCache(config=ours.config), []
    with torch.inference_mode():
        for a, b in (
            (0, 15),
            (15, 16),
            (16, 17),
            (17, 21),
        ):  # the cache is the fourth argument, whatever its name
            steps.append(ours(ids[:, a:b], None, None, cache).logits)
        whole = exact(ids).logits, eager(ids).logits
        check(*whole, torch.cat(steps, 1))
        static = ours.generate(
            ids,
            max_new_tokens=2,
            do_sample=False,
            cache_implementation="static",
            disable_compile=True,
            output_logits=True,
            return_dict_in_generate=True,
        )
        check(*(x[:, -1] for x in whole), static.logits[0])
        longer = static.sequences[:, :22]
        check(*(x(longer).logits[:, -1] for x in (exact, eager)), static.logits[1])


GPT2 = {"vocab_size": 97, "n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 32}
MAMBA2 = {"num_heads": 8, "head_dim": 16, "state_size": 16, "n_groups": 2}
REPLACED = {
    "llama": (CONFIGS["llama"], {"LlamaMLP": 2, "LlamaRMSNorm": 5, "Linear": 15}),
    "qwen2": (
        lambda: transformers.Qwen2Config(**SIZES),
        {"Qwen2MLP": 2, "apply_rotary_pos_emb": 1},
    ),
    "qwen3": (lambda: transformers.Qwen3Config(**SIZES), {"Qwen3RMSNorm": 9, "Embedding": 1}),
    "mistral": (
        lambda: transformers.MistralConfig(**SIZES, sliding_window=8),
        {"MistralRMSNorm": 5, "ForCausalLMLoss": 1},
    ),
    "gemma2": (CONFIGS["gemma2"], {"Gemma2MLP": 2, "Gemma2RMSNorm": 9}),
    "gpt2": (lambda: transformers.GPT2Config(**GPT2), {"Conv1D": 8, "LayerNorm": 5}),
    "mamba2": (
        lambda: transformers.Mamba2Config(
            vocab_size=97, hidden_size=64, num_hidden_layers=2, **MAMBA2
        ),
        {
            "Mamba2RMSNorm": 3,
            "causal_conv1d_fn": 1,
            "causal_conv1d_update": 1,
            "mamba2_chunk_scan": 1,
            "mamba2_selective_state_update": 1,
        },
    ),
}


@pytest.fixture
def replaced(request, monkeypatch):
    """The same weights in fp32 and eager, in bf16 and eager, and in bf16 with all that TK does, and
    the report of that."""
    torch.manual_seed(0)
    config, _ = REPLACED[request.param]
    options = {} if request.param == "mamba2" else {"attn_implementation": "eager"}
    model = transformers.AutoModelForCausalLM.from_config(config(), dtype=torch.bfloat16, **options)
    for x in model.parameters():
        if x.dim() > 1:
            x.data = (torch.randn_like(x) * 0.125).to(x.dtype)
    model.eval()
    exact, ours = copy.deepcopy(model).float(), copy.deepcopy(model)
    place = sys.modules[type(model).__module__]
    for function in tk_ops.transformers.FUNCTIONS:
        if hasattr(place, function):  # is put back after the test
            theirs = getattr(place, function)
            monkeypatch.setattr(place, function, theirs)
    if options:
        ours.set_attn_implementation("tk")

    def replace():
        """What the file of models calls is TK's for all of its models from here on."""
        return tk_ops.transformers.replace(ours)

    return exact, model, ours, replace


def by_name(function):
    return pytest.mark.parametrize("replaced", REPLACED, indirect=True)(function)


@by_name
def test_replace(replaced, request):
    """Loss and gradients of a model whose layers are TK's, too, beside those in fp32 and eager."""
    *models, replace = replaced
    ids, results = torch.randint(1, 97, (2, 21)), []
    for x in models:
        if x is models[2]:
            report = replace()
        result = x(ids, labels=ids)
        result.loss.backward()
        results.append((result, [y.grad for y in x.parameters()]))
    _, wanted = REPLACED[request.node.callspec.params["replaced"]]
    assert wanted.items() <= report.replaced.items(), str(report)
    check(*(x.logits for x, _ in results))
    check(*(torch.cat([y.flatten().double() for y in x]) for _, x in results))
    exact, _, loss = (x.loss.item() for x, _ in results)
    assert abs(loss - exact) <= 0.01 * exact


@by_name
def test_greedy_tokens(replaced):
    """With a cache they are those of eager, up to where its two best logits are nearer to each
    other than eight times what rounding moves one: four times what it moves the distance of two in
    one model from that in the other."""
    exact, eager, ours, replace = replaced
    ids, found = torch.randint(1, 97, (12, 9)), []
    for model in exact, eager, ours:
        if model is ours:
            replace()
        found.append(
            model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=10,
                do_sample=False,
                eos_token_id=None,
                pad_token_id=0,
                output_logits=True,
                return_dict_in_generate=True,
            )
        )
    logits = [x.logits[0].double() for x in found[:2]]
    rounding = (logits[0] - logits[1]).square().mean().sqrt()
    compared = 0
    for row in range(len(ids)):
        for step, theirs in enumerate(found[1].logits):
            best = theirs[row].double().topk(2).values
            if best[0] - best[1] <= 8 * rounding:
                break
            tokens = [x.sequences[row, ids.size(1) + step] for x in found[1:]]
            assert tokens[0] == tokens[1], f"sequence {row}, step {step}"
            compared += 1
    assert compared >= 20
