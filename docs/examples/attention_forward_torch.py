# SPDX-License-Identifier: MIT
import torch
import torch.nn.functional as F
import tk_ops.torch as tk

q = torch.randn(1, 4, 33, 64, dtype=torch.bfloat16)  # [b, heads, n, d], as PyTorch has it
k, v = torch.randn(2, 1, 2, 33, 64, dtype=torch.bfloat16)
y = tk.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
exact = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
assert torch.allclose(y, exact, atol=0.05)

# Two sequences of 10 and 23 tokens, packed; each query sees the last 8 keys.
starts = torch.tensor([0, 10, 33], dtype=torch.int32)
q, k, v = torch.randn(3, 33, 4, 64, dtype=torch.bfloat16)
near = {"causal": True, "window": (7, None)}
both = tk.attention(q, k, v, cu_seqlens_q=starts, cu_seqlens_k=starts, **near)
alone = tk.attention(q[None, :10], k[None, :10], v[None, :10], **near)
assert torch.equal(both[:10], alone[0])
