# SPDX-License-Identifier: MIT
import torch
import transformers
import tk_ops.torch as tk
import tk_ops.transformers

tk_ops.transformers.register()
config = transformers.LlamaConfig(
    vocab_size=97,
    hidden_size=64,
    intermediate_size=96,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
)
model = transformers.AutoModelForCausalLM.from_config(
    config, dtype=torch.bfloat16, attn_implementation="tk"
).eval()
assert not tk_ops.transformers.replace(model).kept  # the promise is that of TK's ops alone

ids = torch.randint(0, 97, (3, 30))
cache, steps = transformers.DynamicCache(config=config), []
with tk.repeat("row"), torch.inference_mode():
    whole = model(ids).logits
    for a, b in (0, 20), *((t, t + 1) for t in range(20, 30)):  # a prompt, and token by token
        steps.append(model(ids[:, a:b], None, None, cache).logits)  # the cache, whatever its name
    alone = model(ids[:1]).logits
assert torch.equal(torch.cat(steps, 1), whole) and torch.equal(alone, whole[:1])
