# SPDX-License-Identifier: MIT
import torch
import tk_ops.torch as tk

x = torch.randn(4, 256)
y, scale = tk.quantise(x, block="1x128")
assert y.dtype == torch.float8_e4m3fn and scale.shape == (4, 2)
back = y.float().view(4, 2, 128) * scale[..., None]
assert torch.allclose(back.view(4, 256), x, rtol=2**-4, atol=1e-2)

again, _ = tk.quantise(x, scale=scale.max())  # one scale, of one's own
assert again.float().isfinite().all()
