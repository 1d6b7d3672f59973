# SPDX-License-Identifier: MIT
import torch
import tk_ops.torch as tk


def model_of(nn):
    return torch.nn.Sequential(
        nn.Embedding(100, 64),
        nn.LayerNorm(64),
        nn.Linear(64, 128),
        nn.GELU(),
        nn.Linear(128, 64),
        nn.SiLU(),
        nn.RMSNorm(64),
        nn.Linear(64, 100),
    ).to(torch.bfloat16)


theirs, ours = model_of(torch.nn), model_of(tk)
ours.load_state_dict(theirs.state_dict())
ids = torch.randint(0, 100, (2, 17))
loss = tk.CrossEntropyLoss()(ours(ids).flatten(0, 1), ids.flatten())
loss.backward()
exact = torch.nn.CrossEntropyLoss()(theirs(ids).flatten(0, 1).float(), ids.flatten())
assert torch.allclose(loss, exact, rtol=0.01)

# What torch.nn has none of: a gated unit, and a norm of a sum, which it returns beside it.
x = torch.randn(2, 17, 64, dtype=torch.bfloat16)
y, summed = tk.RMSNorm(64, dtype=torch.bfloat16)(x, residual=x)
assert torch.equal(summed, 2 * x) and tk.SwiGLU()(y).shape == (2, 17, 32)
