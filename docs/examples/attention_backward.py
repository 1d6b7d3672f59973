# SPDX-License-Identifier: MIT
import torch
import tk_ops.torch as tk

q, k, v = (torch.randn(1, 20, 2, 64, dtype=torch.bfloat16, requires_grad=True) for _ in "qkv")
tk.attention(q, k, v, causal=True, softcap=30.0).sum().backward()  # calls tk_ops.attention_backward
first = q.grad, k.grad, v.grad
q.grad = k.grad = v.grad = None
tk.attention(q, k, v, causal=True, softcap=30.0).sum().backward()

assert all(torch.equal(x, y) for x, y in zip(first, (q.grad, k.grad, v.grad)))  # bit for bit
total = v.grad.float().sum()  # weights sum to 1
assert torch.allclose(total, torch.tensor(20.0 * 2 * 64), rtol=1e-2)
