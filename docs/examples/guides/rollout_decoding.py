# SPDX-License-Identifier: MIT
import torch
import tk_ops.torch as tk

width, heads, vocab = 128, 2, 96
sizes = (vocab, width), (3 * width, width), (width, width)
weights = [(torch.randn(x) * 0.1).bfloat16().requires_grad_() for x in sizes]


def log_probabilities(ids, targets, cache=None):
    """Of each target behind its token; the cache has keys and values of the tokens before."""
    table, qkv, out = weights
    x = tk.embedding(ids, table)
    q, k, v = tk.linear(tk.rms_norm(x, width), qkv).unflatten(-1, (3, heads, -1)).unbind(-3)
    if cache is not None:
        cache.append((k, v))
        k, v = (torch.cat(those, 1) for those in zip(*cache))
    x = x + tk.linear(tk.attention(q, k, v, causal=True).flatten(-2), out)
    logits = tk.linear(tk.rms_norm(x, width), table)
    losses = tk.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")
    return -losses.view(targets.shape)


ids = torch.randint(0, vocab, (4, 41))
with tk.repeat("row"):
    cache, steps = [], []
    with torch.inference_mode():  # a token of each of 4 sequences at a time
        for t in range(40):
            steps.append(log_probabilities(ids[:, t : t + 1], ids[:, t + 1 : t + 2], cache))
    rollout = torch.cat(steps, 1)
    training = log_probabilities(ids[:, :-1], ids[:, 1:])
    alone = log_probabilities(ids[2:3, :-1], ids[2:3, 1:])

assert training.requires_grad and torch.equal(training, rollout)
assert torch.equal(alone[0], training[2])
ratio = (training - rollout).exp()  # of importance sampling
assert (ratio == 1).all()
