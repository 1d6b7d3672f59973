# SPDX-License-Identifier: MIT
"""The suites of the long convolution beside cuFFT through PyTorch, for short filters cuDNN's depthwise
convolution, and FlashFFTConv and subquadratic_ops_torch where they are installed."""
import math

import torch
from torch.nn import functional

from torch_cases import (
    TYPES,
    deviation,
    implementation,
    made_at_first_call,
    package,
    sampled,
)

FACTOR_ERROR = 2.0**-9  # of dk, by fp16 factors of transforms
DIRECT_TAPS = 128  # up to so many, a direct convolution is tried


class conv_case:
    def __init__(self, case, device):
        number = {key: int(value) for key, value in case.items() if str(value).isdigit()}
        self.b, self.h, self.n = number.get("b", 1), number["h"], number["n"]
        self.nk = number.get("nk", self.n)
        self.circular = number.get("circular", 0) == 1
        self.dtype, self.device, self.flops = case.get("type", "bf16"), device, 0
        self.plain = "torch_cpu" if device == "cpu" else "torch"
        self.u = self.random()
        self.k = torch.randn(self.h, self.nk, device=device)
        gates = number.get("gates", 0) == 1
        self.pre, self.post = (self.random(), self.random()) if gates else (None, None)

    def random(self):
        return torch.randn(self.b, self.h, self.n, device=self.device).to(TYPES[self.dtype])

    def operands(self):
        return {"u": self.u, "k": self.k, "pre": self.pre, "post": self.post}

    def count_bytes(self, *more):
        tensors = [*self.operands().values(), *more]
        return sum(t.numel() * t.element_size() for t in tensors if t is not None)

    def convolved(self, x, k):
        """In the precision of x, by transforms."""
        points = self.n if self.circular else 2 ** math.ceil(math.log2(self.n + self.nk))
        spectrum = torch.fft.rfft(x, points) * torch.fft.rfft(k, points)
        return torch.fft.irfft(spectrum, points)[..., : self.n]

    def gated(self, u, k, pre, post):
        x = u if pre is None else u * pre
        y = self.convolved(x.to(k.dtype), k)
        return y if post is None else y * post

    def of_torch(self):
        return self.gated(self.u, self.k, self.pre, self.post).to(TYPES[self.dtype])

    def some_channels(self):
        budget = 2**22 // (self.b * self.n) if self.device == "cpu" else self.h
        each = max(1, 2**26 // (self.b * self.n))
        return sampled(self.h, max(1, budget), self.device).split(each)

    def part(self, t, channels):
        return None if t is None else t[:, channels].double()


class forward_case(conv_case):
    def __init__(self, case, device):
        super().__init__(case, device)
        self.y = torch.empty_like(self.u)
        self.bytes = self.count_bytes(self.y)

    def tk(self, library):
        call = library.bind("fft_conv", {**self.operands(), "y": self.y}, self.device,
                            circular=int(self.circular))
        return implementation("tk", call, lambda _: self.y)

    def outputs(self):
        return [self.y]

    def direct(self):
        """cuDNN's, with the filter turned round, in the sequences' type."""
        weight = self.k.flip(-1)[:, None].to(self.u.dtype)
        return lambda: functional.conv1d(functional.pad(self.u, (self.nk - 1, 0)), weight,
                                         groups=self.h)

    def of_flashfftconv(self):
        points = self.n if self.circular else 2 ** math.ceil(math.log2(self.n + self.nk))
        module = package("flashfftconv").FlashFFTConv(points, dtype=self.u.dtype).to(self.device)
        if self.pre is None:
            return lambda: module(self.u, self.k)
        return lambda: module(self.u, self.k, self.pre, self.post)

    def of_subquadratic(self):
        run = package("subquadratic_ops_torch.fft_causal_conv1d").fft_causal_conv1d
        return lambda: run(self.u, self.k)

    def peers(self, _):
        made = [implementation(self.plain, self.of_torch)]
        plain = self.pre is None and not self.circular
        if plain and self.nk <= DIRECT_TAPS:
            made.append(implementation(f"{self.plain}_direct", self.direct()))
        if self.device != "cpu":
            made.append(implementation("flashfftconv", made_at_first_call(self.of_flashfftconv)))
            if plain:
                made.append(implementation("subquadratic_ops_torch",
                                           made_at_first_call(self.of_subquadratic)))
        return made

    def compare(self, result):
        """Twice what rounding operands and results commits."""
        parts = deviation()
        for at in self.some_channels():
            exact = self.gated(self.part(self.u, at), self.k[at].double(), self.part(self.pre, at),
                               self.part(self.post, at))
            parts.add(result[:, at], exact)
        error, floor = parts.relative()
        return error if result.isfinite().all() else math.inf, 2.9 * floor + 2.0**-18


class backward_case(conv_case):
    def __init__(self, case, device):
        super().__init__(case, device)
        self.dy, self.du, self.dk = self.random(), torch.empty_like(self.u), torch.empty_like(self.k)
        self.dpre = None if self.pre is None else torch.empty_like(self.u)
        self.dpost = None if self.post is None else torch.empty_like(self.u)
        self.bytes = self.count_bytes(self.dy, self.du, self.dk, self.dpre, self.dpost)

    def tk(self, library):
        operands = {**self.operands(), "dy": self.dy, "du": self.du, "dk": self.dk,
                    "dpre": self.dpre, "dpost": self.dpost}
        call = library.bind("fft_conv_backward", operands, self.device,
                            circular=int(self.circular))
        return implementation("tk", call, lambda _: (self.du, self.dk))

    def outputs(self):
        return [t for t in (self.du, self.dk, self.dpre, self.dpost) if t is not None]

    def gradients(self, u, k, pre, post, dy):
        with torch.inference_mode(False), torch.enable_grad():
            wanted = [t.clone().requires_grad_() for t in (u, k, pre, post) if t is not None]
            gates = wanted[2:] or (None, None)
            y = self.gated(wanted[0], wanted[1], *gates)
            return torch.autograd.grad(y, wanted, dy.to(y.dtype))

    def peers(self, _):
        run = lambda: self.gradients(self.u, self.k, self.pre, self.post, self.dy)
        return [implementation(self.plain, run, lambda all: all[:2])]

    def compare(self, results):
        du, dk = results
        parts, filters = deviation(), deviation()
        for at in self.some_channels():
            at = at.clone()
            exact = self.gradients(self.part(self.u, at), self.k[at].double(),
                                   self.part(self.pre, at), self.part(self.post, at),
                                   self.part(self.dy, at))
            parts.add(du[:, at], exact[0])
            filters.add(dk[at], exact[1])
        error, floor = parts.relative()
        finite = du.isfinite().all() and dk.isfinite().all()
        if not finite or filters.relative()[0] > FACTOR_ERROR:
            error = math.inf
        return error, 2.9 * floor + 2.0**-18


SUITES = {"fft-conv": forward_case, "fft-conv-bwd": backward_case}
