# SPDX-License-Identifier: MIT
import torch
import torch.nn.functional as F
import tk_ops.torch as tk

x, residual = torch.randn(2, 4, 1024, dtype=torch.bfloat16)
norm = tk.RMSNorm(1024, eps=1e-6, dtype=torch.bfloat16)  # torch.nn.RMSNorm's parameters
y, r = norm(x, residual)  # the norm of their sum, and the sum
exact = F.rms_norm((x.double() + residual.double()), (1024,), eps=1e-6)
assert torch.allclose(y.double(), exact, atol=0.05)
assert torch.equal(r, x + residual)
assert torch.equal(y, tk.rms_norm(x, 1024, norm.weight, 1e-6, residual=residual)[0])

qkv = torch.randn(2, 7, 3, 4, 64, dtype=torch.bfloat16)  # [b, n, 3, heads, d]
q = tk.rms_norm(qkv[:, :, 0], 64)  # read where it lies
assert torch.equal(q, tk.rms_norm(qkv[:, :, 0].contiguous(), 64))

y = tk.layer_norm(x, 1024)
assert torch.allclose(y, tk.LayerNorm(1024, dtype=torch.bfloat16)(x), atol=0.02)
assert torch.allclose(y.float().mean(-1), torch.zeros(4), atol=1e-2)
