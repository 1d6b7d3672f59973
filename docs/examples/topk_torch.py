# SPDX-License-Identifier: MIT
import torch
import tk_ops.torch as tk

logits = torch.randn(4, 1000, requires_grad=True)
best = tk.topk(logits, k=8)
assert torch.equal(best.values, torch.topk(logits, 8).values)
assert torch.equal(tk.argmax(logits, dim=-1), best.indices[:, 0])

best.values.softmax(-1).square().sum().backward()  # reaches the eight of each row
assert (logits.grad.count_nonzero(-1) <= 8).all()
