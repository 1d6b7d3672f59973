# SPDX-License-Identifier: MIT
"""The functions that files of transformers' models call, as TK's: rotary embedding, short
convolutions, Mamba-2's scan; and whether a model's is the same."""

import functools
import math

import torch

from . import torch as tk
from .torch.replace import HALVES


def distance(x, y, dtype):
    """Of two results of operands of a type, from y, as a share of it; no more than 1 where they are
    one but for rounding."""
    if isinstance(x, tuple):
        return max(distance(*both, dtype) for both in zip(x, y, strict=True))
    if x.shape != y.shape:
        return math.inf
    most = 2 * torch.finfo(torch.bfloat16).eps if dtype in HALVES else 1e-4
    x, y = x.double(), y.double()
    far = ((x - y).norm() / (most * y.norm())).item() if y.norm() > 0 else x.norm().item()
    return math.inf if math.isnan(far) else far


def rotary(q, k, cos, sin, unsqueeze_dim=1):
    """apply_rotary_pos_emb of q [b, h, n, d] and k [b, hk, n, d]; cos and sin are [b or 1, n, w], in
    two equal halves, and w of the d columns are turned."""
    half = cos.size(-1) // 2
    return rotary_of_halves(q, k, cos[..., :half], sin[..., :half], unsqueeze_dim)


def rotary_of_halves(q, k, cos, sin, unsqueeze_dim=1):
    """The same of cos and sin [b or 1, n, w / 2]."""
    if unsqueeze_dim != 1 or q.dim() != 4 or cos.dim() != 3:
        raise NotImplementedError("rotary: other dimensions")
    b, n, _ = cos.shape
    query, key = tk.rotary(
        q.transpose(1, 2),
        k.transpose(1, 2),
        cos.flatten(0, 1),
        sin.flatten(0, 1),
        positions=None if b == 1 else torch.arange(b * n, device=q.device).view(b, n),
    )
    return query.transpose(1, 2), key.transpose(1, 2)


def convolution(hidden_states, weight, bias=None, activation=None, **options):
    """causal_conv1d_fn of hidden_states [b, c, n] and weight [c, w]."""
    if any(x is not None for x in options.values()):
        raise NotImplementedError(f"causal_conv1d: {', '.join(options)}")
    return tk.causal_conv1d(hidden_states.transpose(1, 2), weight, bias, activation).transpose(1, 2)


def convolution_step(hidden_states, conv_state, weight, bias=None, activation=None):
    """causal_conv1d_update of hidden_states [b, c, n], with the tokens before it, conv_state
    [b, c, at least w - 1], which is moved on."""
    n, before = hidden_states.size(-1), weight.size(-1) - 1
    y = tk.causal_conv1d(
        hidden_states.transpose(1, 2),
        weight,
        bias,
        activation,
        initial_states=conv_state[..., conv_state.size(-1) - before :].transpose(1, 2),
    )
    conv_state.copy_(torch.cat((conv_state, hidden_states), -1)[..., n:])
    return y.transpose(1, 2)


def scan_step(
    state,
    hidden_states,
    dt,
    A,
    B,
    C,
    D=None,
    dt_bias=None,
    dt_softplus=False,
    z=None,
    **options,
):
    """mamba2_selective_state_update of hidden_states [b, h, p], B and C [b, g, s], and state
    [b, h, p, s], which is moved on; dt, A, D and dt_bias are expanded from one for each head."""
    if any(x is not None for x in (z, *options.values())):
        raise NotImplementedError(f"mamba2: z, {', '.join(options)}")
    if (
        dt.stride(-1)
        or any(A.stride()[1:])
        or any(x is not None and x.stride(-1) for x in (D, dt_bias))
    ):
        raise NotImplementedError("mamba2: dt, A, D or dt_bias differ within a head")
    y, last = scan(
        hidden_states[:, None],
        dt[:, None, :, 0],
        A[:, 0, 0],
        B[:, None],
        C[:, None],
        D=None if D is None else D[:, 0],
        dt_bias=None if dt_bias is None else dt_bias[:, 0],
        initial_states=state,
        dt_softplus=dt_softplus,
        return_final_states=True,
    )
    state.copy_(last)
    return y[:, 0]


