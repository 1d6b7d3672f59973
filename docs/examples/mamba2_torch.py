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

# The whole block as a module, with the arguments and the weights of mamba_ssm's.
block = tk.Mamba2(64, d_state=16, headdim=32, dtype=torch.bfloat16)
u = torch.randn(2, 50, 64, dtype=torch.bfloat16)
block(u).float().square().mean().backward()
assert block(u).shape == u.shape and all(w.grad.isfinite().all() for w in block.parameters())

# Two sequences of 20 and 30 tokens, packed: neither sees the other.
starts = torch.tensor([0, 20, 50], dtype=torch.int32)
assert torch.allclose(block(u[0], cu_seqlens=starts)[20:], block(u[:1, 20:])[0], atol=0.02)
