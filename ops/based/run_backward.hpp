// SPDX-License-Identifier: MIT
// Launches of what Based's backward has beside its scans. based_backward_run<T> is instantiated
// once for each row of ops/based/based_backward.cmake.
#pragma once
#include "ops/based/place_states.hpp"
#include "ops/based/token_kernels.hpp"
#include "ops/typed_heads.hpp"

namespace tk {

template <class T> struct based_backward_run {
  static void launch(moments_to_expand const& x, void* stream);
  static void launch(moments_to_contract const& x, void* stream);
  static void launch(outputs_to_divide const& x, void* stream);
  static void launch(states_to_place const& x, void* stream);
};

template <class T, int Columns = based_moments::width> auto token_tiles_from(heads const& x) {
  return be::read_from<tokens_of_heads::R, Columns>(typed<T const>(x));
}
template <class T, int Columns = based_moments::width> auto token_tiles_to(heads const& x) {
  return be::write_to<tokens_of_heads::R, Columns>(typed<T>(x));
}

template <class T> void based_backward_run<T>::launch(moments_to_expand const& x, void* stream) {
  be::launch<based_expand<T>>(
      {token_tiles_from<T>(x.x), token_tiles_to<T, based_moments::columns>(x.to), x.rows,
       x.weighted, x.scale},
      stream);
}
template <class T> void based_backward_run<T>::launch(moments_to_contract const& x, void* stream) {
  constexpr int W = based_contract<T>::W;
  be::launch<based_contract<T>>(
      {token_tiles_from<T>(x.x),
       {token_tiles_from<T, W>(x.grads[0]), token_tiles_from<T, W>(x.grads[1])},
       x.parts,
       token_tiles_to<T>(x.to),
       x.rows,
       x.weighted,
       x.scale},
      stream);
}
template <class T> void based_backward_run<T>::launch(outputs_to_divide const& x, void* stream) {
  constexpr int W = based_divide<T>::W;
  be::launch<based_divide<T>>(
      {token_tiles_from<T, W>(x.dout), token_tiles_from<T, W>(x.o), token_tiles_from<T, W>(x.v),
       token_tiles_to<T, W>(x.divided), token_tiles_to<T, W>(x.wide_v), x.normalisers, x.rows,
       static_cast<int>(x.v.d)},
      stream);
}
template <class T> void based_backward_run<T>::launch(states_to_place const& x, void* stream) {
  be::launch<based_place_states>(x, stream);
}

}  // namespace tk
