# SPDX-License-Identifier: MIT
"""The suites of linear attention beside flash-linear-attention's kernels of simple GLA, chunked in
several and in one (a step of decoding: the recurrent one), where it is installed; its linear and
lightning attention call the same. On the CPU beside plain products of all scores."""
import functools
import math

import torch

from torch_cases import TYPES, deviation, implementation, package, sampled

CHUNK, SAMPLED_NUMBERS = 256, 2**27


def scanned(q, k, v, log, s, scale):
    """o and the last state, of heads [heads, n, d], in chunks: any type, differentiable."""
    o = []
    for at in range(0, q.shape[1], CHUNK):
        parts = (x[:, at : at + CHUNK] for x in (q, k, v, log))
        q_i, k_i, v_i, log_i = parts
        total = log_i.cumsum(1)
        left = total[:, :, None] - total[:, None]
        later = torch.ones_like(left, dtype=torch.bool).triu(1)
        weights = q_i @ k_i.mT * left.masked_fill(later, -math.inf).exp()
        o.append(scale * (weights @ v_i + q_i * total.exp()[..., None] @ s))
        last = total[:, -1:]
        s = last.exp()[..., None] * s + (k_i * (last - total).exp()[..., None]).mT @ v_i
    return torch.cat(o, 1), s


class scan_case:
    def __init__(self, case, device):
        number = {key: int(value) for key, value in case.items() if str(value).isdigit()}
        self.b, self.n, self.h, self.d = (number.get(key, 1) for key in "bnhd")
        self.dv = number.get("dv", self.d)
        self.dtype, self.device, self.flops = case.get("type", "bf16"), device, 0
        self.scale, self.has_states = self.d**-0.5, bool(number.get("states", 0))
        self.q, self.k = self.tokens(self.d), self.tokens(self.d)
        self.v = self.tokens(self.dv)
        self.log_decay = self.decay = self.initial = None
        if case.get("decay") == "tokens":
            self.log_decay = -torch.randn(self.b, self.n, self.h, device=device).abs() / 32
        elif case.get("decay") == "heads":
            self.decay = 2.0 ** (-5 - torch.arange(self.h, device=device) % 8)
        if self.has_states:
            self.initial = self.state()

    def tokens(self, width):
        made = torch.randn(self.b, self.n, self.h, width, device=self.device)
        return made.to(TYPES[self.dtype])

    def state(self):
        return torch.randn(self.b, self.h, self.d, self.dv, device=self.device)

    def operands(self):
        return {"q": self.q, "k": self.k, "v": self.v, "log_decay": self.log_decay,
                "decay": self.decay, "initial_state": self.initial}

    def count_bytes(self, *more):
        tensors = [*self.operands().values(), *more]
        return sum(t.numel() * t.element_size() for t in tensors if t is not None)

    def logs(self):
        """Of each token and head."""
        if self.log_decay is not None:
            return self.log_decay
        of_heads = torch.zeros(self.h, device=self.device) if self.decay is None else -self.decay
        return of_heads.expand(self.b, self.n, self.h)

    def some_heads(self):
        """Heads of batches that are compared, some at a time."""
        each = max(1, SAMPLED_NUMBERS // (self.n * max(self.d, self.dv) * CHUNK))
        budget = 2 if self.device == "cpu" else max(2, 2**29 // (self.n * self.d * self.dv))
        picks = sampled(self.b * self.h, self.b * self.h, self.device)
        return picks[:: max(1, len(picks) // budget)].split(each)

    def of_heads(self, t, picks):
        """[heads, n, ...] of [b, n, h, ...], float64."""
        batch, head = picks // self.h, picks % self.h
        return t.transpose(1, 2)[batch, head].double()

    def of_states(self, t, picks):
        if t is None:
            return torch.zeros(len(picks), self.d, self.dv, device=self.device,
                               dtype=torch.float64)
        return t.flatten(0, 1)[picks].double()

    def inputs(self, picks):
        logs = self.of_heads(self.logs(), picks)
        return [*(self.of_heads(t, picks) for t in (self.q, self.k, self.v)), logs,
                self.of_states(self.initial, picks)]

    def limit(self):
        """Roundings of weights, values, states and results; the floor is one."""
        return 3 * (2.0**-9 if self.dtype == "bf16" else 2.0**-12) + 2.0**-16

    def kernels_of_fla(self):
        """Names of peers and of their functions."""
        if self.n == 1:
            return {"fla": "fused_recurrent_simple_gla"}
        return {"fla": "chunk_simple_gla", "fla_fused": "fused_chunk_simple_gla"}

    def of_fla(self, kernel, q, k, v, log_decay, decay, initial):
        run = getattr(package("fla.ops.simple_gla"), kernel)
        return run(q, k, v, g=log_decay, g_gamma=None if decay is None else -decay,
                   scale=self.scale, initial_state=initial, output_final_state=self.has_states)

    def of_scores(self, q, k, v, logs, initial):
        """All in one go, by plain products, on the CPU."""
        def flat(t):
            return t.transpose(1, 2).flatten(0, 1).float()

        s = torch.zeros(self.d, self.dv) if initial is None else initial.flatten(0, 1)
        o, s = scanned(flat(q), flat(k), flat(v), flat(logs), s, self.scale)
        o = o.view(self.b, self.h, self.n, self.dv).transpose(1, 2).to(v.dtype)
        return o, s.view(self.b, self.h, self.d, self.dv)


class forward_case(scan_case):
    def __init__(self, case, device):
        super().__init__(case, device)
        self.o = torch.empty_like(self.v)
        self.final = self.state() if self.has_states else None
        self.bytes = self.count_bytes(self.o, self.final)

    def tk(self, library):
        operands = {**self.operands(), "o": self.o, "final_state": self.final}
        call = library.bind("linear_attention", operands, self.device, scale=self.scale)
        return implementation("tk", call, lambda _: (self.o, self.final))

    def outputs(self):
        return [self.o] if self.final is None else [self.o, self.final]

    def peers(self, _):
        if self.device == "cpu":
            operands = self.q, self.k, self.v, self.logs(), self.initial
            return [implementation("torch_cpu", lambda: self.of_scores(*operands))]
        operands = self.q, self.k, self.v, self.log_decay, self.decay, self.initial
        return [implementation(name, functools.partial(self.of_fla, kernel, *operands))
                for name, kernel in self.kernels_of_fla().items()]

    def compare(self, results):
        o, final = results
        parts, states = deviation(), deviation()
        for picks in self.some_heads():
            exact, state = scanned(*self.inputs(picks), self.scale)
            parts.add(self.of_heads(o, picks), exact)
            if self.has_states:
                states.add(self.of_states(final, picks), state.view(-1, self.d, self.dv))
        error = max(parts.relative()[0], states.relative()[0])
        return error if o.isfinite().all() else math.inf, self.limit()


class backward_case(scan_case):
    def __init__(self, case, device):
        super().__init__(case, device)
        self.dout = self.tokens(self.dv)
        self.dq, self.dk, self.dv_out = (torch.empty_like(t) for t in (self.q, self.k, self.v))
        self.dlog_decay = None if self.log_decay is None else torch.empty_like(self.log_decay)
        self.ddecay = None if self.decay is None else torch.empty_like(self.decay)
        self.dinitial = self.state() if self.has_states else None
        self.dfinal = self.state() if self.has_states else None
        self.bytes = self.count_bytes(self.dout, self.dq, self.dk, self.dv_out, self.dlog_decay,
                                      self.ddecay, self.dinitial, self.dfinal)

    def tk(self, library):
        operands = {**self.operands(), "dout": self.dout, "dq": self.dq, "dk": self.dk,
                    "dv": self.dv_out, "dlog_decay": self.dlog_decay, "ddecay": self.ddecay,
                    "dfinal_state": self.dfinal, "dinitial_state": self.dinitial}
        call = library.bind("linear_attention_backward", operands, self.device, scale=self.scale)
        return implementation("tk", call, lambda _: (self.dq, self.dk, self.dv_out,
                                                     self.dlog_decay, self.dinitial))

    def outputs(self):
        optional = (self.dlog_decay, self.ddecay, self.dinitial)
        return [self.dq, self.dk, self.dv_out, *(t for t in optional if t is not None)]

    def peers(self, _):
        """None on the CPU. flash-linear-attention has no gradient for one decay of a head."""
        if self.device == "cpu":
            return []
        return [implementation(name, functools.partial(self.gradients, self.graph(kernel)),
                               self.all_results)
                for name, kernel in self.kernels_of_fla().items()]

    def graph(self, kernel):
        """Outputs, what gradients are wanted of, and those of the outputs: made by the first call,
        so that a peer that is missing is found missing there."""
        @functools.cache
        def made():
            with torch.inference_mode(False), torch.enable_grad():
                wanted = [t.clone().requires_grad_() for t in (self.q, self.k, self.v)]
                gates = [] if self.log_decay is None else [self.log_decay.clone().requires_grad_()]
                states = [] if self.initial is None else [self.initial.clone().requires_grad_()]
                decay = None if self.decay is None else self.decay.clone()
                o, final = self.of_fla(kernel, *wanted, *(gates or [None]), decay,
                                       *(states or [None]))
                outputs, given = [o], [self.dout.clone()]
                if self.has_states:
                    outputs, given = [o, final], [*given, self.dfinal.clone()]
            return outputs, wanted + gates + states, given

        return made

    @staticmethod
    def gradients(made):
        outputs, wanted, given = made()
        with torch.inference_mode(False):
            return torch.autograd.grad(outputs, wanted, given, retain_graph=True)

    def all_results(self, gradients):
        """As tk's: None where there is none."""
        rest = list(gradients[3:])
        dlog_decay = None if self.log_decay is None else rest.pop(0)
        return (*gradients[:3], dlog_decay, rest.pop(0) if self.has_states else None)

    def compare(self, results):
        parts = [deviation() for _ in range(5)]
        for picks in self.some_heads():
            with torch.inference_mode(False), torch.enable_grad():
                inputs = [t.clone().requires_grad_() for t in self.inputs(picks.clone())]
                o, state = scanned(*inputs, self.scale)
                outputs, gradients = [o], [self.of_heads(self.dout, picks).clone()]
                if self.has_states:
                    outputs.append(state)
                    gradients.append(self.of_states(self.dfinal, picks).clone())
                exact = torch.autograd.grad(outputs, inputs, gradients)
            for part, got, of in zip(parts, results[:4], exact):
                if got is not None:
                    part.add(self.of_heads(got, picks), of)
            if self.has_states:
                parts[4].add(self.of_states(results[4], picks), exact[4])
        finite = all(t.isfinite().all() for t in results if t is not None)
        return max(x.relative()[0] for x in parts) if finite else math.inf, self.limit()


SUITES = {"linear-attention": forward_case, "linear-attention-bwd": backward_case}
