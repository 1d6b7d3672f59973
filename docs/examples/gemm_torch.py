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

scores = tk.matmul(x, x.mT, out_dtype=torch.float32)  # as torch.matmul, batches too; not rounded to 16 bits
assert torch.allclose(scores, x.float() @ x.float().mT, atol=1e-3)
assert torch.allclose(tk.addmm(layer.bias, x, layer.weight.T), y, atol=0.05)  # beta input + alpha x weight
assert torch.allclose(tk.baddbmm(y[None], x[None], layer.weight.T[None], alpha=-1)[0], layer.bias, atol=0.05)
