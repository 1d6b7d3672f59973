# SPDX-License-Identifier: MIT
import torch
import tk_ops.torch as tk

x = torch.randn(40, 4096, dtype=torch.bfloat16)
w = torch.randn(64, 4096, dtype=torch.bfloat16, requires_grad=True)


def gradient():
    (found,) = torch.autograd.grad(tk.linear(x, w).float().square().mean(), w)
    return found


assert torch.equal(gradient(), gradient())  # from run to run, always

with tk.repeat("row"):  # and each row, whatever rows are beside it
    whole = tk.linear(x, w)
    assert torch.equal(tk.linear(x[:1], w), whole[:1])
    assert torch.equal(tk.linear(x[13:20], w), whole[13:20])
