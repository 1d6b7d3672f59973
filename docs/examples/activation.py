# SPDX-License-Identifier: MIT
import numpy
import tk_ops

x = numpy.random.randn(5, 2, 40).astype(numpy.float16)
y = numpy.empty((5, 40), numpy.float16)
tk_ops.activation(a=x[:, 0], b=x[:, 1], y=y, kind=tk_ops.ActivationKind.SILU)  # SwiGLU

a, b = x[:, 0].astype(float), x[:, 1].astype(float)
assert numpy.allclose(y, a / (1 + numpy.exp(-a)) * b, atol=5e-3)
