# SPDX-License-Identifier: MIT
"""tk_ops.jax in use: in programs, threads and loops, under jax.vmap, its workspaces, and what it
refuses. TK_JAX_DEVICE=cuda as in test_jax.py."""

import os
import threading

import numpy
import pytest

jax = pytest.importorskip("jax")
pytest.importorskip("jax_tvm_ffi")
jax.config.update("jax_platforms", os.environ.get("TK_JAX_DEVICE", "cpu"))
jax.config.update("jax_num_cpu_devices", 2)
jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp  # noqa: E402

import tk_ops  # noqa: E402
import shared_cases  # noqa: E402
import tk_ops.jax as tk  # noqa: E402

BF16, FP16, FP32 = jnp.bfloat16, jnp.float16, jnp.float32
SDPA = tk.dot_product_attention
random = numpy.random.default_rng(4)


def randn(*shape):
    return random.standard_normal(shape)


def array(*shape, dtype=BF16):
    return randn(*shape).astype(dtype)


def equal(got, wanted):
    for x, y in zip(jax.tree.leaves(got), jax.tree.leaves(wanted), strict=True):
        assert x.dtype == y.dtype and (x == y).all()


def test_calls_alike():
    """Traced or not, once more, in threads, and in a loop of a program: the same bits."""
    x, w, found = array(3, 40, 48), array(48, 48), [None] * 4

    def layer(x, w):
        y = tk.linear(tk.rms_norm(x), w)
        return SDPA(y[:, :, None], y[:, :, None], y[:, :, None], is_causal=True)[:, :, 0]

    def total(x, w):
        return (layer(x, w).astype(FP32) ** 2).sum()

    both = jax.value_and_grad(total, (0, 1))
    eager, traced = both(x, w), jax.jit(both)

    def call(i):
        for _ in range(5):
            found[i] = traced(x, w)

    threads = [threading.Thread(target=call, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one in found:
        equal(one[1], eager[1])
    equal(jax.grad(jax.checkpoint(total))(x, w), eager[1][0])
    loop = jax.jit(lambda x, ws: jax.lax.scan(lambda x, w: (layer(x, w), None), x, ws)[0])
    equal(loop(x, jnp.stack([w, w])), layer(layer(x, w), w))


def test_vmap():
    q, k, bias = array(3, 1, 9, 2, 16), array(1, 7, 2, 16), array(3, 1, 2, 9, 7, dtype=FP32)

    def of(q, k, bias):
        return SDPA(q, k, k, bias).astype(FP32).sum()

    both = jax.value_and_grad(of, (0, 1, 2))
    each = [both(q[i], k, bias[i]) for i in range(3)]
    equal(jax.vmap(both, (0, None, 0))(q, k, bias), jax.tree.map(lambda *x: jnp.stack(x), *each))


@pytest.mark.skipif(len(jax.devices()) < 2, reason="there is one device")
def test_shard_map():
    """A batch on two devices: what all share has the sum of the gradients of both."""
    mesh = jax.sharding.Mesh(jax.devices()[:2], "devices")
    part = jax.P("devices")
    x, w = array(4, 9, 2, 16, dtype=FP16), array(16, 16, dtype=FP16)

    def layer(w, x):
        y = tk.linear(tk.rms_norm(x), w)
        return SDPA(y, y, y, is_causal=True)

    def gradients(function):
        return jax.jit(jax.grad(lambda *x: (function(*x).astype(FP32) ** 2).sum(), (0, 1)))(w, x)

    for check in (True, False):
        parted = jax.shard_map(
            layer, mesh=mesh, in_specs=(jax.P(), part), out_specs=part, check_vma=check
        )
        equal(jax.jit(parted)(w, x), layer(w, x))
        (dw, dx), (exact, same) = gradients(parted), gradients(layer)
        dw, exact = (numpy.asarray(x, numpy.float64) for x in (dw, exact))
        assert numpy.linalg.norm(dw - exact) < 2e-3 * numpy.linalg.norm(exact)
        equal(dx, same)


def call_of(op, function, *inputs):
    """The line of a program that calls an op: its arguments, and its results."""
    text = jax.jit(function).lower(*inputs).as_text()
    return next(x for x in text.splitlines() if f"@tk_ops.{op}(" in x).split("->")[-2:]


def test_gradients_that_are_wanted():
    """What has no gradient, and a state that nobody uses, cost nothing."""
    q, bias = array(1, 9, 2, 16), array(1, 2, 9, 9, dtype=FP32)
    state = array(1, 2, 16, 16, dtype=FP32)

    def attend(q, bias):
        return SDPA(q, q, q, bias).sum().astype(FP32)

    def scan(q, state):
        found = tk.linear_attention(q, q, q, initial_state=state, return_final_state=True)
        return found[0].sum().astype(FP32)

    for of, dbias in ((0, False), ((0, 1), True)):
        arguments, results = call_of("attention_backward", jax.grad(attend, of), q, bias)
        assert "1x2x9x9xf32" in arguments and ("1x2x9x9xf32" in results) == dbias
    for of, dstate in ((0, False), ((0, 1), True)):
        arguments, results = call_of("linear_attention_backward", jax.grad(scan, of), q, state)
        assert arguments.count("1x2x16x16xf32") == 1 and ("1x2x16x16xf32" in results) == dstate


def test_second_derivatives():
    """They are refused, and so is forward mode."""
    with pytest.raises(ValueError, match="cannot be differentiated"):
        jax.grad(lambda x: jax.grad(lambda x: tk.silu(x).sum())(x).sum())(array(3))
    with pytest.raises(TypeError, match="forward-mode"):
        jax.jvp(tk.silu, (array(3),), (array(3),))


@pytest.mark.parametrize("name", shared_cases.ONE_TOKEN)
def test_one_token_of_packed_sequences(name):
    """A scan of it is a step of decoding, which has bits of its own, but with repeat("row")."""
    function, *inputs, starts = shared_cases.ONE_TOKEN[name]
    inputs = [x if x.dtype == FP32 else x.astype(BF16) for x in inputs]
    packed = function(tk, *(x[:, 0] if x.ndim > 1 else x for x in inputs), cu_seqlens=starts)
    traced = jax.jit(lambda *x: function(tk, *x)[:, 0])
    for _ in range(2):  # a program for each kind
        with tk.repeat("row"):
            equal(traced(*inputs), packed)
        assert not (traced(*inputs) == packed).all()


def asked(monkeypatch, function, *inputs):
    """What the calls of ops in a function ask to repeat, by the ops' names."""
    from tk_ops.jax import _library, features, products, rows, sequences

    seen, launch = [], _library.launch

    def noted(op, *arguments, **options):
        if "repeat" in options:
            seen.append((op, int(options["repeat"])))
        return launch(op, *arguments, **options)

    with monkeypatch.context() as patched:
        for module in features, products, rows, sequences:
            patched.setattr(module, "launch", noted)
        function(*inputs)
    return seen


def test_repeat(monkeypatch):
    """It reaches every op whose bits it decides, and gradients from the forward; it ends."""
    x, w, heads = array(2, 128), array(128, 128), array(1, 2, 1, 128)
    maps = *array(2, 1, 128, 64), *numpy.ones((2, 1), FP32)
    dt = -array(1, 2, 1, dtype=FP32), array(1, dtype=FP32)
    functions = {
        "linear_cross_entropy": lambda: tk.linear_cross_entropy(x, w, numpy.zeros(2, int)),
        "linear_attention": lambda: tk.linear_attention(heads, heads, heads),
        "mamba2": lambda: tk.mamba2(heads, *dt, heads, heads),
        "based": lambda: tk.based(heads[..., :16], heads[..., :16], heads),
        "hedgehog": lambda: tk.hedgehog(heads, heads, heads, *maps),
    }
    for op, function in functions.items():
        with tk.repeat("row"):
            assert asked(monkeypatch, function) == [(op, 1)]
        assert asked(monkeypatch, function) == [(op, 0)]

    def later(function):
        with tk.repeat("row"):
            y, pull_back = jax.vjp(function, x, w)
        pull_back(y)

    for function in tk.linear, tk.matmul:  # and rows of dx, and dw
        assert asked(monkeypatch, later, function) == [("gemm", 1), ("gemm", 1), ("gemm", 0)]
    with pytest.raises(ValueError, match="must be run or row, not batch"):
        tk.repeat("batch")


def test_rows_repeat():
    """A row of a product with a long k has its bits in any company, and so has its gradient."""
    x, w = array(40, 4096), array(4096, 64)
    row = jax.jit(lambda x: jax.value_and_grad(lambda x: tk.linear(x, w).astype(FP32).sum())(x)[1])
    with tk.repeat("row"):
        whole, gradients = tk.linear(x, w), row(x)
        for rows in slice(0, 1), slice(13, 20):
            equal(tk.linear(x[rows], w), whole[rows])
            equal(row(x[rows]), gradients[rows])


def test_nothing_to_do():
    w = array(8, 5)
    y, dw = jax.value_and_grad(lambda w: tk.linear(array(0, 8), w).sum())(w)
    assert y == 0 and not dw.any()
    assert tk.rms_norm(array(0, 8)).shape == (0, 8)
    assert tk.softmax(array(2, 0)).shape == (2, 0)
    assert not SDPA(array(1, 3, 2, 8), array(1, 0, 2, 8), array(1, 0, 2, 8)).any()
    assert tk.embedding(w, numpy.zeros(0, int)).shape == (0, 5)


def test_largest_numbers():
    """As JAX's, but for the smallest ones; equal numbers by their places, NaN before all."""
    x = random.integers(-3, 4, (3, 5, 9)).astype(FP32)
    x[0, 0, 4] = numpy.nan
    for y in x.astype(BF16), x:
        for got, wanted in zip(tk.top_k(y, 4), jax.lax.top_k(y, 4)):
            assert numpy.array_equal(got, wanted, equal_nan=True)
        for axis in 0, -1, None:
            for keepdims in False, True:
                got = tk.argmax(y, axis, keepdims=keepdims)
                assert got.dtype == jnp.int32
                assert (got == jnp.argmax(y, axis, keepdims=keepdims)).all()
    x = numpy.array([3, 1, 4, 1], FP32)
    assert tk.top_k(x, 3, largest=False)[1].tolist() == [1, 3, 0]
    assert not jax.grad(lambda x: 0.0 * x.sum() + tk.argmax(x))(x).any()


@pytest.mark.parametrize("shape", [(150, 200), (2, 3, 20, 200), (2, 1, 2, 2, 5, 7)])
def test_quantise(shape):
    """A scale for a tensor, or for blocks whose largest number becomes fp8's."""
    x = array(*shape)
    for block in "row", "1x128", "128x128", "tensor":
        y, scale = tk.quantise(x, block=block)
        assert y.shape == x.shape and y.dtype == jnp.float8_e4m3fn and scale.dtype == FP32
        largest = numpy.abs(x.astype(FP32)).max() / 448
        assert numpy.isclose(scale.max(), largest)
        if block == "row":
            back = y.astype(FP32) * scale[..., None]
            assert numpy.allclose(back, x.astype(FP32), rtol=2**-4, atol=2**-9 * largest * 2)
    given = numpy.array([0.25], FP32)
    y, back = tk.quantise(x, jnp.float8_e5m2, scale=given)
    assert (back == given).all()
    assert (y.astype(FP32) == (x.astype(FP32) * 4).astype(jnp.float8_e5m2).astype(FP32)).all()


def test_states_of_feature_maps():
    """Gradients reach one state alone; packed sequences have the bits of each alone."""
    q, v = array(1, 200, 2, 16), array(1, 200, 2, 32)
    starts = numpy.array([0, 90, 90, 200], numpy.int32)
    packed = tk.based(q[0], q[0], v[0], cu_seqlens=starts)
    equal(packed[90:], tk.based(q[:, 90:], q[:, 90:], v[:, 90:])[0])
    q, maps, factors = array(1, 200, 2, 128), array(2, 2, 128, 64) / 11, array(2, 2, dtype=FP32)

    def one(which):
        def of(k):
            options = dict(return_final_states=True)
            return tk.hedgehog(q, k, q, *maps, *abs(factors), **options)[1][which].sum()

        return of

    for which in 0, 1:
        gradient = jax.grad(one(which))(q)
        assert gradient[:, :128].any() and not gradient[:, 128:].any()


def test_hedgehog_gradients_past_lengths():
    """Those of keys past a length, and of queries without a token, are 0."""
    k, q = array(2, 90, 1, 128), array(2, 8, 1, 128)
    maps, factors = array(2, 1, 128, 64) / 11, numpy.ones((2, 1), numpy.float32)
    lengths = numpy.array([33, 5], numpy.int32)

    def loss(q, k, v):
        o = tk.hedgehog(q, k, v, *maps, *factors, lengths=lengths)
        seen = jnp.arange(8) >= 8 - lengths[:, None]
        return jnp.where(seen[..., None, None], o, 0).sum()

    dq, *of_keys = jax.grad(loss, (0, 1, 2))(q, k, k)
    assert dq[0].all() and not dq[1, :3].any() and dq[1, 3:].any()
    for x in of_keys:
        assert not any(x[i, n:].any() for i, n in enumerate(lengths)) and x[0, :33].any()


def test_a_model_learns():
    """Embedding, norm, gated layers and the loss together, in one program."""
    keys = jax.random.split(jax.random.key(0), 4)
    sizes = (11, 16), (16, 64), (32, 16), (11, 16)
    weights = [jax.random.normal(k, s) / s[0] ** 0.5 for k, s in zip(keys, sizes)]
    tokens = jnp.tile(jnp.arange(11), 6)

    def loss(weights):
        table, up, down, last = (w.astype(BF16) for w in weights)
        x = tk.embedding(table, tokens)
        x = x + tk.linear(tk.swiglu(tk.linear(tk.rms_norm(x), up)), down)
        return tk.linear_cross_entropy(tk.layer_norm(x), last, tokens) / len(tokens)

    @jax.jit
    def step(weights):
        value, gradients = jax.value_and_grad(loss)(weights)
        return value, [w - 0.5 * g for w, g in zip(weights, gradients)]

    values = []
    for _ in range(30):
        value, weights = step(weights)
        values.append(value)
    assert values[-1] < 0.1 * values[0]


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="has the CPU play a device")
def test_workspaces(monkeypatch):
    """A device's path, with the CPU as the device: a workspace comes and goes with the call."""
    from tk_ops.jax import _library

    u, k = array(1, 4, 3000, dtype=FP16), array(4, 2000, dtype=FP32)
    exact = tk.fft_conv(u, k)
    monkeypatch.setattr(_library, "kind_of_device", lambda: (_library.CPU, True))
    traced = jax.jit(lambda u, k: tk.fft_conv(u, k))
    size = tk_ops.workspace_bytes("fft_conv", u=u, k=k, y=u)
    text = traced.trace(u, k).lower(lowering_platforms=("cuda",)).as_text()
    assert f"@AllocateBuffer() : () -> tensor<{size}xui8>" in text
    assert "output_tuple_indices = [1], operand_index = 2" in text
    equal(traced(u, k), exact)
    equal(jax.vmap(traced, (0, None))(jnp.stack([u, u]), k), jnp.stack([exact, exact]))


def test_plans():
    """A program whose plan this process has not made says so."""
    from tk_ops.jax import _library

    name = _library.target_of("softmax")
    x = array(3, 4, dtype=FP32)
    with pytest.raises(Exception, match="has not traced the call"):
        y = jax.ffi.ffi_call(name, jax.ShapeDtypeStruct(x.shape, x.dtype))(x, plan="nowhere")
        y.block_until_ready()
    assert all(len(plan) == 7 for plan in _library.plans)


@pytest.mark.parametrize(
    "error, sentence, call",
    [
        (TypeError, "tk_norm: x has .* bits 64", lambda: jax.jit(tk.rms_norm)(randn(2, 8))),
        (TypeError, "tk_softmax: x has .* bits 64", lambda: tk.softmax(randn(2, 8))),
        (
            TypeError,
            "tk_attention_forward: q has .* bits 64",
            lambda: SDPA(*[randn(1, 3, 2, 8)] * 3),
        ),
        (TypeError, "tk_gemm: a is fp32", lambda: tk.linear(*[array(8, 8, dtype=FP32)] * 2)),
        (ValueError, r"x \[2, 8\] and kernel", lambda: tk.linear(array(2, 8), array(9, 3))),
        (ValueError, "do not fit", lambda: tk.matmul(array(2, 3, 8), array(3, 8, 4))),
        (ValueError, "tk_gemm: bias", lambda: tk.linear(array(2, 8), array(8, 3), array(4))),
        (ValueError, "the last size", lambda: tk.rms_norm(array(2, 8), array(4))),
        (ValueError, "residual must", lambda: tk.layer_norm(array(2, 8), residual=array(8))),
        (ValueError, "no axis 2", lambda: tk.softmax(array(2, 8), 2)),
        (ValueError, "last axis", lambda: tk.softmax(array(2, 8), 0, causal=True)),
        (ValueError, "do not fit", lambda: tk.cross_entropy(array(3, 8), numpy.zeros(4, int))),
        (TypeError, "tk_cross_entropy: ", lambda: tk.cross_entropy(array(3, 8), array(3))),
        (
            ValueError,
            "padding_idx 9",
            lambda: tk.embedding(array(4, 8), numpy.zeros(3, int), padding_idx=9),
        ),
        (ValueError, "no axis 2", lambda: tk.top_k(array(2, 8), 3, axis=2)),
        (ValueError, "no axis 2", lambda: tk.argmax(array(2, 8), 2)),
        (ValueError, "tk_topk: ", lambda: tk.top_k(array(3, 4), 5)),
        (NotImplementedError, "1024", lambda: tk.top_k(array(3, 3000), 1025)),
        (TypeError, "tk_topk: ", lambda: tk.argmax(numpy.zeros((3, 4), int), 1)),
        (ValueError, "block must be one of", lambda: tk.quantise(array(3, 4), block="2x2")),
        (TypeError, "tk_quantise: ", lambda: tk.quantise(array(3, 4), BF16)),
        (
            NotImplementedError,
            "no derivative",
            lambda: jax.grad(lambda x: tk.quantise(x)[1].sum())(array(3, 4)),
        ),
        (ValueError, "do not fit", lambda: tk.add(array(3, 4), array(5, 4))),
        (TypeError, "none is fp32", lambda: tk.add(array(3, 4), array(3, 4, dtype=FP16))),
        (ValueError, "two dimensions", lambda: tk.matrix_transpose(array(4))),
        (NotImplementedError, "tk_based: ", lambda: tk.based(*[array(1, 3, 1, 32)] * 3)),
        (
            TypeError,
            "tk_hedgehog: alpha",
            lambda: tk.hedgehog(
                *[array(1, 3, 1, 128)] * 3, *[array(1, 128, 64)] * 2, *[array(1)] * 2
            ),
        ),
        (ValueError, "is odd", lambda: tk.swiglu(array(3, 7))),
        (ValueError, "same sizes", lambda: tk.geglu(array(3, 8), array(3, 4))),
        (
            NotImplementedError,
            "cos and sin",
            lambda: jax.grad(lambda c: tk.rotary(array(1, 3, 1, 8), None, c, c)[0].sum())(
                array(3, 4)
            ),
        ),
        (
            NotImplementedError,
            "alibi",
            lambda: jax.grad(
                lambda a: tk.attention(*[array(1, 3, 2, 8)] * 3, alibi=a).sum().astype(FP32)
            )(array(2, dtype=FP32)),
        ),
        (NotImplementedError, "multiple of 8", lambda: SDPA(*[array(1, 3, 2, 12)] * 3)),
        (TypeError, "must be bool", lambda: SDPA(*[array(1, 3, 2, 8)] * 3, None, array(3, 3))),
        (ValueError, "or packed 3", lambda: tk.attention(*[array(3, 2, 8)] * 3)),
        (
            ValueError,
            "must not be negative",
            lambda: tk.attention(*[array(1, 3, 2, 8)] * 3, window=(-2, 0)),
        ),
        (
            NotImplementedError,
            "the last of 9 queries",
            lambda: SDPA(array(1, 9, 2, 8), *[array(1, 3, 2, 8)] * 2, local_window_size=(2, 9)),
        ),
        (
            NotImplementedError,
            "tk_linear_attention: ",
            lambda: tk.linear_attention(*[array(1, 3, 1, 8)] * 3),
        ),
        (
            ValueError,
            "activation must be",
            lambda: tk.causal_conv1d(array(1, 3, 8), array(8, 4), activation="relu"),
        ),
        (TypeError, "tk_fft_conv: k", lambda: tk.fft_conv(array(1, 3, 8), array(3, 8))),
    ],
)
def test_refusals(error, sentence, call):
    with pytest.raises(error, match=sentence):
        call()
