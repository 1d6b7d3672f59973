# SPDX-License-Identifier: MIT
import torch
import torch.nn.functional as F
import tk_ops.torch as tk


class Block(torch.nn.Module):
    """A model that knows nothing of TK."""

    def __init__(self, width):
        super().__init__()
        self.norm = torch.nn.RMSNorm(width, eps=1e-6)
        self.up, self.down = torch.nn.Linear(width, width), torch.nn.Linear(width, width)

    def forward(self, x):
        return x + self.down(F.relu(self.up(self.norm(x))))


block = Block(64).to(torch.bfloat16)
x = torch.randn(3, 64, dtype=torch.bfloat16)
with tk.replacing() as calls:
    y = block(x)
y.float().square().mean().backward()

assert torch.allclose(y, block(x), atol=0.05)
assert calls.replaced == {"torch.nn.functional.linear": 2, "torch.nn.functional.rms_norm": 1}
assert calls.kept == {("torch.nn.functional.relu", "TK has no such function"): 1}
print(calls)
