# SPDX-License-Identifier: MIT
import torch
import tk_ops.torch as tk

x, B, C = torch.randn(1, 20, 2, 32), torch.randn(1, 20, 1, 16), torch.randn(1, 20, 1, 16)
x, B, C = (t.to(torch.bfloat16).requires_grad_() for t in (x, B, C))
dt, A, D = torch.rand(1, 20, 2), -torch.rand(2), torch.randn(2, requires_grad=True)
tk.mamba2(x, dt, A, B, C, D).sum().backward()  # calls tk_ops.mamba2_backward

assert torch.allclose(D.grad, x.detach().float().sum((0, 1, 3)), atol=0.1)
assert x.grad.isfinite().all() and B.grad.shape == B.shape
