# SPDX-License-Identifier: MIT
import numpy
import tk_ops

x = numpy.random.randn(4, 1024).astype(numpy.float16)
residual = numpy.random.randn(4, 1024).astype(numpy.float32)  # a stream in fp32
y, r = numpy.empty_like(x), numpy.empty_like(residual)
tk_ops.norm(x=x, residual=residual, y=y, r=r, kind=tk_ops.NormKind.RMS, eps=1e-6)

assert numpy.array_equal(r, x + residual)
exact = r / numpy.sqrt((r.astype(float) ** 2).mean(1, keepdims=True) + 1e-6)
assert numpy.allclose(y, exact, atol=2e-3)
