# SPDX-License-Identifier: MIT
"""The suites of conv1d beside PyTorch's own convolution, and causal_conv1d and flash-linear-attention
where they are installed.

PyTorch's has the channels before the tokens: it is given tensors that lie so already. The others
take tokens as TK has them, channels contiguous. None takes packed sequences or states here."""
import math

import torch
from torch.nn import functional

from torch_cases import TYPES, deviation, implementation, package, sampled


class tokens_case:
    def __init__(self, case, device):
        number = {key: int(value) for key, value in case.items() if str(value).isdigit()}
        self.b, self.n, self.c = number.get("b", 1), number["n"], number["c"]
        self.w, self.packed = number.get("w", 4), number.get("packed", 0)
        self.silu = case.get("act", "silu") == "silu"
        self.dtype, self.device, self.flops = case.get("type", "bf16"), device, 0
        self.plain = "torch_cpu" if device == "cpu" else "torch"
        of = TYPES[case.get("weights", self.dtype)]
        self.x = self.random(self.b, self.n, self.c)
        self.weight = self.random(self.c, self.w, of=of)
        self.bias = self.random(self.c, of=of) if number.get("bias", 1) else None
        self.sequences = self.packed or self.b
        self.initial = None
        if number.get("states", 0):
            self.initial = self.random(self.sequences, self.w - 1, self.c)
        self.starts = None
        if self.packed:
            self.starts = torch.arange(self.packed + 1, dtype=torch.int32, device=device)
            self.starts *= self.n // self.packed

    def random(self, *shape, of=None):
        return torch.randn(*shape, device=self.device).to(of or TYPES[self.dtype])

    def operands(self):
        return {"x": self.x, "weight": self.weight, "bias": self.bias,
                "initial_state": self.initial, "starts": self.starts}

    def count_bytes(self, *more):
        tensors = [*self.operands().values(), *more]
        return sum(t.numel() * t.element_size() for t in tensors if t is not None)

    def activation(self):
        return "TK_ACTIVATION_SILU" if self.silu else "TK_ACTIVATION_NONE"

    def is_like_torch(self):
        """Whether peers do the same work."""
        return not self.packed and self.initial is None and self.weight.dtype == self.x.dtype

    def convolved(self, x, weight, bias):
        """[b, c, n] with w - 1 zeros before."""
        y = functional.conv1d(functional.pad(x, (self.w - 1, 0)), weight[:, None], bias,
                              groups=weight.shape[0])
        return functional.silu(y) if self.silu else y

    def exact(self, channels, leaf=False):
        """x with the w - 1 tokens before, weight and y of some channels, in float64; x and y are
        [sequences, channels, tokens]."""
        x, weight = self.by_channels(self.x, channels), self.weight[channels].double()
        bias = None if self.bias is None else self.bias[channels].double()
        if self.initial is None:
            x = functional.pad(x, (self.w - 1, 0))
        else:
            x = torch.cat([self.by_channels(self.initial, channels), x], -1)
        if leaf:
            x.requires_grad_(), weight.requires_grad_()
        y = functional.conv1d(x, weight[:, None], bias, groups=len(channels))
        return x, weight, functional.silu(y) if self.silu else y

    def some_channels(self):
        """Parts of the channels that are compared."""
        budget = 2**24 // (self.b * self.n) if self.device == "cpu" else self.c
        each = max(1, 2**26 // (self.b * self.n))
        return sampled(self.c, budget, self.device).split(each)

    def of_result(self, t, channels):
        """Some of its channels, [sequences, channels, tokens]."""
        return t[..., channels].reshape(self.sequences, -1, len(channels)).transpose(1, 2)

    def by_channels(self, t, channels):
        return self.of_result(t, channels).double()


class forward_case(tokens_case):
    def __init__(self, case, device):
        super().__init__(case, device)
        self.y = torch.empty_like(self.x)
        self.final = None if self.initial is None else torch.empty_like(self.initial)
        self.bytes = self.count_bytes(self.y, self.final)

    def tk(self, library):
        operands = {**self.operands(), "y": self.y, "final_state": self.final}
        call = library.bind("conv1d", operands, self.device, activation=self.activation())
        return implementation("tk", call, lambda _: self.y)

    def outputs(self):
        return [self.y]

    def of_package(self):
        return package("causal_conv1d").causal_conv1d_fn(
            self.x.transpose(1, 2), self.weight, self.bias,
            activation="silu" if self.silu else None)

    def of_fla(self):
        run = package("fla.modules.causal_conv1d").causal_conv1d_fwd
        return run(self.x, self.weight, self.bias, None,
                   activation="silu" if self.silu else None)[0]

    def peers(self, _):
        if not self.is_like_torch():
            return []
        x, back = self.x.transpose(1, 2).contiguous(), lambda y: y.transpose(1, 2)
        made = [implementation(self.plain, lambda: self.convolved(x, self.weight, self.bias), back)]
        if self.device != "cpu":
            made.append(implementation("causal_conv1d", self.of_package, back))
            made.append(implementation("fla", self.of_fla))
        return made

    def compare(self, result):
        """Error and its limit: one rounding, the floor, and what fp32 commits, less than 2^-18."""
        parts = deviation()
        for at in self.some_channels():
            parts.add(self.of_result(result, at), self.exact(at)[2])
        error, floor = parts.relative()
        return error if result.isfinite().all() else math.inf, 1.1 * floor + 2.0**-18


class backward_case(tokens_case):
    def __init__(self, case, device):
        super().__init__(case, device)
        self.dy = self.random(self.b, self.n, self.c)
        self.dx, self.dweight = torch.empty_like(self.x), torch.empty_like(self.weight)
        self.dbias = None if self.bias is None else torch.empty_like(self.bias)
        self.bytes = self.count_bytes(self.dy, self.dx, self.dweight, self.dbias)

    def tk(self, library):
        operands = {**self.operands(), "dy": self.dy, "dx": self.dx, "dweight": self.dweight,
                    "dbias": self.dbias}
        call = library.bind("conv1d_backward", operands, self.device,
                            activation=self.activation())
        return implementation("tk", call, lambda _: (self.dx, self.dweight))

    def outputs(self):
        return [self.dx, self.dweight] + ([] if self.dbias is None else [self.dbias])

    def of_fla(self):
        run = package("fla.modules.causal_conv1d").causal_conv1d_bwd
        return run(self.x, self.dy, None, weight=self.weight, bias=self.bias,
                   activation="silu" if self.silu else None)

    def peers(self, _):
        if not self.is_like_torch():
            return []
        with torch.inference_mode(False), torch.enable_grad():
            x, dy = (t.transpose(1, 2).clone(memory_format=torch.contiguous_format)
                     for t in (self.x, self.dy))
            wanted = [x, self.weight.clone()] + ([] if self.bias is None else [self.bias.clone()])
            for t in wanted:
                t.requires_grad_()
            y = self.convolved(*wanted, *[None] * (3 - len(wanted)))

        def gradients():
            with torch.inference_mode(False):
                return torch.autograd.grad(y, wanted, dy, retain_graph=True)

        plain = implementation(self.plain, gradients,
                               lambda all: (all[0].transpose(1, 2), all[1]))
        fla = implementation("fla", self.of_fla, lambda all: all[:2])
        return [plain] if self.device == "cpu" else [plain, fla]

    def compare(self, results):
        """Errors and limits as of the forward; dweight sums over tokens, which fp32 does to
        2^-15."""
        dx, dweight = results
        parts, sums = deviation(), deviation()
        for at in self.some_channels():
            with torch.inference_mode(False), torch.enable_grad():
                x, weight, y = self.exact(at.clone(), leaf=True)
                dy = self.by_channels(self.dy, at.clone())
                exact = torch.autograd.grad(y, (x, weight), dy)
            parts.add(self.of_result(dx, at), exact[0][..., self.w - 1 :])
            sums.add(dweight[at], exact[1])
        error, floor = parts.relative()
        sums_error, sums_floor = sums.relative()
        finite = dx.isfinite().all() and dweight.isfinite().all()
        if not finite or sums_error > 1.1 * sums_floor + 2.0**-15:
            error = math.inf
        return error, 1.1 * floor + 2.0**-18


SUITES = {"conv1d": forward_case, "conv1d-bwd": backward_case}
