# SPDX-License-Identifier: MIT
import torch
import tk_ops.torch as tk

x, bias = torch.randn(4, 16, dtype=torch.bfloat16), torch.randn(16)
y = tk.add(x, bias, alpha=0.5)  # in fp32, which is rounded once
assert torch.equal(y, x.float() + 0.5 * bias)
