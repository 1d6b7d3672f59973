# SPDX-License-Identifier: MIT
import torch
import tk_ops.torch as tk

q, k = torch.randn(2, 1, 70, 2, 16, dtype=torch.bfloat16) / 2
v = torch.randn(1, 70, 2, 32, dtype=torch.bfloat16)
whole = tk.based(q, k, v)

# A prompt of 64 tokens, and then one token at a time from its states.
_, states = tk.based(q[:, :64], k[:, :64], v[:, :64], return_final_states=True)
for t in range(64, 70):
    step = [x[:, t : t + 1] for x in (q, k, v)]
    o, states = tk.based(*step, initial_states=states, return_final_states=True)
    assert torch.allclose(o, whole[:, t : t + 1], atol=0.02, rtol=0.02)
