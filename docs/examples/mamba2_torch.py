# SPDX-License-Identifier: MIT
import torch
import tk_ops.torch as tk

x, z = torch.randn(2, 1, 20, 2, 32, dtype=torch.bfloat16)
B, C = torch.randn(2, 1, 20, 1, 16, dtype=torch.bfloat16)
dt, A, D = torch.randn(1, 20, 2), -torch.rand(2), torch.randn(2)
y, state = tk.mamba2(x, dt, A, B, C, D, z=z, dt_softplus=True, return_final_states=True)
plain = tk.mamba2(x, torch.nn.functional.softplus(dt), A, B, C, D)
assert state.shape == (1, 2, 32, 16)
assert torch.allclose(y, plain * torch.nn.functional.silu(z), atol=0.1, rtol=0.05)
