# SPDX-License-Identifier: MIT
"""The suites of Mamba-2's scan beside mamba_ssm's fused kernels and flash-linear-attention's simple
GLA, where they are installed; on the CPU beside plain products of all scores. fla takes steps and
groups as linear attention would have them, which is prepared beforehand; it has no skip and no
gate, and stands beside cases without a gate."""
import math

import torch
from torch.nn import functional

from torch_cases import TYPES, deviation, implementation, package, sampled

CHUNK, SAMPLED_NUMBERS = 256, 2**27


def scanned(x, w, rate, B, C, state):
    """S_t C_t and the last state, of heads [heads, n, ...], in chunks: any type, differentiable."""
    y = []
    log = w * rate
    for at in range(0, x.shape[1], CHUNK):
        x_i, w_i, B_i, C_i, log_i = (t[:, at : at + CHUNK] for t in (x, w, B, C, log))
        total = log_i.cumsum(1)
        left = total[:, :, None] - total[:, None]
        later = torch.ones_like(left, dtype=torch.bool).triu(1)
        weights = C_i @ B_i.mT * left.masked_fill(later, -math.inf).exp()
        terms = x_i * w_i[..., None]
        y.append(weights @ terms + C_i * total.exp()[..., None] @ state.mT)
        last = total[:, -1:]
        rest = (last - total).exp()[..., None]
        state = last.exp()[..., None] * state + (terms * rest).mT @ B_i
    return torch.cat(y, 1), state


