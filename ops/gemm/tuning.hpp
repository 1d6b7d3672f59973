// SPDX-License-Identifier: MIT
// What gemm lets a chip choose; the choices are in backends/<chip>/tune/gemm.hpp:
//   gemm_sizes, tune_gemm(size)       sizes of tiles, the largest first
//   gemm_sizes_alike                  whether all of them give the same bits
//   gemm_partial_cost                 what it costs to store the sums of a piece of a tile, or to
//                                     add stored ones, in steps of the loop over k; 0: never cut
//                                     along k
//   gemm_load_cost(bytes)             what rows that lie so many bytes apart cost their loads
//   tune_repack()                     of the copies made where that is much
#pragma once
#include <cstdint>

#include "backends/select.hpp"

namespace tk {

// C tiles of `down` by `across` workers, each with M rows and N columns; K of k a step, `stages`
// steps in shared memory; `cluster` blocks share what they load of b, where that pays; `group` rows
// of tiles are walked together; `turns` puts the workers' products in turn. Results leave
// `out_bytes` of each row at once. A step takes `step_cost`, in a unit of the chip's own, and the
// size is taken that is done first.
struct gemm_tuning {
  int down, across, M, N, K, stages, cluster, group;
  bool turns;
  int out_bytes, step_cost;
  constexpr int workers() const { return down * across; }
};
// What it costs a product to load rows that begin at bad places: nothing, some, or most of its
// time.
enum class load_cost { none, some, high };

// A task copies R rows of each worker by C columns.
struct repack_tuning {
  int workers, R, C;
};

}  // namespace tk

// A chip has the sizes of its family where it has none of its own.
#if __has_include(TK_CHIP(tune / gemm.hpp))
#include TK_CHIP(tune / gemm.hpp)
#else
#include TK_BACKEND(tune/gemm.hpp)
#endif
