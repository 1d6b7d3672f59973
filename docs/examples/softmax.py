# SPDX-License-Identifier: MIT
import numpy
import tk_ops

x = numpy.random.randn(2, 6, 6).astype(numpy.float32)
y = numpy.empty_like(x)
tk_ops.softmax(x=x, y=y, mask=tk_ops.Mask.CAUSAL, scale=0.5)

exact = numpy.tril(numpy.exp(0.5 * x.astype(float)))
exact /= exact.sum(-1, keepdims=True)
assert numpy.allclose(y, exact, atol=1e-6)
tk_ops.softmax(x=x, y=x, mask=tk_ops.Mask.CAUSAL, scale=0.5)  # in place
assert numpy.array_equal(x, y)
