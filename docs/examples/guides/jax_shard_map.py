# SPDX-License-Identifier: MIT
import jax
import jax.numpy as jnp
import tk_ops.jax as tk


def layer(w, x):
    return x + tk.linear(tk.rms_norm(x), w)


mesh = jax.sharding.Mesh(jax.devices(), "devices")
part = jax.P("devices")  # of the batch; all devices have the weights
parted = jax.shard_map(layer, mesh=mesh, in_specs=(jax.P(), part), out_specs=part)
w = jax.random.normal(jax.random.key(1), (64, 64), jnp.bfloat16)
x = jax.random.normal(jax.random.key(2), (2 * len(jax.devices()), 9, 64), jnp.bfloat16)
assert (jax.jit(parted)(w, x) == layer(w, x)).all()


def loss(w, x):
    return jnp.square(parted(w, x).astype(jnp.float32)).mean()


assert jax.jit(jax.grad(loss))(w, x).any()
