# SPDX-License-Identifier: MIT
import torch
import tk_ops.torch as tk

x, w = torch.randn(2, 64, 64, device="cuda").bfloat16()
with torch.no_grad():
    exact = tk.linear(tk.rms_norm(x.flip(0), 64), w)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = tk.linear(tk.rms_norm(x, 64), w)
x.copy_(x.flip(0))  # other numbers in the same place
graph.replay()
assert torch.equal(y, exact)
