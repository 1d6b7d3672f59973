# SPDX-License-Identifier: MIT
"""The cases of cases.txt as PyTorch tensors: operands, the call of tk, its peers, the oracle.

A case has flops, bytes and dtype, tk(library) and peers(), which give implementations, and
compare(results), which gives the error against float64 (relative, in the Frobenius norm) and the
limit that a right result keeps. On a GPU whole results are compared, on the CPU a sample of rows.
"""
import contextlib
import math

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

import cublaslt
from tk_binding import (ACTIVATIONS, BIASES, MASKS, NORMS, OP_ATTENTION_FORWARD, OP_GEMM, OP_NORM,
                        tk_attention_forward_problem, tk_gemm_problem, tk_norm_problem)

TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
ACTIVATE = {
    "none": lambda x: x,
    "relu": F.relu,
    "silu": F.silu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "gelu_erf": F.gelu,
}


class implementation:
    """One row of a case: `call` enqueues the work once, `results` gives what it computed."""

    def __init__(self, name, call, results=None, context=contextlib.nullcontext):
        self.name, self.call, self.context = name, call, context
        self.results = results or (lambda returned: returned)


def read_cases(path):
    cases = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            words = line.split("#")[0].split()
            if words:
                pairs = [w.split("=") for w in words[2:] if w != "quick"]
                cases.append({"suite": words[0], "case": words[1], "quick": "quick" in words,
                              **{key: value for key, value in pairs}})
    return cases


class deviation:
    """Squares of differences from the oracle, summed over the parts that were compared."""

    def __init__(self):
        self.error = self.rounding = self.reference = 0.0

    def add(self, x, ref):
        self.error += (x.double() - ref).square().sum().item()
        self.rounding += (ref.to(x.dtype).double() - ref).square().sum().item()
        self.reference += ref.square().sum().item()

    def relative(self):
        size = math.sqrt(self.reference) or 1.0
        return math.sqrt(self.error) / size, math.sqrt(self.rounding) / size


def sampled(n, budget, device):
    """Rows to compare: all if they fit the budget, else both ends, edges of tiles and a sample."""
    if n <= budget:
        return torch.arange(n, device=device)
    edges = [i + e for i in range(0, n, 64) for e in (0, 63)]
    picks = edges[:8] + edges[-8:] + torch.randint(n, (max(48, budget - 18),)).tolist() + [0, n - 1]
    return torch.tensor(sorted({i for i in picks if i < n}), device=device)


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
        problem = tk_gemm_problem(
            transpose_a=int(self.trans[0] == "t"), transpose_b=int(self.trans[1] == "t"), alpha=1.0,
            beta=0.0, bias_kind=BIASES[self.bias_kind], activation=ACTIVATIONS[self.act])
        operands = {"a": self.a, "b": self.b, "bias": self.bias, "d": self.d}
        call = library.bind(OP_GEMM, problem, operands, self.device)
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
                made.append(cublaslt.gemm(self.a, self.b, d, *(x == "t" for x in self.trans)))
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


