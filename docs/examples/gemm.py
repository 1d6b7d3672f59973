# SPDX-License-Identifier: MIT
import numpy
import tk_ops

a = numpy.random.randn(3, 64).astype(numpy.float16)
b = numpy.random.randn(8, 64).astype(numpy.float16)  # [n, k]: the weight of a linear layer
bias, d = numpy.ones(8, numpy.float32), numpy.empty((3, 8), numpy.float32)
tk_ops.gemm(
    a=a,
    b=b,
    bias=bias,
    d=d,
    transpose_b=1,
    alpha=1.0,
    bias_kind=tk_ops.Bias.ROW,
    activation=tk_ops.ActivationKind.RELU,
)

exact = a.astype(float) @ b.astype(float).T + 1
assert numpy.allclose(d, exact.clip(0), atol=1e-4)
