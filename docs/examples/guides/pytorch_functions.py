# SPDX-License-Identifier: MIT
import torch
import torch.nn.functional as F
import tk_ops.torch as tk

x = torch.randn(4, 64, dtype=torch.bfloat16, requires_grad=True)
weight = torch.randn(32, 64, dtype=torch.bfloat16, requires_grad=True)
y = tk.linear(tk.rms_norm(x, 64, eps=1e-6), weight)
y.float().square().mean().backward()

exact = F.linear(F.rms_norm(x.double(), (64,), eps=1e-6), weight.double())
assert torch.allclose(y.double(), exact, atol=0.2)
assert x.grad.shape == x.shape and weight.grad.any()
