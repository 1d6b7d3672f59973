# SPDX-License-Identifier: MIT
"""The suite of rotary beside PyTorch's own kernels and torch.compile's, of q and k in one graph."""
import math

import torch

from torch_cases import TYPES, compiled, deviation, implementation, sampled


class rotary_case:
    def __init__(self, case, device):
        number = {key: int(value) for key, value in case.items() if str(value).isdigit()}
        self.b, self.n, self.d = number.get("b", 1), number["n"], number["d"]
        self.w, self.interleaved = number.get("w", self.d // 2), number.get("interleaved", 0)
        self.dtype, self.device, self.flops = case.get("type", "bf16"), device, 0
        self.plain = "torch_cpu" if device == "cpu" else "torch"
        heads = [h for h in (number["hq"], number["hk"]) if h]
        self.x = [torch.randn(self.b, self.n, h, self.d, device=device).to(TYPES[self.dtype])
                  for h in heads]
        self.y = [torch.empty_like(x) for x in self.x]
        waves = 10000.0 ** -(torch.arange(self.w, dtype=torch.float64) / self.w)
        angles = torch.arange(self.n, dtype=torch.float64)[:, None] * waves
        self.cos, self.sin = (f(angles).float().to(device) for f in (torch.cos, torch.sin))
        self.positions = None
        if number.get("positions", 0):
            token, sequence = torch.arange(self.n), torch.arange(self.b)[:, None]
            self.positions = ((self.n - 1 - token + 7 * sequence) % self.n).to(device, torch.int32)
        tensors = [*self.x, *self.y, self.cos, self.sin, self.positions]
        self.bytes = sum(t.numel() * t.element_size() for t in tensors if t is not None)

    def tk(self, library):
        k, k_out = (self.x[1], self.y[1]) if len(self.x) > 1 else (None, None)
        operands = {"q": self.x[0], "k": k, "cos": self.cos, "sin": self.sin,
                    "positions": self.positions, "q_out": self.y[0], "k_out": k_out}
        call = library.bind("rotary", operands, self.device, interleaved=self.interleaved)
        return implementation("tk", call, lambda _: self.y)

    def outputs(self):
        return self.y

    def rotated(self, x, cos, sin):
        """One tensor, in the type of cos where that is wider."""
        if self.interleaved:
            first, second = x[..., : 2 * self.w : 2], x[..., 1 : 2 * self.w : 2]
        else:
            first, second = x[..., : self.w], x[..., self.w : 2 * self.w]
        parts = [first * cos - second * sin, second * cos + first * sin]
        turned = torch.stack(parts, -1).flatten(-2) if self.interleaved else torch.cat(parts, -1)
        return torch.cat([turned.to(x.dtype), x[..., 2 * self.w :]], -1)

    def all_rotated(self):
        at = slice(None) if self.positions is None else self.positions
        cos, sin = self.cos[at].unsqueeze(-2), self.sin[at].unsqueeze(-2)
        return [self.rotated(x, cos, sin) for x in self.x]

    def peers(self, _):
        made = [implementation(self.plain, self.all_rotated)]
        if self.device != "cpu":
            made.append(implementation("torch_compile", compiled(self.all_rotated)))
        return made

    def compare(self, results):
        """Error and its limit: one rounding, the floor, and what fp32 commits, less than 2^-21."""
        parts = deviation()
        heads = sum(x.shape[2] for x in self.x)
        budget = 2**24 // (self.b * heads * self.d) if self.device == "cpu" else self.n
        at = self.positions if self.positions is not None else torch.arange(self.n)[None].to(
            self.device)
        for tokens in sampled(self.n, budget, self.device).split(1024):
            rows = at[:, tokens]
            cos, sin = (t.double()[rows].unsqueeze(-2) for t in (self.cos, self.sin))
            for x, result in zip(self.x, results):
                parts.add(result[:, tokens], self.rotated(x[:, tokens].double(), cos, sin))
        error, floor = parts.relative()
        finite = all(x.isfinite().all() for x in results)
        return error if finite else math.inf, 1.1 * floor + 2.0**-21


SUITES = {"rotary": rotary_case}
