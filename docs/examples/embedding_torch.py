# SPDX-License-Identifier: MIT
import torch
import tk_ops.torch as tk

table = tk.Embedding(20, 24, padding_idx=0)  # torch.nn.Embedding's parameters
ids = torch.tensor([[3, 19, 0], [3, 3, 0]])
table(ids).sum().backward()
assert torch.equal(table(ids), tk.embedding(ids, table.weight, 0))
assert torch.equal(table(ids), table.weight[ids])
assert torch.equal(table.weight.grad[[0, 3, 19]], torch.tensor([[0.0], [3], [1]]).expand(3, 24))
