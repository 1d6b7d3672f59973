# SPDX-License-Identifier: MIT
import torch
import tk_ops.torch as tk

x, weight, bias = torch.randn(1, 30, 24), torch.randn(24, 4), torch.randn(24)
whole = tk.causal_conv1d(x, weight, bias, activation="silu")
first, state = tk.causal_conv1d(x[:, :20], weight, bias, "silu", return_final_states=True)
rest = tk.causal_conv1d(x[:, 20:], weight, bias, "silu", initial_states=state)
assert torch.equal(torch.cat((first, rest), 1), whole)
