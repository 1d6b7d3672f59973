# SPDX-License-Identifier: MIT
"""Modules that mix tokens in attention's place."""

import math

import torch
from torch import nn

from . import functional, sequences
from .modules import Linear, RMSNorm

__all__ = ["LinearAttention", "LongConv", "Mamba2"]


class Mamba2(nn.Module):
    """Mamba-2's block, with the state_dict of mamba_ssm's and its arguments that say sizes and first
    weights (a D of each head, always the norm): a projection to gate, x, B, C and dt, a short
    convolution with SiLU, the scan, a gated RMSNorm of each group, and a projection.

    u [b, n, d_model], or with cu_seqlens int32 [sequences + 1] packed sequences [n, d_model]; the
    result is of u's sizes. bf16 or fp16, or any type under torch.autocast; A_log, D and dt_bias
    are used in fp32. headdim divides expand d_model, ngroups the heads; headdim and d_state are multiples
    of 16 to 256, d_conv is 2 to 4.

    With return_final_states the pair (result, states) comes back, and with these states as
    initial_states the sequence goes on: after a prompt, for one token (n = 1, a step of decoding)
    or for several. states is a pair of new tensors, conv_state [b, d_conv - 1, d_inner + 2 ngroups
    d_state], the last tokens' x, B and C before the convolution, of their type, and ssm_state [b,
    heads, headdim, d_state], fp32; of packed sequences one for each. None are zeros. Gradients reach
    them. What is cut into calls equals the whole but for rounding; with repeat("row") a sequence's
    bits do not depend on the others, and not on cuts after a multiple of 64 tokens.
    """

    def __init__(
        self,
        d_model,
        d_state=128,
        d_conv=4,
        expand=2,
        headdim=64,
        ngroups=1,
        A_init_range=(1, 16),
        dt_min=0.001,
        dt_max=0.1,
        dt_init_floor=1e-4,
        dt_limit=(0.0, math.inf),
        bias=False,
        conv_bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        made = {"device": device, "dtype": dtype}
        self.d_inner, self.d_state, self.headdim = expand * d_model, d_state, headdim
        self.ngroups, self.dt_limit = ngroups, dt_limit
        heads = self.d_inner // headdim
        if heads * headdim != self.d_inner or heads % ngroups:
            raise ValueError(
                f"Mamba2: headdim {headdim} must divide expand d_model {self.d_inner}, and ngroups"
                f" {ngroups} the heads"
            )
        mixed = self.d_inner + 2 * ngroups * d_state
        self.in_proj = Linear(d_model, self.d_inner + mixed + heads, bias=bias, **made)
        self.conv1d = nn.Conv1d(mixed, mixed, d_conv, groups=mixed, bias=conv_bias, **made)
        dt = torch.empty(heads, device=device).uniform_(math.log(dt_min), math.log(dt_max)).exp()
        dt = dt.clamp(min=dt_init_floor)
        self.dt_bias = nn.Parameter(dt + torch.log(-torch.expm1(-dt)))  # softplus gives dt
        self.A_log = nn.Parameter(torch.empty(heads, device=device).uniform_(*A_init_range).log())
        self.D = nn.Parameter(torch.ones(heads, device=device))
        self.norm = RMSNorm(self.d_inner, eps=1e-5, **made)
        self.out_proj = Linear(self.d_inner, d_model, bias=bias, **made)

    def forward(self, u, cu_seqlens=None, initial_states=None, return_final_states=False):
        groups, states = self.ngroups, self.ngroups * self.d_state
        z, mixed, dt = self.in_proj(u).split(
            (self.d_inner, self.d_inner + 2 * states, len(self.D)), -1
        )
        conv_state, ssm_state = initial_states or (None, None)
        mixed = sequences.causal_conv1d(
            mixed,
            self.conv1d.weight.squeeze(1),
            self.conv1d.bias,
            "silu",
            conv_state,
            return_final_states=return_final_states,
            cu_seqlens=cu_seqlens,
        )
        if return_final_states:
            mixed, conv_state = mixed
        x, B, C = mixed.split((self.d_inner, states, states), -1)
        y = sequences.mamba2(
            x.unflatten(-1, (-1, self.headdim)),
            dt,
            -self.A_log.float().exp(),
            B.unflatten(-1, (groups, -1)),
            C.unflatten(-1, (groups, -1)),
            self.D.float(),
            z.unflatten(-1, (-1, self.headdim)),
            self.dt_bias.float(),
            ssm_state,
            dt_softplus=True,
            dt_limit=self.dt_limit,
            return_final_states=return_final_states,
            cu_seqlens=cu_seqlens,
        )
        if return_final_states:
            y, ssm_state = y
        y = self.out_proj(self._normalised(y.flatten(-2)))
        return (y, (conv_state, ssm_state)) if return_final_states else y

    def _normalised(self, y):
        groups = self.ngroups
        if groups == 1:
            return self.norm(y)
        width = self.d_inner // groups
        y = functional.rms_norm(y.unflatten(-1, (groups, width)), width, eps=self.norm.eps)
        return y.flatten(-2) * self.norm.weight.to(y.dtype)


class LinearAttention(nn.Module):
    """Causal linear attention of num_heads heads: projections to queries, keys and values, the
    scan, an RMSNorm of each head, and a projection.

    decay is None, "heads" (fixed, log(1 - 2^(-5 - h)) for head h, as RetNet's) or "tokens" (learned
    from each token, as gated linear attention's scalar gate). x [b, n, embed_dim], or with
    cu_seqlens int32 [sequences + 1] packed sequences [n, embed_dim]; the result is of x's sizes.
    bf16 or fp16, or any type under torch.autocast; heads are multiples of 16 to 256 wide.

    With return_final_state the pair (result, state) comes back, and with this as initial_state the
    sequence goes on, as in Mamba2. The state, fp32 [b, num_heads, width, width], or one for each
    packed sequence, is a new tensor; None is zeros.
    """

    def __init__(self, embed_dim, num_heads, decay="tokens", device=None, dtype=None):
        super().__init__()
        if embed_dim % num_heads or decay not in (None, "heads", "tokens"):
            raise ValueError(
                f"LinearAttention: {num_heads} heads must divide embed_dim {embed_dim}; decay is"
                f" None, heads or tokens, not {decay}"
            )
        made = {"device": device, "dtype": dtype}
        self.num_heads, self.decay = num_heads, decay
        self.qkv_proj = Linear(embed_dim, 3 * embed_dim, bias=False, **made)
        self.out_proj = Linear(embed_dim, embed_dim, bias=False, **made)
        self.norm = RMSNorm(embed_dim // num_heads, eps=1e-5, **made)
        if decay == "tokens":
            self.gate_proj = Linear(embed_dim, num_heads, **made)

    def forward(self, x, cu_seqlens=None, initial_state=None, return_final_state=False):
        q, k, v = self.qkv_proj(x).unflatten(-1, (3, self.num_heads, -1)).unbind(-3)
        decays = {}
        if self.decay == "heads":
            heads = torch.arange(self.num_heads, dtype=torch.float32, device=x.device)
            decays["decay"] = -torch.log1p(-torch.exp2(-5 - heads))
        elif self.decay == "tokens":
            decays["log_decay"] = nn.functional.logsigmoid(self.gate_proj(x).float()) / 16
        o = sequences.linear_attention(
            q,
            k,
            v,
            initial_state=initial_state,
            return_final_state=return_final_state,
            cu_seqlens=cu_seqlens,
            **decays,
        )
        if return_final_state:
            o, state = o
        o = self.out_proj(self.norm(o).flatten(-2))
        return (o, state) if return_final_state else o


class LongConv(nn.Module):
    """A convolution of each channel as long as the sequence: y = u * k + D u, causal.

    u [b, channels, n] with n at most length, bf16 or fp16, or any type under torch.autocast; the
    filters k [channels, length] and the skip D [channels] are parameters, k used in fp32.
    """

    def __init__(self, channels, length, device=None):
        super().__init__()
        falls = torch.exp(-torch.arange(length, device=device) * (8 / length))
        filters = torch.randn(channels, length, device=device) * falls * length**-0.5
        self.filters = nn.Parameter(filters)
        self.D = nn.Parameter(torch.ones(channels, device=device))

    def forward(self, u):
        y = sequences.fft_conv(u, self.filters[:, : u.size(-1)].float())
        return y + self.D.to(u.dtype)[:, None] * u
