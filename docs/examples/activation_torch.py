# SPDX-License-Identifier: MIT
import torch
import torch.nn.functional as F
import tk_ops.torch as tk

x = torch.randn(5, 80, dtype=torch.bfloat16)
a, b = x.double().chunk(2, -1)
for function, act in (tk.swiglu, F.silu), (tk.geglu, F.gelu), (tk.reglu, F.relu):
    assert torch.allclose(function(x).double(), act(a) * b, atol=0.05)  # halves of one tensor
assert torch.equal(tk.swiglu(x[:, :40], x[:, 40:]), tk.swiglu(x))  # or two
assert torch.allclose(tk.silu(x), F.silu(x), atol=0.05)
assert torch.allclose(tk.gelu(x, "tanh"), F.gelu(x, approximate="tanh"), atol=0.05)
for module, y in (tk.SwiGLU(), tk.swiglu(x)), (tk.SiLU(), tk.silu(x)), (tk.GELU(), tk.gelu(x)):
    assert torch.equal(module(x), y)
