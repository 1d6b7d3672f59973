# SPDX-License-Identifier: MIT
import torch
import tk_ops.torch as tk

x = torch.randn(2, 5, 72, dtype=torch.bfloat16)
y = tk.softmax(x, dim=1)
assert torch.allclose(y.double(), x.double().softmax(1), atol=5e-3)
causal = tk.softmax(x[:, :, :5], scale=0.5, causal=True)
assert not causal.triu(1).any()  # no row sees later columns
