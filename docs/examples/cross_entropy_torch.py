# SPDX-License-Identifier: MIT
import torch
import torch.nn.functional as F
import tk_ops.torch as tk

logits = torch.randn(40, 9, dtype=torch.bfloat16, requires_grad=True)
labels = torch.randint(0, 9, (40,))
loss = tk.cross_entropy(logits, labels, label_smoothing=0.1)  # fp32, whatever the logits are
loss.backward()
exact = F.cross_entropy(logits.double(), labels, label_smoothing=0.1)
assert loss.dtype == torch.float32 and torch.allclose(loss.double(), exact, atol=1e-4)
