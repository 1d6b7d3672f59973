# SPDX-License-Identifier: MIT
import torch
import tk_ops.torch as tk

query, key = torch.randn(1, 9, 4, 32), torch.randn(1, 9, 2, 32)
angles = torch.arange(12)[:, None] / 10000 ** (torch.arange(16) / 16)
cos, sin = angles.cos(), angles.sin()
q, k = tk.rotary(query, key, cos, sin)
later, _ = tk.rotary(query[:, 5:6], None, cos, sin, offsets=torch.tensor([5]))  # a step of decoding
assert torch.allclose(later, q[:, 5:6])
assert torch.allclose(q.norm(dim=-1), query.norm(dim=-1), atol=1e-4)
