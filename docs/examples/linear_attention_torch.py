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

# The layer as a module: a decay that is learned from each token, fixed for each head, or none.
for decay in "tokens", "heads", None:
    layer = tk.LinearAttention(64, 2, decay, dtype=torch.bfloat16)
    x = torch.randn(1, 70, 64, dtype=torch.bfloat16)
    y = layer(x)
    y.float().square().mean().backward()
    assert y.shape == x.shape and all(w.grad.any() for w in layer.parameters())
    assert torch.allclose(layer(x[:, :64]), y[:, :64], atol=0.02)  # it is causal
