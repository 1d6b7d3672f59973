# SPDX-License-Identifier: MIT
import numpy
import tk_ops

ids = numpy.array([3, 19, 0, 3])
dy, dtable = numpy.random.randn(4, 24).astype(numpy.float16), numpy.empty((20, 24), numpy.float32)
tk_ops.embedding_backward(dy=dy, ids=ids, dtable=dtable, ignores=1, ignored_id=0)

assert numpy.array_equal(dtable[19], dy[1].astype(numpy.float32))
assert numpy.array_equal(dtable[3], dy[0].astype(numpy.float32) + dy[3])  # in the tokens' order
assert not dtable[0].any()  # ignored, as padding is