def scan(
    hidden_states,
    dt,
    A,
    B,
    C,
    chunk_size=None,
    D=None,
    dt_bias=None,
    initial_states=None,
    dt_softplus=False,
    dt_limit=(0.0, math.inf),
    return_final_states=False,
    **options,
):
    """mamba2_chunk_scan of hidden_states [b, n, h, p], dt [b, n, h], A [h], B and C [b, n, g, s],
    D and dt_bias [h]."""
    if any(x is not None for x in options.values()):
        raise NotImplementedError(f"mamba2: {', '.join(options)}")
    A, D, dt_bias, initial_states = (
        None if x is None else x.float() for x in (A, D, dt_bias, initial_states)
    )
    return tk.mamba2(
        hidden_states,
        dt,
        A,
        B,
        C,
        D,
        dt_bias=dt_bias,
        initial_states=initial_states,
        dt_softplus=dt_softplus,
        dt_limit=dt_limit,
        return_final_states=return_final_states,
    )


def turned(times, *widths):
    """Samples of rotary: q and k of 32 columns, and angles that stand so many times in tables of
    these widths."""

    def samples(random, like):
        for width in widths:
            x = torch.cat([torch.rand(1, 3, width // times)] * times, -1)
            tables = x.cos().to(like), x.sin().to(like)
            yield random(2, 2, 3, 32), random(2, 1, 3, 32), *tables

    return samples


def convolved(random, like):
    yield random(2, 16, 5), random(16, 4), random(16), "silu"


def convolved_on(random, like):
    yield random(2, 16, 1), random(2, 16, 4), random(16, 4), random(16), "silu"


def stepped(random, like):
    yield (
        random(2, 4, 16, 16),
        random(2, 4, 16),
        random(2, 4, 1).expand(-1, -1, 16),
        (-random(4, 1, 1).abs()).expand(-1, 16, 16),
        random(2, 2, 16),
        random(2, 2, 16),
        random(4, 1).expand(-1, 16),
        random(4, 1).expand(-1, 16),
        True,
    )


def scanned(random, like):
    yield (
        random(1, 5, 2, 16),
        random(1, 5, 2),
        -random(2).abs(),
        random(1, 5, 1, 16),
        random(1, 5, 1, 16),
        8,
    )


FUNCTIONS = {
    "apply_rotary_pos_emb": (
        (rotary, turned(2, 32, 16, 24)),
        (rotary_of_halves, turned(1, 16, 8)),
    ),
    "causal_conv1d_fn": ((convolution, convolved),),
    "causal_conv1d_update": ((convolution_step, convolved_on),),
    "mamba2_selective_state_update": ((scan_step, stepped),),
    "mamba2_chunk_scan": ((scan, scanned),),
}
"""What TK's are of each name, and random arguments to compare them by with a model's, of which what
that refuses says nothing."""


def is_same(theirs, ours, samples, like):
    """Whether a function of a model is TK's, of all samples that it takes, and takes one."""
    taken = 0
    for arguments in samples(lambda *shape: torch.randn(shape).to(like), like):
        copies = [x.clone() if torch.is_tensor(x) else x for x in arguments]
        try:
            wanted = theirs(*copies), *filter(torch.is_tensor, copies)  # and states moved on
        except RuntimeError:
            continue
        taken += 1
        got = ours(*arguments), *filter(torch.is_tensor, arguments)
        if distance(got, wanted, like.dtype) > 1:
            return False
    return taken > 0


def replace_function(place, name, like):
    """Has a file of models call TK's function, and its own where TK refuses; `like` is a parameter
    of a model."""
    theirs = getattr(place, name)
    if hasattr(theirs, "is_tk"):
        return
    ours = next((x[0] for x in FUNCTIONS[name] if is_same(theirs, *x, like)), None)
    if ours is None:
        raise NotImplementedError("it computes something else")

    @functools.wraps(theirs)
    def call(*arguments, **options):
        try:
            return ours(*arguments, **options)
        except (NotImplementedError, TypeError, ValueError):
            return theirs(*arguments, **options)

    call.is_tk = True
    setattr(place, name, call)
