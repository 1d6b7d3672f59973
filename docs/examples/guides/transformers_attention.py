# SPDX-License-Identifier: MIT
import torch
import transformers
import tk_ops.transformers

tk_ops.transformers.register()
config = transformers.Qwen3Config(
    vocab_size=97,
    hidden_size=64,
    intermediate_size=96,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=16,
)
model = transformers.AutoModelForCausalLM.from_config(
    config, dtype=torch.bfloat16, attn_implementation="tk"
)
ids = torch.randint(0, 97, (2, 21))
logits = model(ids).logits
model.set_attn_implementation("eager")  # and back: a model that is there can be told, too
exact = model(ids).logits
assert (logits - exact).norm() < 0.02 * exact.norm()
