# SPDX-License-Identifier: MIT
import numpy
import tk_ops

q, k, v, dout = (numpy.random.randn(4, 1, 200, 2, 128) / 4).astype(numpy.float16)
maps = (numpy.random.randn(2, 2, 128, 64) / 8).astype(numpy.float16)
alpha, beta, dalpha, dbeta = numpy.ones((4, 2), numpy.float32)
given = dict(
    q=q,
    k=k,
    v=v,
    o=numpy.empty_like(q),
    map_q=maps[0],
    map_k=maps[1],
    alpha=alpha,
    beta=beta,
    normaliser=numpy.empty((1, 2, 200), numpy.float32),
    scale=128**-0.5,
)
tk_ops.hedgehog(**given)
made = {name: numpy.empty_like(q) for name in ("dq", "dk", "dv")}
made |= {name: numpy.empty((2, 128, 64), numpy.float32) for name in ("dmap_q", "dmap_k")}
tk_ops.hedgehog_backward(**given, dout=dout, **made, dalpha=dalpha, dbeta=dbeta)

# Both factors scaled alike change nothing, but for the normaliser's 1e-6.
assert numpy.allclose(dalpha, -dbeta, atol=0.02 * abs(dbeta).max() + 0.02)
