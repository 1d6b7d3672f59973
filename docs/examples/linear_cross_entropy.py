# SPDX-License-Identifier: MIT
import numpy
import tk_ops

x = numpy.random.randn(40, 24).astype(numpy.float16)
w = (numpy.random.randn(100, 24) / 5).astype(numpy.float16)
labels, loss = numpy.random.randint(0, 100, 40), numpy.empty(40, numpy.float32)
dx, dw = numpy.empty_like(x), numpy.empty(w.shape, numpy.float32)
tk_ops.linear_cross_entropy(x=x, w=w, labels=labels, loss=loss, dx=dx, dw=dw, dloss_scale=1 / 40)

logits = x.astype(float) @ w.astype(float).T
p = numpy.exp(logits) / numpy.exp(logits).sum(1, keepdims=True)
assert numpy.allclose(loss, -numpy.log(p[range(40), labels]), atol=5e-3)
assert numpy.allclose(dw, (p - numpy.eye(100)[labels]).T @ x / 40, atol=2e-3)
