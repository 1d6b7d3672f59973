# SPDX-License-Identifier: MIT
import torch
import tk_ops.torch as tk

layer = tk.Linear(64, 8).to(torch.bfloat16)  # torch.nn.Linear's parameters, TK's product
x = torch.randn(3, 64, dtype=torch.bfloat16)
y = layer(x)
y.sum().backward()

assert torch.equal(y, tk.linear(x, layer.weight, layer.bias))
assert torch.allclose(y, x @ layer.weight.T + layer.bias, atol=0.05)
assert torch.equal(layer.bias.grad, torch.full_like(layer.bias, 3))