class attention_case:
    def __init__(self, case, device):
        self.b, self.nq, self.hq, self.d = (int(case[key]) for key in "bnhd")
        self.nk, self.hk = int(case.get("nk", self.nq)), int(case.get("hk", self.hq))
        self.mask = case.get("mask", "none")
        self.dtype = self.out = case.get("type", "bf16")
        self.device, self.scale = device, self.d**-0.5

        def random(*shape):
            return torch.randn(*shape, device=device).to(TYPES[self.dtype])

        if case.get("layout") == "packed":
            packed = random(self.b, self.nq, self.hq + 2 * self.hk, self.d)
            self.q, self.k, self.v = packed.split([self.hq, self.hk, self.hk], dim=2)
        else:
            self.q = random(self.b, self.nq, self.hq, self.d)
            self.k, self.v = (random(self.b, self.nk, self.hk, self.d) for _ in range(2))
        self.o = torch.empty(self.b, self.nq, self.hq, self.d, dtype=self.q.dtype, device=device)
        self.lse = torch.empty(self.b, self.hq, self.nq, device=device)
        seeing = min(self.nq, self.nk)  # of the rows, where the mask is causal
        pairs = seeing * (2 * self.nk - seeing) // 2 if self.mask == "causal" else self.nq * self.nk
        self.flops = 4 * self.b * self.hq * pairs * self.d
        tensors = (self.q, self.k, self.v, self.o, self.lse)
        self.bytes = sum(x.numel() * x.element_size() for x in tensors)

    def tk(self, library):
        problem = tk_attention_forward_problem(mask=MASKS[self.mask], scale=self.scale)
        operands = {"q": self.q, "k": self.k, "v": self.v, "o": self.o, "lse": self.lse}
        call = library.bind(OP_ATTENTION_FORWARD, problem, operands, self.device)
        return implementation("tk", call, lambda _: (self.o, self.lse))

    def outputs(self):
        return [self.o, self.lse]

    def peers(self, _):
        # PyTorch aligns its causal mask to the first key: the same only where nq = nk
        if self.mask == "causal" and self.nq != self.nk:
            return []
        q, k, v = (x.transpose(1, 2) for x in (self.q, self.k, self.v))

        def call():
            return F.scaled_dot_product_attention(q, k, v, is_causal=self.mask == "causal",
                                                  scale=self.scale, enable_gqa=self.hq != self.hk)

        def results(returned):
            return returned.transpose(1, 2), None

        def on(backend):
            return lambda: sdpa_kernel([backend])

        if self.device == "cpu":
            return [implementation("torch_cpu", call, results)]
        return [implementation("cudnn", call, results, on(SDPBackend.CUDNN_ATTENTION)),
                implementation("flash2", call, results, on(SDPBackend.FLASH_ATTENTION))]

    def reference(self, batch, rows):
        """o and lse of some rows of every head of one batch, float64: [hq, rows, d], [hq, rows]."""
        operands = self.q[batch][rows], self.k[batch], self.v[batch]
        q, k, v = (x.transpose(0, 1).double() for x in operands)
        k, v = (x.repeat_interleave(self.hq // self.hk, dim=0) for x in (k, v))
        scores = q @ k.mT * self.scale
        if self.mask == "causal":
            last = rows + self.nk - self.nq
            hidden = torch.arange(self.nk, device=self.device)[None] > last[:, None]
            scores.masked_fill_(hidden, -math.inf)
        lse = scores.logsumexp(2)
        return scores.sub_(lse[:, :, None]).exp_().nan_to_num_() @ v, lse

    def compare(self, results):
        """Error and its limit. The output is rounded once, and so are the probabilities between the
        two products, each to the floor: sqrt 2 floors, 2 with a margin. lse is fp32 and may be off
        by 2^-15 of itself (or of 1), which exp2 and log2 in 22 bits never use up."""
        x, lse = results
        parts, worst_lse = deviation(), 0.0
        row_cost = self.b * self.hq * self.nk * self.d
        budget = 2**30 // row_cost if self.device == "cpu" else self.nq
        picked = sampled(self.nq, budget, self.device)
        for batch in range(self.b):
            for rows in picked.split(max(1, 2**27 // (self.hq * self.nk))):
                ref, ref_lse = self.reference(batch, rows)
                parts.add(x[batch, rows].transpose(0, 1), ref)
                if lse is not None:
                    got = lse[batch][:, rows].double()
                    gap = (got - ref_lse).abs() / ref_lse.abs().clamp(min=1)
                    gap.masked_fill_(got == ref_lse, 0)  # both may be -inf
                    worst_lse = max(worst_lse, gap.nan_to_num(nan=math.inf).max().item())
        error, floor = parts.relative()
        if not x.isfinite().all() or worst_lse > 2.0**-15:
            error = math.inf
        return error, 2 * floor


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
        problem = tk_norm_problem(kind=NORMS[self.kind], eps=self.eps)
        operands = {"x": self.x, "residual": self.residual, "weight": self.weight,
                    "bias": self.bias, "y": self.y, "r": self.r}
        call = library.bind(OP_NORM, problem, operands, self.device)
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
