# SPDX-License-Identifier: MIT
"""Small decoders, from ops that are TK's (tk_ops.torch) or PyTorch's own (eager.py): a model takes
the module that has them as `ops`, and its parameters are the same for both.

Tokens lie in a batch, ids [b, n], or packed beside each other, ids [t] with a `Place` that says
which are whose and where keys are kept.
"""

import dataclasses

import torch
from torch import nn


@dataclasses.dataclass
class Place:
    """Tokens of several sequences beside each other: token t stands at positions[t] of its
    sequence, q_starts and k_starts are int32 [sequences + 1], and with a cache the keys of tokens
    are put into its rows. longest_q and longest_k bound lengths."""

    positions: torch.Tensor
    q_starts: torch.Tensor
    k_starts: torch.Tensor
    longest_q: int
    longest_k: int
    cache: "Cache" = None
    rows: torch.Tensor = None


def side_by_side(lengths, device=None):
    """The place of whole sequences of these lengths."""
    starts = torch.tensor([0, *lengths], device=device).cumsum(0).to(torch.int32)
    positions = torch.cat([torch.arange(n, device=device) for n in lengths])
    return Place(positions, starts, starts, max(lengths), max(lengths))


class Cache:
    """Keys and values of `count` sequences of up to `room` tokens: [count room, h, d] a layer."""

    def __init__(self, model, count, room):
        mixer = model.blocks[0].mixer
        shape = 2, len(model.blocks), count * room, mixer.kv_heads, mixer.d
        self.keys, self.values = model.head.weight.new_zeros(shape)
        self.room, self.lengths = room, [0] * count

    def next(self, counts):
        """The place of counts[i] tokens of sequence i, those after what it has. Between two
        sequences lies what the first has left, as one that has keys and no queries."""
        device, room = self.keys.device, self.room
        ends = [n + m for n, m in zip(self.lengths, counts)]
        if max(ends) > room:
            raise ValueError(f"Cache: {max(ends)} tokens are more than its room, {room}")
        positions = [torch.arange(n, m) for n, m in zip(self.lengths, ends)]
        rows = torch.cat([x + i * room for i, x in enumerate(positions)])
        queries, keys, total = [0], [0], 0
        for i, (count, end) in enumerate(zip(counts, ends)):
            total += count
            queries += [total, total]
            keys += [i * room + end, (i + 1) * room]
        self.lengths = ends
        starts = (torch.tensor(x, dtype=torch.int32, device=device) for x in (queries, keys))
        return Place(
            torch.cat(positions).to(device), *starts, max(counts), room, self, rows.to(device)
        )


class Attention(nn.Module):
    """Causal attention with rotary position embedding and grouped heads."""

    def __init__(self, ops, layer, width, heads, kv_heads=None, longest=4096):
        super().__init__()
        self.ops, self.layer, self.heads, self.d = ops, layer, heads, width // heads
        self.kv_heads = kv_heads or heads
        self.qkv = nn.Linear(width, (heads + 2 * self.kv_heads) * self.d, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        angle = 10000.0 ** (-torch.arange(0, self.d, 2) / self.d)
        angle = torch.arange(longest)[:, None] * angle
        # fp32 as bits, which model.to(bfloat16) leaves as they are
        bits = torch.stack((angle.cos(), angle.sin())).view(torch.int32)
        self.register_buffer("tables", bits, persistent=False)

    def projected(self, x, positions=None):
        """Queries, keys and values of x, turned."""
        tables = self.tables.view(torch.float32)
        qkv = self.ops.linear(x, self.qkv.weight).view(*x.shape[:-1], -1, self.d)
        q, k, v = qkv.split((self.heads, self.kv_heads, self.kv_heads), -2)
        return *self.ops.rotary(q, k, *tables, positions=positions), v

    def forward(self, x, place=None):
        if place is None:
            o = self.ops.attention(*self.projected(x), causal=True)
        else:
            q, k, v = self.projected(x, place.positions)
            if place.cache is not None:
                keys, values = place.cache.keys[self.layer], place.cache.values[self.layer]
                keys[place.rows], values[place.rows] = k, v
                k, v = keys, values
            o = self.ops.attention(
                q,
                k,
                v,
                causal=True,
                cu_seqlens_q=place.q_starts,
                cu_seqlens_k=place.k_starts,
                max_seqlen_q=place.longest_q,
                max_seqlen_k=place.longest_k,
            )
        return self.ops.linear(o.flatten(-2), self.out.weight)


class Block(nn.Module):
    """A mixer of tokens and a SwiGLU, each after a norm of all that was added before."""

    def __init__(self, ops, mixer, width, hidden):
        super().__init__()
        self.ops, self.mixer = ops, mixer
        self.norms = nn.ModuleList(nn.RMSNorm(width, eps=1e-5) for _ in range(2))
        self.up = nn.Linear(width, 2 * hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x, residual, *place):
        y, residual = normed(self.ops, self.norms[0], x, residual)
        x = self.mixer(y, *place)
        y, residual = normed(self.ops, self.norms[1], x, residual)
        x = self.ops.linear(y, self.up.weight)
        return self.ops.linear(self.ops.swiglu(x), self.down.weight), residual


def normed(ops, norm, x, residual):
    """The norm of x + residual, and that sum."""
    options = norm.normalized_shape, norm.weight, norm.eps
    if residual is None:
        return ops.rms_norm(x, *options), x
    return ops.rms_norm(x, *options, residual=residual)


class Decoder(nn.Module):
    """A language model; mixer(ops, layer, width) makes what mixes the tokens of a layer."""

    def __init__(self, ops, mixer, vocab=256, width=128, layers=2, hidden=None):
        super().__init__()
        self.ops = ops
        hidden = hidden or (8 * width // 3 + 15) // 16 * 16
        self.embedding = nn.Embedding(vocab, width)
        self.blocks = nn.ModuleList(
            Block(ops, mixer(ops, layer, width), width, hidden) for layer in range(layers)
        )
        self.norm = nn.RMSNorm(width, eps=1e-5)
        self.head = nn.Linear(width, vocab, bias=False)
        for x in self.parameters():
            if x.dim() == 2:
                nn.init.normal_(x, std=x.size(1) ** -0.5)
        for x in self.embedding, self.head:
            nn.init.normal_(x.weight, std=0.02)

    def features(self, ids, *place):
        x, residual = self.ops.embedding(ids, self.embedding.weight), None
        for block in self.blocks:
            x, residual = block(x, residual, *place)
        return normed(self.ops, self.norm, x, residual)[0]

    def forward(self, ids, *place):
        """Logits [..., vocab] of ids [b, n], or [t] at a place."""
        return self.ops.linear(self.features(ids, *place), self.head.weight)

    def loss(self, ids, targets):
        """The mean cross-entropy of targets [b, n], but of those that are -100."""
        return self.ops.linear_cross_entropy(self.features(ids), self.head.weight, targets)

    def log_probabilities(self, ids, targets, *place):
        """Of each target behind its token, fp32."""
        logits = self(ids, *place).flatten(0, -2)
        loss = self.ops.cross_entropy(logits, targets.reshape(-1), reduction="none")
        return -loss.view(targets.shape)


def llama(ops, width=128, heads=4, kv_heads=2, longest=4096, **options):
    return Decoder(
        ops,
        lambda ops, layer, width: Attention(ops, layer, width, heads, kv_heads, longest),
        width=width,
        **options,
    )
