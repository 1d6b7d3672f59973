# SPDX-License-Identifier: MIT
"""The cases that test_torch.py and test_jax.py share: functions that tk_ops.torch and tk_ops.jax
both have with the same arguments, their definitions, inputs, bounds."""

from functools import partial

import definitions
import numpy

BF16, FP16, FP32 = "bfloat16", "float16", "float32"
HALVES, ALL = (BF16, FP16), (BF16, FP16, FP32)
random = numpy.random.default_rng(3)


def randn(*shape):
    return random.standard_normal(shape)


def ids(most, *shape):
    return random.integers(0, most, shape)


class case:
    """A function, its definition, and inputs; those of `exact` are fp32 in any case, and those of
    `constant` have no gradient. `loose` are bounds by the places of results and gradients: of a
    head's parameter, whose gradient is a sum over all tokens that cancels in part.
    """

    def __init__(
        self, function, reference, inputs, types=HALVES, bound=0.4, exact=(), constant=(), loose={}
    ):
        self.function, self.reference, self.inputs = function, reference, inputs
        self.types, self.bound, self.exact, self.loose = types, bound, exact, loose
        self.wanted = [
            i
            for i, x in enumerate(inputs)
            if x is not None and x.dtype == numpy.float64 and i not in constant
        ]
        """The places of the inputs that have gradients."""

    def type_of(self, i, dtype):
        """Of an input where dtype is the case's; None of one that is no floating-point number."""
        return None if self.inputs[i].dtype != numpy.float64 else FP32 if i in self.exact else dtype

    def bounds(self, dtype, count):
        return [2 if dtype == FP32 else self.loose.get(i, self.bound) for i in range(count)]


def with_states(function, *inputs, **options):
    """The results of a function that takes and gives states, in one row."""
    *inputs, state, sums = inputs
    o, states = function(*inputs, initial_states=(state, sums), return_final_states=True, **options)
    return o, *states


ROTARY = randn(2, 9, 4, 32), randn(2, 9, 2, 32), randn(12, 12), randn(12, 12)
TABLES = dict(types=ALL, exact=(2, 3), constant=(2, 3))

