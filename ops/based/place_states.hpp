// SPDX-License-Identifier: MIT
// States as scans of linear attention have them, [b, h, 160, columns]: the columns of
// ops/based/moments.hpp as rows, sums of moments in the column behind those of v; from and to those
// of based.h.
#pragma once
#include "backends/kernel.hpp"
#include "ops/based/plan.hpp"
#include "ops/linear_attention/lone_worker.hpp"

namespace tk {

struct based_place_states : lone_worker {
  struct scratch {};
  using args = states_to_place;
  struct task {
    int sequence, head, tile, steps;
  };

  static TK_BOTH int tasks(args const& a) { return a.b * a.h * based_moments::tiles; }
  static TK_BOTH task task_at(args const& a, int i, int) {
    constexpr int tiles = based_moments::tiles;
    return {i / tiles / a.h, i / tiles % a.h, i % tiles, 0};
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    constexpr int width = based_moments::width;
    float* const placed =
        a.placed + (std::int64_t{t.sequence} * a.h + t.head) * based_moments::columns * a.columns;
    auto* const state = static_cast<float*>(a.state.data);
    for (int i = c.w.lane(); i < width * a.columns; i += be::worker_lanes) {
      int const column = t.tile * width + i / a.columns, col = i % a.columns,
                row = based_moments::row_of(column);
      float* other = nullptr;
      if (row >= 0 && col < a.dv && a.state.given)
        other = state + t.sequence * a.state.b_stride + t.head * a.state.h_stride +
                row * a.state.d_stride + col;
      if (row >= 0 && col == a.dv && a.sums.given)
        other = a.sums.data + t.sequence * a.sums.b_stride + t.head * a.sums.h_stride + row;
      float& here = placed[std::int64_t{column} * a.columns + col];
      if (!a.back) here = other ? *other : 0.f;
      else if (other) *other = here;
    }
  }
};

}  // namespace tk
