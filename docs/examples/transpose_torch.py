# SPDX-License-Identifier: MIT
import torch
import tk_ops.torch as tk

x = torch.randn(3, 5, 16, dtype=torch.bfloat16)
y = tk.transpose(x)
assert torch.equal(y, x.mT) and y.is_contiguous()
