# SPDX-License-Identifier: MIT
import torch
import transformers
import tk_ops.transformers

tk_ops.transformers.register()
config = transformers.MistralConfig(
    vocab_size=97,
    hidden_size=64,
    intermediate_size=96,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    sliding_window=8,
)
model = transformers.AutoModelForCausalLM.from_config(
    config, dtype=torch.bfloat16, attn_implementation="tk"
)
ids = torch.randint(0, 97, (1, 21))  # sequences of 9 and 12 tokens, one behind the other
starts = torch.tensor([0, 9, 21], dtype=torch.int32)
places = torch.cat((torch.arange(9), torch.arange(12)))[None]
both = model(
    ids,
    position_ids=places,
    use_cache=False,
    cu_seq_lens_q=starts,
    cu_seq_lens_k=starts,
    max_length_q=12,
    max_length_k=12,
).logits
alone = model(ids[:, 9:], use_cache=False).logits
assert (both[:, 9:] - alone).norm() < 0.02 * alone.norm()
