# SPDX-License-Identifier: MIT
import numpy
import tk_ops

x = numpy.random.randn(6, 50).astype(numpy.float32)
labels = numpy.array([3, 0, 49, -100, 7, 7])
loss, lse, dx = numpy.empty(6, numpy.float32), numpy.empty(6, numpy.float32), numpy.empty_like(x)
tk_ops.cross_entropy(
    x=x,
    labels=labels,
    loss=loss,
    lse=lse,
    dx=dx,
    dloss_scale=1.0,
    has_ignore_index=1,
    ignore_index=-100,
)

assert numpy.allclose(lse, numpy.log(numpy.exp(x.astype(float)).sum(1)), atol=1e-5)
assert numpy.allclose(loss[0], lse[0] - x[0, 3], atol=1e-5)
assert loss[3] == 0 and not dx[3].any()  # an ignored row