class scan_case:
    def __init__(self, case, device):
        number = {key: int(value) for key, value in case.items() if str(value).isdigit()}
        self.b, self.n, self.h, self.g = (number.get(key, 1) for key in "bnhg")
        self.p, self.s = number.get("p", 64), number.get("s", 64)
        self.dtype, self.device, self.flops = case.get("type", "bf16"), device, 0
        self.has_states = bool(number.get("states", 0))

        def random(*shape):
            return torch.randn(*shape, device=device)

        self.x = random(self.b, self.n, self.h, self.p).to(TYPES[self.dtype])
        self.B, self.C = (random(self.b, self.n, self.g, self.s).to(TYPES[self.dtype])
                          for _ in range(2))
        self.dt, self.dt_bias = random(self.b, self.n, self.h), random(self.h)
        self.A = -(2.0 ** -(torch.arange(self.h, device=device) % 6))
        self.D = random(self.h)
        self.z = random(*self.x.shape).to(TYPES[self.dtype]) if number.get("gate", 0) else None
        self.initial = self.state() if self.has_states else None

    def state(self):
        return torch.randn(self.b, self.h, self.p, self.s, device=self.device)

    def operands(self):
        return {"x": self.x, "dt": self.dt, "A": self.A, "B": self.B, "C": self.C, "D": self.D,
                "z": self.z, "dt_bias": self.dt_bias, "initial_state": self.initial}

    options = {"dt_softplus": 1, "dt_min": 0.0, "dt_max": math.inf}

    def count_bytes(self, *more):
        tensors = [*self.operands().values(), *more]
        return sum(t.numel() * t.element_size() for t in tensors if t is not None)

    def some_groups(self):
        """Groups of batches that are compared, some at a time."""
        sharing = self.h // self.g
        each = max(1, SAMPLED_NUMBERS // (self.n * max(self.p, self.s) * CHUNK * sharing))
        cost = self.n * self.p * self.s * sharing
        budget = 1 if self.device == "cpu" else max(1, 2**29 // cost)
        picks = sampled(self.b * self.g, self.b * self.g, self.device)
        return picks[:: max(1, len(picks) // budget)].split(each)

    def heads_of(self, picks):
        sharing = self.h // self.g
        first = picks // self.g * self.h + picks % self.g * sharing
        return (first[:, None] + torch.arange(sharing, device=self.device)).flatten()

    def rows(self, t, picks):
        """[picks, n, ...] of [b, n, each, ...], float64."""
        each = t.shape[2]
        return t.transpose(1, 2)[picks // each, picks % each].double()

    def inputs(self, picks):
        """x, dt, A, B, C, D, z, dt_bias and the state of the heads of some groups; what heads share
        is of groups."""
        heads = self.heads_of(picks)
        index = heads % self.h
        state = torch.zeros(len(heads), self.p, self.s, device=self.device, dtype=torch.float64)
        if self.initial is not None:
            state = self.initial.flatten(0, 1)[heads].double()
        z = None if self.z is None else self.rows(self.z, heads)
        return [self.rows(self.x, heads), self.rows(self.dt, heads), self.A[index].double(),
                self.rows(self.B, picks), self.rows(self.C, picks), self.D[index].double(), z,
                self.dt_bias[index].double(), state]

    def exact(self, x, dt, A, B, C, D, z, bias, state):
        sharing = self.h // self.g
        w = functional.softplus(dt + bias[:, None], threshold=1000)
        B, C = (t.repeat_interleave(sharing, 0) for t in (B, C))
        y, state = scanned(x, w, A[:, None], B, C, state)
        y = y + D[:, None, None] * x
        return (y if z is None else y * functional.silu(z)), state

    def limit(self):
        """Roundings of weights, values, states and results; the floor is one."""
        return 3 * (2.0**-9 if self.dtype == "bf16" else 2.0**-12) + 2.0**-15

    def of_mamba(self, x, dt, A, B, C, D, z, bias, initial):
        run = package("mamba_ssm.ops.triton.ssd_combined").mamba_chunk_scan_combined
        return run(x, dt, A, B, C, 256, D=D, z=z, dt_bias=bias, initial_states=initial,
                   dt_softplus=True, return_final_states=True)

    def of_fla(self, terms, log, B, C, initial):
        run = package("fla.ops.simple_gla").chunk_simple_gla
        return run(C, B, terms, g=log, scale=1.0, initial_state=initial, output_final_state=True)

    def for_fla(self):
        w = functional.softplus(self.dt + self.dt_bias)
        sharing = self.h // self.g
        B, C = (t.repeat_interleave(sharing, 2) for t in (self.B, self.C))
        initial = None if self.initial is None else self.initial.mT.contiguous()
        return (self.x * w[..., None]).to(self.x.dtype), w * self.A, B, C, initial

    def plain(self, x, dt, A, B, C, D, z, bias, initial):
        """All in one go, on the CPU."""
        def flat(t):
            return t.transpose(1, 2).flatten(0, 1).float()

        def spread(t):
            return t.repeat_interleave(self.h // self.g, 2)

        state = torch.zeros(self.b * self.h, self.p, self.s)
        if initial is not None:
            state = initial.flatten(0, 1)
        w = functional.softplus(dt + bias)
        rate = A.repeat(self.b)[:, None]
        y, state = scanned(flat(x), flat(w), rate, flat(spread(B)), flat(spread(C)), state)
        y = y.view(self.b, self.h, self.n, self.p).transpose(1, 2) + D[:, None] * x
        if z is not None:
            y = y * functional.silu(z.float())
        return y.to(x.dtype), state.view(self.b, self.h, self.p, self.s)


class forward_case(scan_case):
    def __init__(self, case, device):
        super().__init__(case, device)
        self.y = torch.empty_like(self.x)
        self.final = self.state() if self.has_states else None
        self.bytes = self.count_bytes(self.y, self.final)

    def tk(self, library):
        operands = {**self.operands(), "y": self.y, "final_state": self.final}
        call = library.bind("mamba2", operands, self.device, **self.options)
        return implementation("tk", call, lambda _: (self.y, self.final))

    def outputs(self):
        return [self.y] if self.final is None else [self.y, self.final]

    def peers(self, _):
        operands = list(self.operands().values())
        if self.device == "cpu":
            return [implementation("torch_cpu", lambda: self.plain(*operands))]
        made = [implementation("mamba_ssm", lambda: self.of_mamba(*operands))]
        if self.z is None:
            prepared = self.for_fla()

            def results(returned):
                y, state = returned
                return (y + self.D[:, None] * self.x).to(y.dtype), state.mT

            made.append(implementation("fla", lambda: self.of_fla(*prepared), results))
        return made

    def compare(self, results):
        y, final = results
        parts, states = deviation(), deviation()
        for picks in self.some_groups():
            exact, state = self.exact(*self.inputs(picks))
            heads = self.heads_of(picks)
            parts.add(self.rows(y, heads), exact)
            if self.has_states:
                states.add(final.flatten(0, 1)[heads].double(), state)
        error = max(parts.relative()[0], states.relative()[0])
        return error if y.isfinite().all() else math.inf, self.limit()


class backward_case(scan_case):
    def __init__(self, case, device):
        super().__init__(case, device)
        self.dy = torch.randn(self.x.shape, device=device).to(self.x.dtype)
        like = {"dx": self.x, "ddt": self.dt, "dA": self.A, "dB": self.B, "dC": self.C,
                "dD": self.D, "dz": self.z, "ddt_bias": self.dt_bias,
                "dinitial_state": self.initial}
        self.gradients = {name: None if t is None else torch.empty_like(t)
                          for name, t in like.items()}
        self.dfinal = self.state() if self.has_states else None
        self.bytes = self.count_bytes(self.dy, self.dfinal, *self.gradients.values())

    def tk(self, library):
        operands = {**self.operands(), "dy": self.dy, "dfinal_state": self.dfinal,
                    **self.gradients}
        call = library.bind("mamba2_backward", operands, self.device, **self.options)
        return implementation("tk", call, lambda _: [self.gradients[name] for name in
                                                     ("dx", "ddt", "dB", "dC")])

    def outputs(self):
        return [t for t in self.gradients.values() if t is not None]

    def peers(self, _):
        """None on the CPU. The graph is made by the first call."""
        if self.device == "cpu":
            return []
        made = {}

        def call():
            with torch.inference_mode(False), torch.enable_grad():
                if not made:
                    leaves = [None if t is None else t.clone().requires_grad_()
                              for t in self.operands().values()]
                    y, final = self.of_mamba(*leaves)
                    wanted = [t for t in leaves if t is not None]
                    outputs, given = [y], [self.dy.clone()]
                    if self.has_states:
                        outputs.append(final)
                        given.append(self.dfinal.clone())
                    made["graph"] = outputs, wanted, given
                outputs, wanted, given = made["graph"]
                return torch.autograd.grad(outputs, wanted, given, retain_graph=True)

        return [implementation("mamba_ssm", call, lambda all: [all[0], all[1], all[3], all[4]])]

    def compare(self, results):
        dx, ddt, dB, dC = results
        parts = [deviation() for _ in range(4)]
        for picks in self.some_groups():
            with torch.inference_mode(False), torch.enable_grad():
                leaves = [None if t is None else t.clone().requires_grad_()
                          for t in self.inputs(picks.clone())]
                y, state = self.exact(*leaves)
                heads = self.heads_of(picks.clone())
                outputs, given = [y], [self.rows(self.dy, heads).clone()]
                if self.has_states:
                    outputs.append(state)
                    given.append(self.dfinal.flatten(0, 1)[heads].double().clone())
                exact = torch.autograd.grad(outputs, [leaves[i] for i in (0, 1, 3, 4)], given)
            got = (self.rows(dx, heads), self.rows(ddt, heads), self.rows(dB, picks),
                   self.rows(dC, picks))
            for part, is_, of in zip(parts, got, exact):
                part.add(is_, of)
        errors = [part.relative()[0] for part in parts]
        errors[1] /= 4  # a difference of sums
        finite = all(t.isfinite().all() for t in results)
        return max(errors) if finite else math.inf, self.limit()


SUITES = {"mamba2": forward_case, "mamba2-bwd": backward_case}
