# SPDX-License-Identifier: MIT
import torch
import transformers
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
)
ids = torch.randint(0, 97, (2, 21))
exact = model(ids, labels=ids).loss

report = tk_ops.transformers.replace(model)
print(report)
assert report.replaced["LlamaRMSNorm"] == 5 and report.replaced["ForCausalLMLoss"] == 1
assert not report.kept  # all of its parts are TK's

loss = model(ids, labels=ids).loss
loss.backward()
assert torch.allclose(loss, exact.float(), rtol=0.01)
tokens = model.generate(ids, max_new_tokens=4, do_sample=False, pad_token_id=0)
assert tokens.shape[1] <= 25
