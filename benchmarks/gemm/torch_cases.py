# SPDX-License-Identifier: MIT
"""Suite gemm beside cuBLAS and cuBLASLt, as PyTorch calls them; on the CPU beside PyTorch's own."""
import math

import torch
import torch.nn.functional as F

from torch_cases import TYPES, deviation, implementation, load, sampled

ACTIVATE = {
    "none": lambda x: x,
    "relu": F.relu,
    "silu": F.silu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "gelu_erf": F.gelu,
}


class gemm_case:
    def __init__(self, case, device):
        self.m, self.n, self.k = map(int, case["mnk"].split("x"))
        self.batch = int(case.get("batch", 1))
        self.trans = case.get("trans", "nn")
        self.dtype = case.get("type", "bf16")
        self.out = case.get("out", self.dtype)
        self.bias_kind, self.act = case.get("bias", "none"), case.get("act", "none")
        self.device = device
        lead = (self.batch,) if self.batch > 1 else ()

        def random(*shape, dtype=TYPES[self.dtype]):
            return torch.randn(*shape, device=device).to(dtype)

        def operand(rows, cols, transposed):
            return random(*lead, *((cols, rows) if transposed else (rows, cols)))

        self.a = operand(self.m, self.k, self.trans[0] == "t")
        self.b = operand(self.k, self.n, self.trans[1] == "t")
        length = {"none": 0, "row": self.n, "column": self.m}[self.bias_kind]
        self.bias = random(length, dtype=TYPES[self.out]) if length else None
        self.d = torch.empty(*lead, self.m, self.n, dtype=TYPES[self.out], device=device)
        self.op_a = self.a.mT if self.trans[0] == "t" else self.a
        self.op_b = self.b.mT if self.trans[1] == "t" else self.b
        self.flops = 2 * self.batch * self.m * self.n * self.k
        self.bytes = sum(x.numel() * x.element_size() for x in (self.a, self.b, self.d))
        self.bytes += length * self.d.element_size()

    def tk(self, library):
        operands = {"a": self.a, "b": self.b, "bias": self.bias, "d": self.d}
        call = library.bind("gemm", operands, self.device, transpose_a=int(self.trans[0] == "t"),
                            transpose_b=int(self.trans[1] == "t"), alpha=1.0, beta=0.0,
                            bias_kind=f"TK_BIAS_{self.bias_kind.upper()}",
                            activation=f"TK_ACTIVATION_{self.act.upper()}")
        return implementation("tk", call, lambda _: self.d)

    def outputs(self):
        return [self.d]

    def peers(self, library):
        a, b, bias, act = self.op_a, self.op_b, self.bias, ACTIVATE[self.act]
        d = torch.empty_like(self.d)
        blas = "torch_cpu" if self.device == "cpu" else "cublas"
        if self.bias_kind == "none" and self.act == "none":
            if self.out == self.dtype:
                return [implementation(blas, lambda: torch.matmul(a, b, out=d)),
                        *self.older(library)]
            product = torch.bmm if self.batch > 1 else torch.mm
            return [implementation(blas, lambda: product(a, b, TYPES[self.out], out=d))]
        if self.bias_kind != "row" or self.batch > 1:
            return []
        fused = {"none": ("", lambda: torch.addmm(bias, a, b, out=d)),
                 "relu": ("lt", lambda: torch._addmm_activation(bias, a, b, out=d)),
                 "gelu_tanh": ("lt", lambda: torch._addmm_activation(bias, a, b, use_gelu=True,
                                                                    out=d))}
        made = []
        if self.act in fused and (self.act == "none" or self.device != "cpu"):
            suffix, call = fused[self.act]
            made.append(implementation(blas + suffix, call))
        if self.act != "none":
            made.append(implementation(f"{blas}+{self.act}", lambda: act(torch.addmm(bias, a, b))))
        return made

    def older(self, library):
        """Kernels of compute capability 8.0, beside a library for sm_80 on a later card."""
        if " sm_80 " not in library.version or self.device == "cpu" or self.batch > 1 or \
                torch.cuda.get_device_capability() < (9, 0):
            return []
        made, d = [], torch.empty_like(self.d)

        def call():
            if not made:
                made.append(load("gemm", "cublaslt").gemm(self.a, self.b, d, *(x == "t" for x in self.trans)))
            made[0].call()

        return [implementation("cublas_sm_80", call, lambda _: d)]

    def compare(self, x):
        """Error and its limit. The result is rounded once, which sets the floor; truncation in the
        fp32 sums of tensor cores, k / 16 of them, adds at most k / 8 units of 2^-24 in the mean."""
        parts, act = deviation(), ACTIVATE[self.act]
        budget = 2**31 // (self.n * self.k * self.batch) if self.device == "cpu" else self.m
        picked = sampled(self.m, budget, self.device)
        for i in range(self.batch):
            a, b, result = (y[i] if self.batch > 1 else y for y in (self.op_a, self.op_b, x))
            b = b.double()
            for rows in picked.split(2048):
                ref = a[rows].double() @ b
                if self.bias_kind == "row":
                    ref += self.bias.double()
                elif self.bias_kind == "column":
                    ref += self.bias[rows].double()[:, None]
                parts.add(result[rows], act(ref))
        error, floor = parts.relative()
        if not x.isfinite().all():
            error = math.inf
        return error, 1.1 * floor + self.k / 8 * 2.0**-24


SUITES = {"gemm": gemm_case}
