// SPDX-License-Identifier: MIT
// Reductions of flat tiles (core/flat_map.hpp), across lanes, warps, workers and the blocks of a
// cluster: row_sum, row_total and row_totals, which core/rows.hpp describes.
#pragma once
#include <bit>

#include "core/flat_map.hpp"
#include "core/reduce.hpp"

namespace tk {

template <int R, bool All> inline constexpr bool rows_cross_warps = All || !rows_in_warps<R>;

// What warps leave for one another of one value or two. There are two buffers, used alternately, so
// that one barrier a time is enough: between two writes to the same buffer lies the barrier of the
// time in between, which a warp reaches only when it has read the first.
template <int R, bool All = false, int Blocks = 1, bool Needed = rows_cross_warps<R, All>>
struct row_exchange {
  alignas(16) float of[2][2][R][be::worker_warps];
};
template <int R, bool All, int Blocks> struct row_exchange<R, All, Blocks, false> {};
// Blocks of a cluster put what they have into each one's buffers.
template <int R, int Blocks>
  requires(Blocks > 1)
struct row_exchange<R, true, Blocks, true> : row_exchange<R, true> {
  alignas(16) float of_blocks[2][2][R][Blocks];
};

// Lanes that all have the same columns, as across_cols asks.
struct whole_warp {
  static constexpr int lane_col(int) { return 0; }
};

// How many workers a block has, and may have.
template <class Context>
inline constexpr int most_workers =
    std::extent_v<std::remove_reference_t<decltype(Context::scratches)>>;
template <class Context> TK_DEVICE int workers_of(Context const& c) {
  if constexpr (requires { c.workers; }) return c.workers;
  else return most_workers<Context>;
}
template <bool All, class Context> TK_DEVICE void meet(Context& c) {
  if constexpr (All) {
    c.all.arrive();
    c.all.await();
  } else {
    c.w.sync();
  }
}
template <int R, bool All, class Context> TK_DEVICE void rejoin([[maybe_unused]] Context& c) {
  if constexpr (rows_cross_warps<R, All>) meet<All>(c);
}

// The blocks of a cluster share rows where the context has `blocks`, this one's company.
template <class Context>
inline constexpr bool has_company = requires(Context const& c) { c.blocks.count; };

// Each of x becomes F of what the blocks of a cluster have.
template <class F, class Context, int R, int K>
TK_DEVICE void add_up_blocks(Context& c, reg_col<float, R> (&x)[K]) {
  auto& all = c.scratches[0].exchange.of_blocks[c.blocks.buffer()];
  int const lane = be::worker_lane();
  if (c.w.id() == 0 && lane == 0)
    c.blocks.expect(c.blocks.count * K * R * static_cast<int>(sizeof(float)));
  if (c.w.id() == 0 && lane < c.blocks.count) {
    TK_UNROLL
    for (int k = 0; k < K; ++k) TK_UNROLL
    for (int r = 0; r < R; ++r) c.blocks.put(lane, all[k][r][c.blocks.rank()], x[k].e[r]);
  }
  c.blocks.await();
  TK_UNROLL
  for (int k = 0; k < K; ++k) TK_UNROLL
  for (int r = 0; r < R; ++r) {
    x[k].e[r] = all[k][r][0];
    TK_UNROLL
    for (int b = 1; b < c.blocks.count; ++b) x[k].e[r] = F{}(x[k].e[r], all[k][r][b]);
  }
}

// What changes nothing: x + -0 is x, also of 0.
template <class F> constexpr float neutral_of() {
  static_assert(std::is_same_v<F, plus> || std::is_same_v<F, larger>);
  return std::is_same_v<F, plus> ? -0.f : -inf;
}
template <class F, int N> TK_DEVICE float fold_all(float const (&of)[N]) {
  float all = of[0];
  TK_UNROLL
  for (int i = 1; i < N; ++i) all = F{}(all, of[i]);
  return all;
}
// Each of x becomes F of what the warps of all workers have left. Lanes share the workers among
// them, as many as a block may have.
template <class F, class Context, int R, int K>
TK_DEVICE void add_up_workers(Context& c, reg_col<float, R> (&x)[K], int buffer) {
  constexpr int lanes = static_cast<int>(std::bit_ceil(unsigned{most_workers<Context>}));
  int const workers = workers_of(c);
  auto const of_worker = [&](int w, int k, int r) {
    return fold_all<F>(c.scratches[w].exchange.of[buffer][k][r]);
  };
  int const mine = be::worker_lane() % lanes;
  TK_UNROLL
  for (int k = 0; k < K; ++k) TK_UNROLL
  for (int r = 0; r < R; ++r) {
    float& all = x[k].e[r];
    if constexpr (be::warp_lanes < lanes) {
      all = of_worker(0, k, r);
      for (int w = 1; w < workers; ++w) all = F{}(all, of_worker(w, k, r));
    } else {
      all = mine < workers ? of_worker(mine, k, r) : neutral_of<F>();
      TK_UNROLL
      for (int bit = 1; bit < lanes; bit *= 2) all = F{}(all, be::shuffle_xor(all, bit));
    }
  }
}

// Each of x becomes F of what all lanes have of a row.
template <class F, bool All, int S = 1, class Context, int R, int K>
TK_DEVICE void row_totals([[maybe_unused]] Context& c, reg_col<float, R> (&x)[K],
                          [[maybe_unused]] int& buffer) {
  static_assert(K <= 2);
  if constexpr (rows_cross_warps<R, All>) {
    static_assert(is_flat<R> && flat_rows_per_lane<R> == R,
                  "a row that several warps share is in all lanes");
    int const warp = be::worker_lane() / be::warp_lanes;
    float of_warp[K * R];
    TK_UNROLL
    for (int k = 0; k < K; ++k) TK_UNROLL
    for (int r = 0; r < R; ++r) of_warp[k * R + r] = x[k].e[r];
    across_cols<whole_warp, F, 1, K * R>(of_warp, 0, true, [&](int i, float v) {
      c.scratch.exchange.of[buffer][i / R][i % R][warp] = v;
    });
    meet<All>(c);
    if constexpr (All) {
      add_up_workers<F>(c, x, buffer);
      if constexpr (has_company<Context>) add_up_blocks<F>(c, x);
    } else {
      TK_UNROLL
      for (int k = 0; k < K; ++k) TK_UNROLL
      for (int r = 0; r < R; ++r) x[k].e[r] = fold_all<F>(c.scratch.exchange.of[buffer][k][r]);
    }
    buffer ^= 1;
  } else if constexpr (is_flat<R>) {
    TK_UNROLL
    for (int bit = 1; bit < be::warp_lanes / S; bit *= 2) TK_UNROLL
    for (int k = 0; k < K; ++k) TK_UNROLL
    for (int r = 0; r < flat_rows_per_lane<R>; ++r)
      x[k].e[r] = F{}(x[k].e[r], be::shuffle_xor(x[k].e[r], bit));
  } else {
    for (auto& each : x) each = across<F>(each);
  }
}
template <class F, bool All, int S = 1, class Context, int R>
TK_DEVICE reg_col<float, R> row_total(Context& c, reg_col<float, R> const& x, int& buffer) {
  reg_col<float, R> all[] = {x};
  row_totals<F, All, S>(c, all, buffer);
  return all[0];
}
template <bool All = false, class Context, tile_expression X>
TK_DEVICE auto row_sum(Context& c, X&& x, int& buffer) {
  return row_total<plus, All>(c, row_share<plus, std::remove_cvref_t<X>>(x, 0.f), buffer);
}

}  // namespace tk
