# SPDX-License-Identifier: MIT
"""What mixes tokens in the place of attention: models.Decoder takes these. Each is made as
mixer(ops, width, ...) and turns x [b, n, width] into the same sizes."""

import torch
from torch import nn
from torch.nn import init


def linear(x, to):
    return nn.Linear(x, to, bias=False)


class Mamba2(nn.Module):
    """Mamba-2's: a projection to gate, x, B, C and dt, a short convolution, the scan, a norm."""

    def __init__(self, ops, width, expand=2, head=64, state=64, taps=4):
        super().__init__()
        self.ops, self.inner, self.state = ops, expand * width, state
        self.head = min(head, self.inner)
        heads, mixed = self.inner // self.head, self.inner + 2 * state
        self.into = linear(width, self.inner + mixed + heads)
        self.out = linear(self.inner, width)
        self.taps = nn.Parameter(torch.randn(mixed, taps) * taps**-0.5)
        self.bias = nn.Parameter(torch.zeros(mixed))
        self.norm = nn.RMSNorm(self.inner, eps=1e-5)
        self.log_A = nn.Parameter(torch.empty(heads).uniform_(1, 16).log())
        self.D = nn.Parameter(torch.ones(heads))
        dt = torch.exp(torch.empty(heads).uniform_(-6.9, -2.3))  # 0.001 to 0.1
        self.dt_bias = nn.Parameter(dt + torch.log(-torch.expm1(-dt)))

    def forward(self, x):
        heads, state = len(self.D), self.state
        z, mixed, dt = self.ops.linear(x, self.into.weight).split(
            (self.inner, self.inner + 2 * state, heads), -1
        )
        mixed = self.ops.causal_conv1d(mixed, self.taps, self.bias, "silu")
        x, B, C = mixed.split((self.inner, state, state), -1)
        y = self.ops.mamba2(
            x.unflatten(-1, (heads, self.head)),
            dt,
            -self.log_A.exp(),
            B.unsqueeze(2),
            C.unsqueeze(2),
            self.D,
            z.unflatten(-1, (heads, self.head)),
            self.dt_bias,
            dt_softplus=True,
        ).flatten(-2)
        y = self.ops.rms_norm(y, (self.inner,), self.norm.weight, self.norm.eps)
        return self.ops.linear(y, self.out.weight)


class Based(nn.Module):
    """Linear attention by the series of exp, behind a short convolution, which shows a token the
    ones before it."""

    def __init__(self, ops, width, heads, taps=4):
        super().__init__()
        self.ops, self.heads, self.value = ops, heads, width // heads
        mixed = heads * (32 + self.value)
        self.into, self.out = linear(width, mixed), linear(width, width)
        self.taps = nn.Parameter(torch.randn(mixed, taps) * taps**-0.5)

    def forward(self, x):
        x = self.ops.causal_conv1d(self.ops.linear(x, self.into.weight), self.taps)
        q, k, v = x.unflatten(-1, (self.heads, -1)).split((16, 16, self.value), -1)
        return self.ops.linear(self.ops.based(q, k, v).flatten(-2), self.out.weight)


class Hyena(nn.Module):
    """Hyena's: two gates around a convolution as long as the sequence, whose filters are functions
    of the place that fall off."""

    def __init__(self, ops, width, longest, features=17, hidden=32):
        super().__init__()
        self.ops, self.width, self.longest = ops, width, longest
        self.into, self.out = linear(width, 3 * width), linear(width, width)
        self.taps = nn.Parameter(torch.randn(3 * width, 3) * 3**-0.5)
        self.skip = nn.Parameter(torch.ones(width))
        self.layers = nn.ModuleList(
            nn.Linear(*x) for x in ((features, hidden), (hidden, hidden), (hidden, width))
        )
        init.normal_(self.layers[-1].weight, std=0.3 * hidden**-0.5)
        place = torch.linspace(0, 1, longest)[:, None]
        waves = 2 * torch.pi * place * torch.arange(1, features // 2 + 1)
        self.register_buffer("places", torch.cat((place, waves.cos(), waves.sin()), 1))
        falls = torch.logspace(0.5, 2, width)  # from a third of the sequence to a hundredth
        self.register_buffer("window", torch.exp(-place * falls))

    def filters(self, n):
        """[width, n], fp32."""
        with torch.autocast(self.taps.device.type, enabled=False):
            x = self.places[:n]
            for layer in self.layers[:-1]:
                x = torch.sin(4 * layer(x))
            x = (self.layers[-1](x) * self.window[:n]).t()
            first = torch.zeros_like(x)
            first[:, 0] = self.skip
            return x + first

    def forward(self, x):
        n = x.size(1)
        x = self.ops.causal_conv1d(self.ops.linear(x, self.into.weight), self.taps)
        q, k, v = x.transpose(1, 2).contiguous().split(self.width, 1)
        y = self.ops.fft_conv(v, self.filters(n), k, q)
        return self.ops.linear(y.transpose(1, 2), self.out.weight)


class Lolcats(nn.Module):
    """A model's attention (models.Attention) swapped for Hedgehog's, with its weights: softmax in a
    window, learned features before it. While `distils`, what comes out is the softmax's, and
    `error` is how far Hedgehog's is from it."""

    def __init__(self, attention):
        super().__init__()
        self.attention, self.distils, self.error = attention, False, None
        heads, d = attention.heads, attention.d
        self.maps = nn.Parameter(torch.randn(2, heads, d, d // 2) * d**-0.5)
        self.log_factors = nn.Parameter(torch.zeros(2, heads))

    def forward(self, x):
        ops, of = self.attention.ops, self.attention
        q, k, v = of.projected(x)
        o = ops.hedgehog(q, k, v, *self.maps, *self.log_factors.exp())
        if self.distils:
            with torch.no_grad():
                wanted = ops.attention(q, k, v, causal=True)
            self.error = (o.float() - wanted.float()).square().mean()
            self.error = self.error / wanted.float().square().mean()
            o = wanted
        return ops.linear(o.flatten(-2), of.out.weight)
