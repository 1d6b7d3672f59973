# SPDX-License-Identifier: MIT
"""tk_ops.torch against PyTorch's own definitions, evaluated in fp64 on the same rounded inputs:
results and gradients of each type and layout, torch.compile, torch.library.opcheck of every op,
torch.autocast, torch.use_deterministic_algorithms, torch.func.vmap, CUDA graphs.
With TK_TORCH_DEVICE=cuda they are on a GPU, and want a library that is built for it.

`bound` of a case is its largest root mean square error relative to the result's, in units of the
type's epsilon, 2^-7 of bf16: rounding a result once commits about 0.2 of it, and each rounding on
the way (of weights, of products' operands) as much again. In fp32, where sums commit more than the
rounding, it is 2 throughout.
"""

import pytest

torch = pytest.importorskip("torch")
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

import tk_ops.torch as tk  # noqa: E402
from tk_ops.torch._library import is_watched  # noqa: E402
from shared_cases import BF16, FP32  # noqa: E402
from torch_functions import CASES, laid, type_of  # noqa: E402

torch.set_num_threads(1)
WITHOUT_GRADIENT = {
    "argmax": lambda x: tk.argmax(x, 1),
    "fft_filter": lambda x: tk.fft_filter(x.float(), x),
    "quantise": lambda x: tk.quantise(x, block="1x128"),
    "quantised_norm": lambda x: tk.rms_norm(x, 20, residual=x, out_dtype=torch.float8_e4m3fn),
}
LAYOUTS = "plain", "permuted", "sliced"


def many(x):
    return x if isinstance(x, tuple) else (x,)


def run(this, function, inputs, layout="plain"):
    """Results of the function of a case, and the gradients of its inputs, in fp64."""
    inputs = [x if x is None else x.detach() for x in inputs]
    wanted = [inputs[i].requires_grad_() for i in this.wanted]
    results = many(function(*inputs))
    torch.manual_seed(5)
    gradients = [torch.randn(y.shape, device=y.device).bfloat16().to(y.dtype) for y in results]
    gradients = [laid(x, layout) for x in gradients]
    torch.autograd.backward(results, gradients)
    return [x.detach().double() for x in (*results, *(x.grad for x in wanted))]


PARAMETERS = [
    pytest.param(name, dtype, layout, id=f"{name}-{dtype}-{layout}")
    for name, x in CASES.items()
    for dtype in x.types
    for layout in (LAYOUTS if dtype == BF16 else LAYOUTS[:1])
]


@pytest.mark.parametrize("name, dtype, layout", PARAMETERS)
def test_results_and_gradients(name, dtype, layout):
    this = CASES[name]
    inputs = this.make(dtype, layout)
    exact = run(
        this,
        this.reference,
        [x.double() if x is not None and x.is_floating_point() else x for x in inputs],
    )
    got = run(this, this.function, inputs, layout)
    bounds = this.bounds(dtype, len(exact))
    for i, (x, y, bound) in enumerate(zip(got, exact, bounds, strict=True)):
        assert x.shape == y.shape
        error = ((x - y).norm() / y.norm()).item() / torch.finfo(type_of(dtype)).eps
        assert error <= bound, f"{i}: {error} of the type's epsilon"


@pytest.mark.parametrize("name, dtype, layout", PARAMETERS)
def test_calls_past_the_dispatcher(name, dtype, layout):
    """They give the bits of those through it. A default device is a mode, which watches."""
    this = CASES[name]
    watched = run(this, this.function, this.make(dtype, layout), layout)
    inputs, device = this.make(dtype, layout), torch.get_default_device()
    torch.set_default_device(None)
    try:
        assert not is_watched()
        found = run(this, this.function, inputs, layout)
    finally:
        torch.set_default_device(device)
    for x, y in zip(found, watched, strict=True):
        assert torch.equal(x, y)


@pytest.mark.parametrize("name", CASES)
def test_gradients_of_torch_func(name):
    """They have the bits of autograd's."""
    this = CASES[name]
    inputs = this.make(BF16)
    wanted = [inputs[i] for i in this.wanted]

    def loss(*wanted):
        given = list(inputs)
        for i, x in zip(this.wanted, wanted, strict=True):
            given[i] = x
        return sum(y.float().square().sum() for y in many(this.function(*given)))

    found = torch.func.grad(loss, tuple(range(len(wanted))))(*wanted)
    leaves = [x.clone().requires_grad_() for x in wanted]
    for x, y in zip(found, torch.autograd.grad(loss(*leaves), leaves), strict=True):
        assert torch.equal(x, y)


