# SPDX-License-Identifier: MIT
"""Llama and Qwen of transformers, their attention and layers TK's, beside PyTorch's own.

python examples/python/generate.py [--device cuda]

Weights are random, or with --model a folder's or a name's that transformers has on this machine.
"""

import copy
import time
from pathlib import Path

import torch
import transformers

import common
import tk_ops.transformers


def configs(o):
    sizes = dict(
        vocab_size=o.vocab,
        hidden_size=o.width,
        intermediate_size=3 * o.width,
        num_hidden_layers=o.layers,
        num_attention_heads=max(o.width // 64, 2),
        num_key_value_heads=max(o.width // 256, 1),
        head_dim=64,
        max_position_embeddings=4096,
        bos_token_id=None,
        eos_token_id=None,
    )
    return {"Llama": transformers.LlamaConfig(**sizes), "Qwen3": transformers.Qwen3Config(**sizes)}


def models_of(o):
    auto = transformers.AutoModelForCausalLM
    if o.model:
        yield o.model, auto.from_pretrained(o.model, dtype=torch.bfloat16, local_files_only=True)
        return
    for name, config in configs(o).items():
        torch.manual_seed(0)
        yield name, auto.from_config(config, dtype=torch.bfloat16)


def generated(model, ids, count, compiled):
    """`count` tokens after each prompt, and seconds."""
    options = dict(
        do_sample=False,
        attention_mask=torch.ones_like(ids),
        pad_token_id=0,
        disable_compile=not compiled,
    )
    if compiled:
        options["cache_implementation"] = "static"  # which is what generate() compiles for
        options["compile_config"] = transformers.CompileConfig()
        options["compile_config"]._compile_all_devices = True  # a CPU, too
    with torch.inference_mode():
        model.generate(ids, max_new_tokens=count if compiled else 2, **options)
        common.synchronise(ids.device.type)
        began = time.perf_counter()
        tokens = model.generate(ids, max_new_tokens=count, min_new_tokens=count, **options)
        common.synchronise(ids.device.type)
    return tokens[:, ids.size(1) :], time.perf_counter() - began


def main():
    o = common.options(
        __doc__,
        model="",
        count=(24, 256),
        prompt=(64, 1024),
        batch=(4, 32),
        vocab=(512, 32000),
        width=(128, 2048),
        layers=(2, 16),
        compile=(0, 1),
    )
    tk_ops.transformers.register()
    batches = [n for n in (1, 2, 4, 8, 16, 32, 64) if n <= o.batch]
    curves = {}
    for name, model in models_of(o):
        model = model.to(o.device).eval()
        ours = copy.deepcopy(model)
        ours.set_attn_implementation("tk")
        report = tk_ops.transformers.replace(ours)
        vocab = model.config.vocab_size
        prompts = torch.randint(1, vocab, (batches[-1], o.prompt)).to(o.device)
        with torch.inference_mode():
            logits, exact = (x(prompts[:2]).logits.float() for x in (ours, model))
        kinds = {"TK": (ours, False), "eager": (model, False)}
        if o.compile:
            kinds |= {"TK compiled": (ours, True), "torch.compile": (model, True)}
        print(
            f"{name}: {sum(report.replaced.values())} of its parts are TK's,"
            f" {sum(report.kept.values())} are not; logits of a prompt are"
            f" {((logits - exact).norm() / exact.norm()).item():.4f} apart"
        )
        for kind, (this, compiled) in kinds.items():
            speeds = []
            with common.fallen(kind):
                for n in batches:
                    tokens, seconds = generated(this, prompts[:n], o.count, compiled)
                    speeds.append(tokens.numel() / seconds)
            if speeds:
                curves[f"{name}, {kind}"] = speeds
                print(
                    f"{name}, {kind}: "
                    + ", ".join(f"{x:,.0f}" for x in speeds)
                    + f" tokens/s of {', '.join(map(str, batches))} sequences"
                )
    common.draw(o.out or Path("generate.png"), curves, "tokens/s", "batch", batches)


main()
