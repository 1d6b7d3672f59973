# SPDX-License-Identifier: MIT
import numpy
import tk_ops

x = numpy.random.randn(2, 30, 24).astype(numpy.float32)
weight = numpy.random.randn(24, 4).astype(numpy.float32)
y, state = numpy.empty_like(x), numpy.empty((2, 3, 24), numpy.float32)
tk_ops.conv1d(x=x, weight=weight, y=y, final_state=state)

before = numpy.concatenate((numpy.zeros((2, 3, 24)), x), 1)
exact = sum(weight[:, i] * before[:, i : i + 30] for i in range(4))
assert numpy.allclose(y, exact, atol=1e-5)
assert numpy.array_equal(state, x[:, -3:])  # the next token's past
