# SPDX-License-Identifier: MIT
import torch
import torch.nn.functional as F
import tk_ops.torch as tk

x = torch.randn(40, 24, dtype=torch.bfloat16, requires_grad=True)
w = (torch.randn(100, 24) / 5).to(torch.bfloat16).requires_grad_()
labels = torch.randint(0, 100, (40,))
loss = tk.linear_cross_entropy(x, w, labels)  # the logits [40, 100] are never whole in memory
loss.backward()
exact = F.cross_entropy(x.double() @ w.double().T, labels)
assert torch.allclose(loss.double(), exact, atol=1e-2) and w.grad.shape == w.shape
