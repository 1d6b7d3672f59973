# SPDX-License-Identifier: MIT
import torch
import torch.nn.functional as F
import tk_ops.torch as tk

x = torch.randn(4, 256, requires_grad=True)
weight = torch.randn(256, requires_grad=True)
dy = torch.randn(4, 256)
got = torch.autograd.grad(tk.rms_norm(x, 256, weight, eps=1e-6), (x, weight), dy)
exact = torch.autograd.grad(F.rms_norm(x, (256,), weight, eps=1e-6), (x, weight), dy)
assert all(torch.allclose(a, b, atol=1e-4) for a, b in zip(got, exact))
