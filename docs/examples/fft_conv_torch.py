# SPDX-License-Identifier: MIT
import torch
import tk_ops.torch as tk

u, pre, post = torch.randn(3, 2, 4, 500, dtype=torch.bfloat16)
k = torch.randn(4, 500) / 22
y = tk.fft_conv(u, k, pre, post)
x = torch.fft.rfft(u.double() * pre, 1000) * torch.fft.rfft(k.double(), 1000)
exact = torch.fft.irfft(x, 1000)[..., :500] * post
assert (y - exact).norm() < 4e-3 * exact.norm()

# The transforms of k are made once, for calls of any batch.
filter = tk.fft_filter(k, u)
assert torch.equal(tk.fft_conv(u, k, pre, post, filter=filter), y)
assert torch.equal(tk.fft_conv(u[:1], k, pre[:1], post[:1], filter=filter), y[:1])

# As a module, with a filter of up to 500 taps and a skip for each of 4 channels.
layer = tk.LongConv(4, 500)
y = layer(u)
y.float().square().mean().backward()
assert y.shape == u.shape and layer.filters.grad.any() and layer.D.grad.any()
