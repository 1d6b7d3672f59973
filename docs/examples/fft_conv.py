# SPDX-License-Identifier: MIT
import numpy
import tk_ops

u = numpy.random.randn(2, 4, 500).astype(numpy.float16)
k = (numpy.random.randn(4, 300) / 17).astype(numpy.float32)  # a filter for each channel
y = numpy.empty_like(u)
tk_ops.fft_conv(u=u, k=k, y=y)

exact = numpy.convolve(u[0, 1].astype(float), k[1])[:500]
assert numpy.sqrt(((y[0, 1] - exact) ** 2).mean() / (exact**2).mean()) < 1e-3
