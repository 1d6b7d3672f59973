# SPDX-License-Identifier: MIT
"""The suites of activation beside PyTorch's own kernels, torch.compile's, and Liger's, which take
SwiGLU of halves, and forwards SwiGLU and GeGLU of two tensors. PyTorch's own backward is that of
autograd, which keeps act(a) of the forward besides."""
import math

import torch
import torch.nn.functional as F

from torch_cases import TYPES, compiled, deviation, implementation, package, sampled

ACTIVATE = {
    "none": lambda x: x,
    "relu": F.relu,
    "silu": F.silu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "gelu_erf": F.gelu,
    "sigmoid": torch.sigmoid,
}
HALVES, INTERLEAVED = 2, 3  # of `gated`


class activation_case:
    def __init__(self, case, device):
        self.rows, self.width = int(case["rows"]), int(case["width"])
        self.kind, self.gated = case.get("act", "silu"), int(case.get("gated", HALVES))
        self.dtype, self.device, self.flops = case.get("type", "bf16"), device, 0
        self.plain = "torch_cpu" if device == "cpu" else "torch"
        self.act = ACTIVATE[self.kind]
        self.a, self.b = self.pair(self.random)

    def random(self, *shape):
        return torch.randn(*shape, device=self.device).to(TYPES[self.dtype])

    def empty(self, *shape):
        return torch.empty(*shape, device=self.device, dtype=TYPES[self.dtype])

    def pair(self, make):
        """Two tensors, two views of one, or one."""
        if self.gated == HALVES:
            return make(self.rows, 2 * self.width).chunk(2, -1)
        if self.gated == INTERLEAVED:
            both = make(self.rows, 2 * self.width)
            return both[:, 0::2], both[:, 1::2]
        return make(self.rows, self.width), make(self.rows, self.width) if self.gated else None

    def moved(self, *tensors):
        return sum(x.numel() * x.element_size() for x in tensors if x is not None)

    def operands(self, first, second, a, b):
        """The tensors of a pair by the names of the problem's fields: of turns, the one they lie in."""
        if self.gated != INTERLEAVED:
            return {first: a, second: b}
        return {first: torch.as_strided(a, (self.rows, 2 * self.width), (2 * self.width, 1)),
                second: None}

    def fields(self):
        return {"kind": f"TK_ACTIVATION_{self.kind.upper()}",
                "interleaved": int(self.gated == INTERLEAVED)}

    def value(self, a, b):
        return self.act(a) if b is None else self.act(a) * b

    def liger_of_halves(self, direction, *given):
        if self.kind != "silu" or self.gated != HALVES:
            raise NotImplementedError("Liger takes SwiGLU of halves")
        both = self.a.as_strided((self.rows, 2 * self.width), (2 * self.width, 1))
        found = package("liger_kernel.ops.swiglu")
        return getattr(found, f"swiglu_fused_gate_up_{direction}")(both, *given)

    def compare(self, results):
        """Error and its limit: one rounding, the floor, and what fp32 commits, less than 2^-18."""
        parts = deviation()
        budget = 2**24 // self.width if self.device == "cpu" else self.rows
        for rows in sampled(self.rows, budget, self.device).split(1024):
            for result, expected in zip(results, self.reference(rows)):
                parts.add(result[rows], expected)
        error, floor = parts.relative()
        finite = all(x.isfinite().all() for x in results)
        return error if finite else math.inf, self.floors * floor + 2.0**-18

    # PyTorch rounds act(a) before it multiplies, and so do peers.
    @property
    def floors(self):
        return 1.1 if self.gated == 0 else 2.2


class forward_case(activation_case):
    def __init__(self, case, device):
        super().__init__(case, device)
        self.y = self.empty(self.rows, self.width)
        self.bytes = self.moved(self.a, self.b, self.y)

    def tk(self, library):
        operands = {**self.operands("a", "b", self.a, self.b), "y": self.y}
        call = library.bind("activation", operands, self.device, **self.fields())
        return implementation("tk", call, lambda _: (self.y,))

    def outputs(self):
        return [self.y]

    def peers(self, _):
        made = [implementation(self.plain, lambda: (self.value(self.a, self.b),))]
        if self.device != "cpu":
            value = compiled(self.value)
            made.append(implementation("torch_compile", lambda: (value(self.a, self.b),)))
            made.append(implementation("liger", self.liger_call, lambda y: y[-1:]))
        return made

    def liger_call(self):
        found = {"silu": "swiglu", "gelu_tanh": "geglu"}.get(self.kind)
        if self.gated != 1 or not found:
            return self.liger_of_halves("forward")
        return getattr(package(f"liger_kernel.ops.{found}"), f"{found}_forward")(self.a, self.b)

    def reference(self, rows):
        return [self.value(self.a[rows].double(),
                           None if self.b is None else self.b[rows].double())]


class backward_case(activation_case):
    def __init__(self, case, device):
        super().__init__(case, device)
        self.dy = self.random(self.rows, self.width)
        self.da, self.db = self.pair(self.empty)
        self.bytes = self.moved(self.a, self.b, self.dy, self.da, self.db)

    def tk(self, library):
        operands = {**self.operands("a", "b", self.a, self.b), "dy": self.dy,
                    **self.operands("da", "db", self.da, self.db)}
        call = library.bind("activation_backward", operands, self.device, **self.fields())
        return implementation("tk", call, lambda _: self.present(self.da, self.db))

    @staticmethod
    def present(*tensors):
        return [x for x in tensors if x is not None]

    def outputs(self):
        return self.present(self.da, self.db)

    def gradients(self, value):
        """A call that gives the gradients of value(a, b), recorded once."""
        with torch.inference_mode(False), torch.enable_grad():
            leaves = [x.detach().clone().requires_grad_() for x in self.present(self.a, self.b)]
            dy = self.dy.clone()
            y = value(leaves[0], leaves[1] if self.gated else None)

        def call():
            with torch.inference_mode(False):
                return torch.autograd.grad(y, leaves, dy, retain_graph=True)

        return call

    def peers(self, _):
        made = [implementation(self.plain, self.gradients(self.value))]
        if self.device != "cpu":
            made.append(implementation("torch_compile", self.gradients(compiled(self.value))))
            made.append(implementation("liger", lambda: self.liger_of_halves("backward", self.dy),
                                       lambda both: both.chunk(2, -1)))
        return made

    def reference(self, rows):
        with torch.inference_mode(False), torch.enable_grad():
            leaves = [x[rows].double().clone().requires_grad_()
                      for x in self.present(self.a, self.b)]
            y = self.value(leaves[0], leaves[1] if self.gated else None)
            return torch.autograd.grad(y, leaves, self.dy[rows].double().clone())


SUITES = {"activation-fwd": forward_case, "activation-bwd": backward_case}
