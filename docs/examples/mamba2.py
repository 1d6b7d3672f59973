# SPDX-License-Identifier: MIT
import numpy
import tk_ops

x = numpy.random.randn(1, 20, 2, 32).astype(numpy.float16)  # [b, n, heads, p]
B, C = numpy.random.randn(2, 1, 20, 1, 16).astype(numpy.float16)  # one group for both heads
dt = numpy.random.rand(1, 20, 2).astype(numpy.float32)
A, y = numpy.array([-1, -0.5], numpy.float32), numpy.empty_like(x)
tk_ops.mamba2(x=x, dt=dt, A=A, B=B, C=C, y=y, dt_max=numpy.inf)

s = numpy.zeros((32, 16))  # the second head
for t in range(20):
    s = numpy.exp(-0.5 * dt[0, t, 1]) * s + dt[0, t, 1] * numpy.outer(x[0, t, 1], B[0, t, 0])
    assert numpy.allclose(y[0, t, 1], s @ C[0, t, 0], atol=0.05)
