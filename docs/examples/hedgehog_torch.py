# SPDX-License-Identifier: MIT
import torch
import tk_ops.torch as tk

q, k, v = torch.randn(3, 1, 300, 2, 128, dtype=torch.bfloat16)
maps = (torch.randn(2, 2, 128, 64) / 11).to(torch.bfloat16)
factors = torch.ones(2, 2)
whole = tk.hedgehog(q, k, v, *maps, *factors)

# A prompt of 190 tokens; the rest from its states, behind the keys that these do not hold.
prompt = [x[:, :190] for x in (q, k, v)]
first, states = tk.hedgehog(*prompt, *maps, *factors, return_final_states=True)
kept = 190 - (64 + 190 % 64)
rest = tk.hedgehog(q[:, 190:], k[:, kept:], v[:, kept:], *maps, *factors, initial_states=states)
assert torch.allclose(torch.cat((first, rest), 1), whole, atol=0.02, rtol=0.02)