class recorder(TorchDispatchMode):
    """Keeps the arguments of TK's ops, each once."""

    def __init__(self):
        super().__init__()
        self.calls = {}

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        if op.namespace == "tk_ops":
            self.calls.setdefault(op, args)
        return op(*args, **(kwargs or {}))


@pytest.fixture(scope="module")
def calls():
    """Of each layout and op the arguments of a call, recorded as cases ran."""
    found = {}
    for layout in LAYOUTS:
        with recorder() as recorded:
            for this in CASES.values():
                run(this, this.function, this.make(BF16, layout), layout)
            for call in WITHOUT_GRADIENT.values():
                call(laid(torch.randn(3, 20).bfloat16(), layout))
        found[layout] = recorded.calls
    return found


OPS = sorted(
    x
    for x in dir(torch.ops.tk_ops)
    if isinstance(getattr(torch.ops.tk_ops, x), torch._ops.OpOverloadPacket)
)


def test_every_op_is_checked(calls):
    for found in calls.values():
        assert sorted(op._opname for op in found) == OPS


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", OPS)
def test_opcheck(name, layout, calls):
    op = getattr(torch.ops.tk_ops, name).default
    differentiable = not name.endswith("_backward") and name not in WITHOUT_GRADIENT
    arguments = [
        (
            x.detach().requires_grad_(x.is_floating_point() and differentiable)
            if isinstance(x, torch.Tensor)
            else x
        )
        for x in calls[layout][op]
    ]
    torch.library.opcheck(op, arguments)


@pytest.mark.parametrize("name", CASES)
def test_compiles_into_one_graph(name):
    this = CASES[name]
    torch._dynamo.reset()
    compiled = torch.compile(this.function, fullgraph=True, backend="aot_eager")
    eager = run(this, this.function, this.make(BF16))
    for x, y in zip(run(this, compiled, this.make(BF16)), eager, strict=True):
        assert torch.equal(x, y)


@pytest.mark.parametrize("name", CASES)
def test_autocast(name):
    """What takes 16 bits alone is cast to them, all else is taken as it is: the bits are those of
    inputs that are cast before; but a bias of attention stays, and its gradient is fp32."""
    this = CASES[name]
    kept = FP32 in this.types
    cast = this.make(FP32 if kept else BF16)
    wide = [x.float() if i in this.wanted else x for i, x in enumerate(cast)]
    device = torch.get_default_device().type
    with torch.autocast(device, dtype=torch.bfloat16):
        found = run(this, this.function, wide)
    for x, y in zip(found, run(this, this.function, cast), strict=True):
        assert torch.equal(x, y) or (not kept and (x - y).norm() <= 2**-8 * y.norm())


@pytest.mark.parametrize("name", CASES)
def test_deterministic_algorithms(name):
    """Nothing is refused, and nothing of memory that PyTorch fills with NaN then is left."""
    this = CASES[name]
    plain = run(this, this.function, this.make(BF16))
    torch.use_deterministic_algorithms(True)
    try:
        found = run(this, this.function, this.make(BF16))
    finally:
        torch.use_deterministic_algorithms(False)
    for x, y in zip(found, plain, strict=True):
        assert torch.equal(x, y)


@pytest.mark.parametrize("name", CASES)
def test_vmap(name):
    """One element after another, with the bits of each alone."""
    this = CASES[name]
    inputs = this.make(BF16)
    axes = tuple(0 if i in this.wanted else None for i in range(len(inputs)))
    pairs = [torch.stack((x, x.flip(0))) if i in this.wanted else x for i, x in enumerate(inputs)]
    found = torch.func.vmap(this.function, axes)(*pairs)
    for i in range(2):
        alone = this.function(*(x if axis is None else x[i] for x, axis in zip(pairs, axes)))
        for x, y in zip(many(found), many(alone), strict=True):
            assert torch.equal(x[i], y)


@pytest.mark.skipif(torch.get_default_device().type != "cuda", reason="graphs are a card's")
@pytest.mark.parametrize("name", CASES)
def test_cuda_graphs(name):
    """A graph gives, replayed on other inputs, the bits of a call on another stream."""
    this = CASES[name]
    inputs = this.make(BF16)
    others = [x.flip(0) if i in this.wanted else x for i, x in enumerate(inputs)]
    side, here = torch.cuda.Stream(), torch.cuda.current_stream()
    side.wait_stream(here)
    with torch.cuda.stream(side):
        exact = many(this.function(*others))
    here.wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = many(this.function(*inputs))
    for i in this.wanted:
        inputs[i].copy_(others[i])
    graph.replay()
    for x, y in zip(found, exact, strict=True):
        assert torch.equal(x, y)
