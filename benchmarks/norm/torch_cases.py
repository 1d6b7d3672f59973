# SPDX-License-Identifier: MIT
"""Suite norm beside PyTorch's own kernels and torch.compile's."""
import math

import torch
import torch.nn.functional as F

from torch_cases import TYPES, deviation, implementation, sampled


class norm_case:
    def __init__(self, case, device):
        self.rows, self.width = int(case["rows"]), int(case["width"])
        self.kind, self.dtype = case.get("kind", "rms"), case.get("type", "bf16")
        self.device, self.eps = device, 1e-5

        def random(*shape):
            return torch.randn(*shape, device=device).to(TYPES[self.dtype])

        self.x, self.weight = random(self.rows, self.width), random(self.width)
        self.bias = random(self.width) if self.kind == "layer" else None
        self.residual = random(self.rows, self.width) if case.get("residual", "0") != "0" else None
        self.y = torch.empty_like(self.x)
        self.r = torch.empty_like(self.x) if self.residual is not None else None
        self.flops = 0
        tensors = (self.x, self.weight, self.bias, self.residual, self.y, self.r)
        self.bytes = sum(x.numel() * x.element_size() for x in tensors if x is not None)

    def tk(self, library):
        operands = {"x": self.x, "residual": self.residual, "weight": self.weight,
                    "bias": self.bias, "y": self.y, "r": self.r}
        call = library.bind("norm", operands, self.device,
                            kind=f"TK_NORM_{self.kind.upper()}", eps=self.eps)
        return implementation("tk", call, lambda _: (self.y, self.r))

    def outputs(self):
        return [x for x in (self.y, self.r) if x is not None]

    def peers(self, _):
        def norm(x, residual, weight, bias):
            r = x if residual is None else x + residual
            if self.kind == "rms":
                return F.rms_norm(r, (self.width,), weight, self.eps), r
            return F.layer_norm(r, (self.width,), weight, bias, self.eps), r

        operands = self.x, self.residual, self.weight, self.bias
        plain = "torch_cpu" if self.device == "cpu" else "torch"
        made = [implementation(plain, lambda: norm(*operands))]
        if self.device != "cpu":
            torch._dynamo.reset()  # else it gives up compiling after eight shapes
            compiled = torch.compile(norm, dynamic=False)
            made.append(implementation("torch_compile", lambda: compiled(*operands)))
        return made

    def compare(self, results):
        """Error and its limit. The output is rounded once, which sets the floor; fp32 statistics
        are off by less than 2^-20. Peers round r first, which costs another floor."""
        y, r = results
        parts, sums = deviation(), deviation()
        budget = 2**24 // self.width if self.device == "cpu" else self.rows
        for rows in sampled(self.rows, budget, self.device).split(1024):
            ref = self.x[rows].double()
            if self.residual is not None:
                ref += self.residual[rows].double()
                sums.add(r[rows], ref)
            if self.kind == "layer":
                ref = ref - ref.mean(1, keepdim=True)
            ref *= (ref.square().mean(1, keepdim=True) + self.eps).rsqrt() * self.weight.double()
            parts.add(y[rows], ref if self.bias is None else ref + self.bias.double())
        error, floor = parts.relative()
        sum_error, sum_floor = sums.relative()
        if not y.isfinite().all() or sum_error > 1.1 * sum_floor:
            error = math.inf
        return error, 1.1 * floor + 2.0**-20


SUITES = {"norm": norm_case}
