# SPDX-License-Identifier: MIT
import torch
import tk_ops

x = torch.randn(4, 256)
y, scale = torch.empty(4, 256, dtype=torch.float8_e4m3fn), torch.empty(4, 2)
tk_ops.quantise(x=x, y=y, scale=scale, kind=tk_ops.ScaleKind.SCALE_1X128)

blocks = x.view(4, 2, 128)
assert torch.allclose(scale, blocks.abs().amax(-1) / 448)
back = y.float().view(4, 2, 128) * scale[..., None]
assert torch.allclose(back, blocks, rtol=2**-4, atol=1e-3)
