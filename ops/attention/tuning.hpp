// SPDX-License-Identifier: MIT
// What attention lets a chip choose; the choices are in backends/<chip>/tune/attention.hpp:
// tune_attention_forward(d), for heads of up to d elements, and tune_attention_general(d), for the
// kernel with options, which take registers.
#pragma once
#include "backends/select.hpp"

namespace tk {

// M rows of queries per worker, N keys a step, `slots` tiles of keys or values in shared memory and
// `own_slots` of queries; `ahead` issues the next scores before a step's softmax, `turns` puts the
// workers in turn.
struct attention_tuning {
  int workers, M, N, slots, own_slots;
  bool ahead, turns;
};

}  // namespace tk

// A chip has the sizes of its family where it has none of its own.
#if __has_include(TK_CHIP(tune / attention.hpp))
#include TK_CHIP(tune / attention.hpp)
#else
#include TK_BACKEND(tune/attention.hpp)
#endif
