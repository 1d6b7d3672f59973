# SPDX-License-Identifier: MIT
import numpy
import tk_ops

a, b, dy = numpy.random.randn(3, 5, 40).astype(numpy.float32)
da, db = numpy.empty_like(a), numpy.empty_like(b)
tk_ops.activation_backward(a=a, b=b, dy=dy, da=da, db=db, kind=tk_ops.ActivationKind.SILU)

sigmoid = 1 / (1 + numpy.exp(-a.astype(float)))
assert numpy.allclose(db, dy * a * sigmoid, atol=1e-5)
assert numpy.allclose(da, dy * b * sigmoid * (1 + a * (1 - sigmoid)), atol=1e-5)
