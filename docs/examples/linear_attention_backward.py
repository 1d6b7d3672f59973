# SPDX-License-Identifier: MIT
import torch
import tk_ops.torch as tk

q, k, v = (torch.randn(1, 20, 2, 32, dtype=torch.bfloat16, requires_grad=True) for _ in "qkv")
tk.linear_attention(q, k, v).sum().backward()  # calls tk_ops.linear_attention_backward

scores = torch.einsum("bihd,bjhd->bhij", q.double(), k.double()).tril() * 32**-0.5
exact = scores.sum(2).transpose(1, 2)[..., None].expand(v.shape)  # what each token gives to the sum
assert (v.grad - exact).norm() < 0.01 * exact.norm()
