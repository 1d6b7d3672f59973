# SPDX-License-Identifier: MIT
import torch
import tk_ops.torch as tk

q, k, v = torch.randn(3, 1, 70, 2, 32, dtype=torch.bfloat16)
log_decay = -torch.rand(1, 70, 2)
whole, last = tk.linear_attention(q, k, v, log_decay=log_decay, return_final_state=True)

# A prompt of 64 tokens, and then one token at a time from its state.
_, state = tk.linear_attention(
    q[:, :64], k[:, :64], v[:, :64], log_decay=log_decay[:, :64], return_final_state=True
)
for t in range(64, 70):
    step = [x[:, t : t + 1] for x in (q, k, v)]
    o, state = tk.linear_attention(
        *step, log_decay=log_decay[:, t : t + 1], initial_state=state, return_final_state=True
    )
    assert torch.allclose(o, whole[:, t : t + 1], atol=0.05, rtol=0.05)
assert torch.allclose(state, last, atol=0.05)
