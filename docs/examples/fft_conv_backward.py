# SPDX-License-Identifier: MIT
import torch
import tk_ops.torch as tk

u = torch.randn(2, 4, 500, dtype=torch.bfloat16, requires_grad=True)
k = (torch.randn(4, 300) / 17).requires_grad_()
tk.fft_conv(u, k).sum().backward()  # calls tk_ops.fft_conv_backward

reached = k.detach().double().cumsum(-1)  # of the sum each element gets the taps that it meets
exact = torch.cat((reached, reached[:, -1:].expand(4, 200)), -1).flip(-1)
assert (u.grad - exact).norm() < 4e-3 * exact.norm() * 2**0.5
