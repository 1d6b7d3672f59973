# SPDX-License-Identifier: MIT
"""The suites of Based beside flash-linear-attention's kernels, parallel over tokens and fused by chunks,
where it is installed, and eager PyTorch: products of all scores where they fit, on the CPU too."""
import functools
import math

import torch

from torch_cases import TYPES, deviation, implementation, package, sampled

WIDTH, MOMENTS, SCALE, LEAST = 16, 153, 0.25, 1e-6
CHUNK, SAMPLED_NUMBERS = 256, 2**27
MOST_SCORES = 2**31  # of the plain one


def polynomial(s):
    return 1 + s + s * s / 2


def moments(x):
    """1, x_i, x_i x_j for i <= j: in the order of states."""
    i, j = torch.triu_indices(WIDTH, WIDTH, device=x.device)
    return torch.cat((torch.ones_like(x[..., :1]), x, x[..., i] * x[..., j]), -1)


def weights(like):
    """Of a query's moments."""
    i, j = torch.triu_indices(WIDTH, WIDTH, device=like.device)
    pairs = torch.where(i == j, SCALE * SCALE / 2, SCALE * SCALE)
    one = torch.ones(1, device=like.device)
    return torch.cat((one, SCALE * torch.ones(WIDTH, device=like.device), pairs)).to(like.dtype)


def scanned(q, k, v, s, normalise):
    """o and the last state, of heads [heads, n, d], in chunks."""
    o, sums = [], torch.zeros_like(s[..., :1])
    for at in range(0, q.shape[1], CHUNK):
        q_i, k_i, v_i = (x[:, at : at + CHUNK] for x in (q, k, v))
        p = polynomial(SCALE * (q_i @ k_i.mT)).tril()
        of_q, of_k = moments(q_i) * weights(q), moments(k_i)
        o_i = p @ v_i + of_q @ s
        if normalise:
            o_i = o_i / (p.sum(-1, keepdim=True) + of_q @ sums + LEAST)
        o.append(o_i)
        s = s + of_k.mT @ v_i
        sums = sums + of_k.sum(1)[..., None]
    return torch.cat(o, 1), s


