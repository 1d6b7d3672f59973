# SPDX-License-Identifier: MIT
import numpy
import tk_ops

table = numpy.random.randn(20, 24).astype(numpy.float16)
ids = numpy.array([[3, 19, 0], [3, 3, 20]])  # 20 is no row, and gives zeros
y = numpy.empty((2, 3, 24), numpy.float16)
tk_ops.embedding(table=table, ids=ids, y=y)

assert numpy.array_equal(y[0], table[ids[0]])
assert not y[1, 2].any()
