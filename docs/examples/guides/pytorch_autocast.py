# SPDX-License-Identifier: MIT
import torch
import tk_ops.torch as tk

layer, x = tk.Linear(64, 64), torch.randn(4, 64)  # of fp32
with torch.autocast(x.device.type, dtype=torch.bfloat16):
    y = layer(x)
    normed = tk.rms_norm(x, 64)
assert y.dtype == torch.bfloat16  # linear is cast to 16 bits,
assert normed.dtype == torch.float32  # a norm takes its input as it is
y.float().square().mean().backward()
assert layer.weight.grad.dtype == torch.float32
