# SPDX-License-Identifier: MIT
"""The suite of transpose beside PyTorch's own copy of a transposed view, .mT.contiguous()."""
import torch

from torch_cases import TYPES, implementation


class transpose_case:
    def __init__(self, case, device):
        h, n, m, pad = (int(case.get(key, default)) for key, default in
                        (("h", 1), ("n", 0), ("m", 0), ("pad", 0)))
        self.dtype, self.device, self.flops = case.get("type", "bf16"), device, 0
        self.plain = "torch_cpu" if device == "cpu" else "torch"
        self.x = torch.randn(h, n, m + pad, device=device).to(TYPES[self.dtype])[..., :m]
        self.y = torch.empty(h, m, n, device=device, dtype=TYPES[self.dtype])
        self.bytes = 2 * self.y.numel() * self.y.element_size()

    def tk(self, library):
        call = library.bind("transpose", {"x": self.x, "y": self.y}, self.device)
        return implementation("tk", call, lambda _: self.y)

    def outputs(self):
        return [self.y]

    def peers(self, _):
        return [implementation(self.plain, lambda: self.y.copy_(self.x.mT))]

    def compare(self, results):
        """The share of elements that differ, of which a right result has none."""
        return (results != self.x.mT).double().mean().item(), 0.0


SUITES = {"transpose": transpose_case}
