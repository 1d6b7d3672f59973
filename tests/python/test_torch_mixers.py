# SPDX-License-Identifier: MIT
"""tk_ops.torch's Mamba2, LinearAttention and LongConv against their definitions in fp64 with the
same weights: results, and gradients of all parameters; what goes on from states against the whole."""

import copy
import os
from functools import partial

import definitions
import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F  # noqa: E402

import tk_ops.torch as tk  # noqa: E402

torch.set_default_device(os.environ.get("TK_TORCH_DEVICE", "cpu"))
BF16 = torch.bfloat16
long_conv, scan, short_conv = (
    partial(getattr(definitions, x), torch) for x in ("long_conv", "scan", "short_conv")
)


def mamba2(m, u):
    b, heads = u.size(0), len(m.D)
    states = m.ngroups * m.d_state
    z, x, dt = F.linear(u, m.in_proj.weight).split((m.d_inner, m.d_inner + 2 * states, heads), -1)
    before = torch.zeros(b, m.conv1d.kernel_size[0] - 1, x.size(-1), dtype=u.dtype)
    x, _ = short_conv(x, m.conv1d.weight.squeeze(1), m.conv1d.bias, before)
    x, B, C = x.split((m.d_inner, states, states), -1)
    x, dt = x.unflatten(-1, (heads, -1)), F.softplus(dt + m.dt_bias)
    B, C = (
        y.unflatten(-1, (m.ngroups, -1)).repeat_interleave(heads // m.ngroups, 2) for y in (B, C)
    )
    state = torch.zeros(b, heads, m.d_state, m.headdim, dtype=u.dtype)
    y, _ = scan(C, B, x * dt[..., None], -dt * m.A_log.exp(), state, 1)
    y = (y + m.D[:, None] * x).flatten(-2) * F.silu(z)
    y = F.rms_norm(y.unflatten(-1, (m.ngroups, -1)), (m.d_inner // m.ngroups,), eps=1e-5)
    return F.linear(y.flatten(-2) * m.norm.weight, m.out_proj.weight)


def linear_attention(m, x):
    q, k, v = F.linear(x, m.qkv_proj.weight).unflatten(-1, (3, m.num_heads, -1)).unbind(2)
    decays = torch.zeros(*x.shape[:2], m.num_heads, dtype=x.dtype)
    if m.decay == "heads":
        decays = decays + torch.log(1 - 2.0 ** -(5 + torch.arange(m.num_heads))).to(x.dtype)
    elif m.decay == "tokens":
        decays = F.logsigmoid(F.linear(x, m.gate_proj.weight, m.gate_proj.bias)) / 16
    d = q.size(-1)
    state = torch.zeros(x.size(0), m.num_heads, d, d, dtype=x.dtype)
    o, _ = scan(q, k, v, decays, state, d**-0.5)
    o = F.rms_norm(o, (d,), m.norm.weight, 1e-5)
    return F.linear(o.flatten(-2), m.out_proj.weight)


def long_convolution(m, u):
    one = torch.ones((), dtype=u.dtype)
    return long_conv(u, m.filters[:, : u.size(-1)], one, one) + m.D[:, None] * u


TOKENS = 2, 70, 64
MIXERS = {
    "mamba2": (lambda: tk.Mamba2(64, d_state=16, headdim=16, dtype=BF16), mamba2, TOKENS),
    "mamba2_groups": (
        lambda: tk.Mamba2(64, d_state=16, d_conv=3, headdim=16, ngroups=2, dtype=BF16),
        mamba2,
        TOKENS,
    ),
    **{
        f"linear_attention_{decay}": (
            lambda decay=decay: tk.LinearAttention(64, 2, decay, dtype=BF16),
            linear_attention,
            TOKENS,
        )
        for decay in (None, "heads", "tokens")
    },
    "long_conv": (lambda: tk.LongConv(8, 200), long_convolution, (2, 8, 150)),
}


@pytest.mark.parametrize("name", MIXERS)
def test_mixer(name):
    make, definition, shape = MIXERS[name]
    torch.manual_seed(0)
    ours, x = make(), torch.randn(shape, dtype=BF16)
    theirs = copy.deepcopy(ours).double()
    y, want = ours(x), definition(theirs, x.double())
    assert y.shape == x.shape and y.dtype == BF16
    dy = torch.randn(y.shape, dtype=BF16)
    y.backward(dy)
    want.backward(dy.double())
    pairs = [(y, want)] + [
        (a.grad, b.grad) for a, b in zip(ours.parameters(), theirs.parameters(), strict=True)
    ]
    for got, wanted in pairs:
        assert (got.double() - wanted).norm() <= 0.02 * wanted.norm()


def test_packed():
    """Packed sequences give what each gives alone."""
    torch.manual_seed(0)
    starts = torch.tensor([0, 30, 30, 75], dtype=torch.int32)
    for mixer in (MIXERS["mamba2"][0](), MIXERS["linear_attention_tokens"][0]()):
        x = torch.randn(75, 64, dtype=BF16)
        y = mixer(x, cu_seqlens=starts)
        for a, b in ((0, 30), (30, 75)):
            torch.testing.assert_close(y[a:b], mixer(x[None, a:b])[0], rtol=0.02, atol=0.02)


SCANS = ["mamba2", "mamba2_groups", "linear_attention_None", "linear_attention_tokens"]


def continued(mixer, x, state, **options):
    """The result and the state of a call that goes on from a state."""
    if isinstance(mixer, tk.Mamba2):
        return mixer(x, initial_states=state, return_final_states=True, **options)
    return mixer(x, initial_state=state, return_final_state=True, **options)


def in_steps(mixer, x, steps):
    """The same of x [..., n, d], in steps of so many tokens."""
    state, found = None, []
    for part in x.split(steps, 1):
        y, state = continued(mixer, part, state)
        found.append(y)
    return torch.cat(found, 1), state


def parts(state):
    return state if isinstance(state, tuple) else (state,)


def scan_and_tokens(name, n):
    torch.manual_seed(0)
    return MIXERS[name][0](), torch.randn(3, n, 64, dtype=BF16)


@pytest.mark.parametrize("name", SCANS)
def test_steps(name):
    """A prompt, tokens one by one, and several at once: results, the last state and gradients of
    the whole, but for rounding (gradients of all calls are summed in bf16), and states that were
    given stay."""
    mixer, x = scan_and_tokens(name, 90)
    dy, found = torch.randn(x.shape, dtype=BF16), []
    for steps in [90], [70, *[1] * 12, 8], [1, 2, 64, 23]:
        mixer.zero_grad()
        y, state = in_steps(mixer, x, steps)
        (y * dy).sum().backward()
        gradients = [p.grad.clone() for p in mixer.parameters()]
        found.append([y, *parts(state), *gradients])
    bounds = [0.02] * (1 + len(parts(state))) + [0.06] * len(gradients)
    assert torch.equal(found[0][0], mixer(x))
    for other in found[1:]:
        for got, want, bound in zip(other, found[0], bounds, strict=True):
            assert got.dtype == want.dtype and got.shape == want.shape
            assert (got - want).norm() <= bound * want.norm()
    with torch.no_grad():
        held = parts(state)
        before = [s.clone() for s in held]
        continued(mixer, x[:, :1], state)
    assert all(torch.equal(s, kept) for s, kept in zip(held, before))


@pytest.mark.parametrize("name", SCANS)
def test_packed_steps(name):
    """Packed sequences that go on have states in their order."""
    mixer, x = scan_and_tokens(name, 40)
    starts = torch.arange(0, 121, 40, dtype=torch.int32)
    with torch.no_grad():
        y, state = continued(mixer, x.flatten(0, 1), None, cu_seqlens=starts)
        last, _ = continued(mixer, x[:, 0], state, cu_seqlens=torch.arange(4, dtype=torch.int32))
        whole = mixer(torch.cat((x, x[:, :1]), 1))
    for got, want in (y.view(x.shape), whole[:, :40]), (last, whole[:, 40]):
        assert (got - want).norm() <= 0.02 * want.norm()


@pytest.mark.parametrize("name", SCANS)
def test_steps_repeat(name):
    """With repeat("row") a cut after whole chunks of 64 tokens has the bits of none, and a
    sequence those that it has alone, in a prompt and in steps."""
    mixer, x = scan_and_tokens(name, 150)
    with tk.repeat("row"), torch.no_grad():
        whole = mixer(x)
        for steps in [64, 86], [128, 22], [64, 64, 22]:
            y, state = in_steps(mixer, x, steps)
            assert torch.equal(y, whole)
        y, state = in_steps(mixer, x, [140, *[1] * 10])
        for i in range(3):
            alone, held = in_steps(mixer, x[i : i + 1], [140, *[1] * 10])
            assert torch.equal(alone[0], y[i])
            assert all(torch.equal(a[0], b[i]) for a, b in zip(parts(held), parts(state)))


def test_steps_under_autocast():
    """The state of a convolution has autocast's type, that of a scan is fp32."""
    torch.manual_seed(0)
    mixer, x = tk.Mamba2(64, d_state=16, headdim=16), torch.randn(2, 30, 64)
    with torch.autocast(x.device.type, dtype=BF16), torch.no_grad():
        y, (conv_state, ssm_state) = in_steps(mixer, x, [20, *[1] * 10])
        whole = mixer(x)
    assert conv_state.dtype == BF16 and ssm_state.dtype == torch.float32
    assert conv_state.shape == (2, 3, 160) and ssm_state.shape == (2, 8, 16, 16)
    assert (y - whole).norm() <= 0.02 * whole.norm()


def test_names_and_refusals():
    """A state_dict of mamba_ssm's Mamba2 fits; sizes that do not are a sentence."""
    assert set(tk.Mamba2(64, headdim=32).state_dict()) == {
        "dt_bias",
        "A_log",
        "D",
        "in_proj.weight",
        "conv1d.weight",
        "conv1d.bias",
        "norm.weight",
        "out_proj.weight",
    }
    with pytest.raises(ValueError, match="headdim 48 must divide expand d_model 128"):
        tk.Mamba2(64, headdim=48)
    with pytest.raises(ValueError, match="3 heads must divide embed_dim 64"):
        tk.LinearAttention(64, 3)
