# SPDX-License-Identifier: MIT
import torch
import tk_ops.torch as tk


def layer(x, w):
    return x + tk.linear(tk.silu(tk.rms_norm(x, 64)), w)


compiled = torch.compile(layer, fullgraph=True)
x, w = torch.randn(2, 64, 64, dtype=torch.bfloat16, requires_grad=True)
y = compiled(x, w)
assert torch.equal(y, layer(x, w))
found = torch.autograd.grad(y.float().square().sum(), x, retain_graph=True)
assert torch.equal(*found, *torch.autograd.grad(layer(x, w).float().square().sum(), x))