class based_case:
    """The forward."""
    def __init__(self, case, device):
        number = {key: int(value) for key, value in case.items() if str(value).isdigit()}
        self.b, self.n, self.h = (number.get(key, 1) for key in "bnh")
        self.dv, self.dtype, self.device = number.get("dv", 64), case.get("type", "bf16"), device
        self.normalise, self.has_states = (bool(number.get(x, 0)) for x in ("normalise", "states"))
        self.flops = 0
        self.q, self.k, self.v = (self.tokens(d) for d in (WIDTH, WIDTH, self.dv))
        self.o = torch.empty_like(self.v)
        self.initial = self.state() if self.has_states else None
        self.final = self.state() if self.has_states else None
        tensors = (self.q, self.k, self.v, self.o, self.initial, self.final)
        self.bytes = sum(t.numel() * t.element_size() for t in tensors if t is not None)

    def tokens(self, width):
        made = torch.randn(self.b, self.n, self.h, width, device=self.device)
        return made.to(TYPES[self.dtype])

    def state(self):
        return torch.randn(self.b, self.h, MOMENTS, self.dv, device=self.device)

    def tk(self, library):
        operands = {"q": self.q, "k": self.k, "v": self.v, "o": self.o,
                    "initial_state": self.initial, "final_state": self.final}
        call = library.bind("based", operands, self.device, scale=SCALE,
                            normalise=int(self.normalise))
        return implementation("tk", call, lambda _: (self.o, self.final))

    def outputs(self):
        return [self.o] if self.final is None else [self.o, self.final]

    def plain(self, q, k, v):
        """All scores at once."""
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        p = polynomial(SCALE * (q @ k.mT)).tril()
        if self.normalise:
            p = p / (p.sum(-1, keepdim=True) + LEAST)
        return (p @ v).transpose(1, 2), None

    def in_chunks(self, q, k, v, initial):
        def flat(t):
            return t.transpose(1, 2).flatten(0, 1).float()

        s = torch.zeros(self.b * self.h, MOMENTS, self.dv, device=self.device)
        if initial is not None:
            s = initial.flatten(0, 1)
        o, s = scanned(flat(q), flat(k), flat(v), s, self.normalise)
        o = o.view(self.b, self.h, self.n, self.dv).transpose(1, 2).to(v.dtype)
        return o, s.view(self.b, self.h, MOMENTS, self.dv)

    def of_fla(self, kernel, q, k, v):
        run = getattr(package("fla.ops.based"), kernel)
        return run(q, k, v, scale=SCALE, use_norm=self.normalise), None

    def peers(self, _):
        operands = self.q, self.k, self.v
        chunks = functools.partial(self.in_chunks, *operands, self.initial)
        if self.device == "cpu" or self.has_states:
            return [implementation("torch", chunks)]
        made = [implementation(name, functools.partial(self.of_fla, kernel, *operands))
                for name, kernel in (("fla", "parallel_based"), ("fla_fused", "fused_chunk_based"))]
        if self.b * self.h * self.n * self.n <= MOST_SCORES:
            made.append(implementation("torch", functools.partial(self.plain, *operands)))
        return made

    def compare(self, results):
        o, final = results
        parts, states = deviation(), deviation()
        each = max(1, SAMPLED_NUMBERS // (self.n * MOMENTS))
        picks = sampled(self.b * self.h, self.b * self.h, self.device)
        budget = 2 if self.device == "cpu" else max(2, 2**29 // (self.n * MOMENTS))
        for some in picks[:: max(1, len(picks) // budget)].split(each):
            batch, head = some // self.h, some % self.h

            def of_heads(t):
                return t.transpose(1, 2)[batch, head].double()

            s = torch.zeros(len(some), MOMENTS, self.dv, device=self.device, dtype=torch.float64)
            if self.initial is not None:
                s = self.initial.flatten(0, 1)[some].double()
            exact, s = scanned(*(of_heads(t) for t in (self.q, self.k, self.v)), s, self.normalise)
            parts.add(of_heads(o), exact)
            if self.has_states:
                states.add(final.flatten(0, 1)[some].double(), s)
        error = max(parts.relative()[0], states.relative()[0])
        limit = 6 * (2.0**-9 if self.dtype == "bf16" else 2.0**-12) + 2.0**-16
        return error if o.isfinite().all() else math.inf, limit


class backward_case(based_case):
    def __init__(self, case, device):
        super().__init__(case, device)
        self.dout = self.tokens(self.dv)
        self.dq, self.dk, self.dv_out = (torch.empty_like(t) for t in (self.q, self.k, self.v))
        self.dinitial = self.state() if self.has_states else None
        self.dfinal = self.state() if self.has_states else None
        tensors = (self.q, self.k, self.v, self.dout, self.dq, self.dk, self.dv_out, self.initial,
                   self.dfinal, self.dinitial)
        self.bytes = sum(t.numel() * t.element_size() for t in tensors if t is not None)

    def tk(self, library):
        operands = {"q": self.q, "k": self.k, "v": self.v, "dout": self.dout, "dq": self.dq,
                    "dk": self.dk, "dv": self.dv_out, "initial_state": self.initial,
                    "dfinal_state": self.dfinal, "dinitial_state": self.dinitial}
        call = library.bind("based_backward", operands, self.device, scale=SCALE,
                            normalise=int(self.normalise))
        return implementation("tk", call, lambda _: (self.dq, self.dk, self.dv_out, self.dinitial))

    def outputs(self):
        all_of = (self.dq, self.dk, self.dv_out, self.dinitial)
        return [t for t in all_of if t is not None]

    def peers(self, _):
        """Where there are no states, which they lack."""
        if self.device == "cpu" or self.has_states:
            return []
        made = {"fla": functools.partial(self.of_fla, "parallel_based"),
                "fla_fused": functools.partial(self.of_fla, "fused_chunk_based")}
        if self.b * self.h * self.n * self.n <= MOST_SCORES:
            made["torch"] = self.plain
        return [implementation(name, functools.partial(self.gradients, self.graph(run)),
                               lambda gradients: (*gradients, None))
                for name, run in made.items()]

    def graph(self, run):
        """The output, and what gradients are wanted of: made by the first call, so that a peer that is
        missing is found missing there."""
        @functools.cache
        def made():
            with torch.inference_mode(False), torch.enable_grad():
                wanted = [t.clone().requires_grad_() for t in (self.q, self.k, self.v)]
                return run(*wanted)[0], wanted, self.dout.clone()

        return made

    @staticmethod
    def gradients(made):
        output, wanted, given = made()
        with torch.inference_mode(False):
            return torch.autograd.grad(output, wanted, given, retain_graph=True)

    def compare(self, results):
        parts = [deviation() for _ in range(4)]
        picks = sampled(self.b * self.h, self.b * self.h, self.device)
        budget = 2 if self.device == "cpu" else max(2, 2**28 // (self.n * MOMENTS))
        for some in picks[:: max(1, len(picks) // budget)].split(1):
            batch, head = some // self.h, some % self.h

            def of_heads(t):
                return t.transpose(1, 2)[batch, head].double()

            with torch.inference_mode(False), torch.enable_grad():
                inputs = [of_heads(t).clone().requires_grad_() for t in (self.q, self.k, self.v)]
                s = torch.zeros(1, MOMENTS, self.dv, device=self.device, dtype=torch.float64)
                if self.initial is not None:
                    s = self.initial.flatten(0, 1)[some].double()
                s = s.clone().requires_grad_()
                o, state = scanned(*inputs, s, self.normalise)
                outputs, given = [o], [of_heads(self.dout).clone()]
                if self.has_states:
                    outputs.append(state)
                    given.append(self.dfinal.flatten(0, 1)[some].double().clone())
                exact = torch.autograd.grad(outputs, [*inputs, s], given)
            for part, got, of in zip(parts, results[:3], exact):
                part.add(of_heads(got), of)
            if self.has_states:
                parts[3].add(results[3].flatten(0, 1)[some].double(), exact[3])
        finite = all(t.isfinite().all() for t in results if t is not None)
        limit = 10 * (2.0**-9 if self.dtype == "bf16" else 2.0**-12) + 2.0**-16
        return max(x.relative()[0] for x in parts) if finite else math.inf, limit


SUITES = {"based": based_case, "based-bwd": backward_case}