# function(tk, *inputs) and reference(np, *inputs)
SHARED = {
    "softmax_causal": dict(
        function=lambda tk, x: tk.softmax(x, scale=0.5, causal=True),
        reference=lambda np, x: definitions.causal_softmax(np, x, 0.5),
        inputs=(randn(2, 3, 2, 7, 9),),
        types=ALL,
    ),
    "add": dict(
        function=lambda tk, x, y: tk.add(x, y, alpha=-0.5),
        reference=lambda np, x, y: x - 0.5 * y,
        inputs=(randn(3, 4, 20), randn(3, 4, 20)),
        types=ALL,
    ),
    "add_of_two_types": dict(
        function=lambda tk, x, y: tk.add(x, y, alpha=2),
        reference=lambda np, x, y: x + 2 * y,
        inputs=(randn(4, 1, 20), randn(3, 4, 5, 20)),
        types=ALL,
        exact=(0,),
    ),
    "swiglu": dict(
        function=lambda tk, x: tk.swiglu(x),
        reference=lambda np, x: definitions.gated(partial(definitions.silu, np), x),
        inputs=(randn(3, 4, 42),),
        types=ALL,
    ),
    "reglu": dict(
        function=lambda tk, x: tk.reglu(x),
        reference=lambda np, x: definitions.gated(partial(definitions.relu, np), x),
        inputs=(randn(7, 40),),
        types=ALL,
    ),
    "rotary": dict(
        function=lambda tk, *x: tk.rotary(*x),
        reference=definitions.rotated,
        inputs=ROTARY,
        **TABLES,
    ),
    "rotary_positions": dict(
        function=lambda tk, *x: tk.rotary(*x[:4], positions=x[4], interleaved=True),
        reference=lambda np, *x: definitions.rotated(np, *x, True),
        inputs=(*ROTARY, ids(12, 2, 9)),
        **TABLES,
    ),
    "attention": dict(
        function=lambda tk, q, k, v, b, s, a: tk.attention(
            q, k, v, causal=True, window=(20, None), softcap=2.0, alibi=a, bias=b, sinks=s
        ),
        reference=lambda np, q, k, v, b, s, a: definitions.attention(
            np, q, k, v, b, left=3, right=17, softcap=2.0, alibi=a, sinks=s
        ),
        inputs=(
            randn(2, 33, 2, 64),
            randn(2, 50, 2, 64),
            randn(2, 50, 2, 32),
            randn(1, 2, 33, 50),
            randn(2),
            numpy.array([0.5, 0.25]),
        ),
        bound=0.6,
        exact=(3, 4, 5),
        constant=(5,),
        loose={5: 2},
    ),
    "packed_attention": dict(
        function=lambda tk, *x: tk.attention(*x[:3], cu_seqlens_q=x[3], cu_seqlens_k=x[3]),
        reference=definitions.packed_attention,
        inputs=(
            randn(50, 2, 32),
            randn(50, 2, 32),
            randn(50, 2, 16),
            numpy.array([0, 20, 20, 50], numpy.int32),
        ),
        bound=0.5,
    ),
    "linear_attention": dict(
        function=lambda tk, q, k, v, g, s: tk.linear_attention(
            q, k, v, log_decay=g, scale=0.2, initial_state=s, return_final_state=True
        ),
        reference=lambda np, *x: definitions.scan(np, *x, 0.2),
        inputs=(
            randn(2, 70, 2, 32),
            randn(2, 70, 2, 32),
            randn(2, 70, 2, 48),
            -abs(randn(2, 70, 2)),
            randn(2, 2, 32, 48),
        ),
        bound=0.5,
        exact=(3, 4),
    ),
    "linear_attention_of_heads": dict(
        function=lambda tk, q, k, v, d: tk.linear_attention(q, k, v, decay=d),
        reference=definitions.scan_of_heads,
        inputs=(randn(1, 37, 2, 32), randn(1, 37, 2, 32), randn(1, 37, 2, 16), abs(randn(2))),
        bound=0.5,
        exact=(3,),
        loose={4: 1},
    ),
    "based": dict(
        function=lambda tk, *x: with_states(tk.based, *x, scale=0.3),
        reference=lambda np, *x: definitions.taylor(np, *x, 0.3),
        inputs=(
            randn(2, 70, 2, 16),
            randn(2, 70, 2, 16),
            randn(2, 70, 2, 48),
            randn(2, 2, 153, 48),
            100 + abs(randn(2, 2, 153)),
        ),
        bound=0.8,
        exact=(3, 4),
    ),
    "hedgehog": dict(
        function=lambda tk, *x: with_states(tk.hedgehog, *x),
        reference=definitions.hedgehog,
        inputs=(
            randn(2, 200, 2, 128),
            randn(2, 230, 2, 128),
            randn(2, 230, 2, 128),
            randn(2, 128, 64) / 11,
            randn(2, 128, 64) / 11,
            1 + abs(randn(2)),
            1 + abs(randn(2)),
            abs(randn(2, 2, 128, 128)),
            abs(randn(2, 2, 128)),
        ),
        bound=0.7,
        exact=(5, 6, 7, 8),
        loose={8: 4, 9: 4},  # sums over tokens that cancel
    ),
    "mamba2": dict(
        function=lambda tk, *x: tk.mamba2(
            *x[:8],
            initial_states=x[8],
            dt_softplus=True,
            dt_limit=(0.05, 2),
            return_final_states=True,
        ),
        reference=definitions.ssd,
        inputs=(
            randn(2, 70, 4, 32),
            randn(2, 70, 4),
            -abs(randn(4)),
            randn(2, 70, 2, 16),
            randn(2, 70, 2, 16),
            randn(4),
            randn(2, 70, 4, 32),
            randn(4),
            randn(2, 4, 32, 16),
        ),
        bound=0.6,
        exact=(1, 2, 5, 7, 8),
        loose={4: 2, 9: 2},
    ),
    "causal_conv1d": dict(
        function=lambda tk, x, w, b, s: tk.causal_conv1d(
            x, w, b, activation="silu", initial_states=s, return_final_states=True
        ),
        reference=definitions.short_conv,
        inputs=(randn(2, 31, 23), randn(23, 4), randn(23), randn(2, 3, 23)),
        types=ALL,
    ),
    "fft_conv": dict(
        function=lambda tk, *x: tk.fft_conv(*x),
        reference=definitions.long_conv,
        inputs=(randn(2, 4, 501), randn(4, 300) / 17, randn(2, 4, 501), randn(2, 4, 501)),
        bound=0.6,
        exact=(1,),
    ),
}

# function(tk, *inputs) of one token of each of four sequences, fp64 where the type is the case's; and
# packed, where tensors of tokens lack the batch, with these starts
ONE_TOKEN = {
    "linear_attention": (
        lambda tk, *x, **packed: tk.linear_attention(*x, **packed),
        *randn(3, 4, 1, 2, 64),
        numpy.arange(5, dtype=numpy.int32),
    ),
    "mamba2": (
        lambda tk, *x, **packed: tk.mamba2(*x, **packed),
        randn(4, 1, 2, 64),
        abs(randn(4, 1, 2)).astype(FP32),
        -abs(randn(2)).astype(FP32),
        *randn(2, 4, 1, 2, 64),
        numpy.arange(5, dtype=numpy.int32),
    ),
}


def shared(kind, tk, np):
    """The cases of this kind for the functions of tk, tk_ops.torch or tk_ops.jax."""
    return {
        name: kind(
            **x | {key: partial(x[key], of) for key, of in (("function", tk), ("reference", np))}
        )
        for name, x in SHARED.items()
    }
