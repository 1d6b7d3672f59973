# SPDX-License-Identifier: MIT
import torch
import tk_ops.torch as tk

x, w = torch.randn(5, 64), torch.randn(64)


def loss(x, w):
    return tk.rms_norm(x, 64, w).square().sum()


each = torch.func.vmap(torch.func.grad(loss, 1), (0, None))(x, w)  # a gradient for each sample
assert each.shape == (5, 64)
assert torch.equal(each[2], torch.func.grad(loss, 1)(x[2], w))
