// SPDX-License-Identifier: MIT
// shards: 3
// What expressions of the row template are made of (core/row_part.hpp), and flat rows that lie
// abreast (core/rows.hpp), in each element type, one per shard: loads and stores of whole chunks,
// of tails, of rows that begin anywhere; sums and maxima over rows of a warp, of a worker and of
// all; parts of tiles and of rows, bounds and single columns of each row, products that are not
// fused. Whole numbers: sums are exact in any order.
#include "core/row_part.hpp"

#include "tests/contract/support.hpp"

namespace tk::test {

#if TK_SHARD == 0
using type = float;
#elif TK_SHARD == 1
using type = bf16;
#else
using type = fp16;
#endif

inline constexpr int results = 7, cases = 12;
inline constexpr float third = 1.f / 3;  // products by it are rounded

// Rows, of `all` columns at most, in case n: whole chunks alone, a tail, rows that lie anywhere and
// move element by element, and such that move in chunks but for their ends.
enum class kind { whole, tail, anywhere, shifted };
struct extent {
  kind is;
  int rows, cols, stride, vector_width;
  // Rows that each begin elsewhere in a chunk are for lanes that have one of them (`one_shift`).
  template <class T> static TK_BOTH extent at(int n, int all_rows, int all, bool one_shift) {
    int const rows = all_rows - n % 3 > 0 ? all_rows - n % 3 : 1, chunk = 16 / sizeof(T);
    if (n % 4 == 3 && one_shift) return {kind::shifted, rows, all - chunk, all + 3, chunk};
    switch (n % 4) {
      case 0: return {kind::whole, rows, all - n / 4 % 2 * chunk, all, chunk};
      case 1: return {kind::tail, rows, all - 5, all, chunk};
      default: return {kind::anywhere, rows, all - 1, all + 3, 1};
    }
  }
  // Columns of a tile before the row's first.
  TK_BOTH int before(int row) const {
    if (is == kind::anywhere) return 3;
    return is == kind::shifted ? row * stride % vector_width : 0;
  }
};
TK_BOTH constexpr int end_of(int row) { return 7 + 9 * row; }
TK_BOTH constexpr int one_of(int row) { return row % 5 == 4 ? -1 : 2 + 3 * row; }

// Tiles of R S rows; with All, workers have tiles of the same rows side by side.
template <class T, int R, int S, bool All> struct row_parts : simple_op {
  static constexpr int workers = 2, lanes = rows_in_warps<R> ? be::warp_lanes : be::worker_lanes,
                       V = lanes == 1 ? 16 : 8 * lanes, N = S > 1 ? V : 2 * V;
  static constexpr int W = N / S * (All ? workers : 1), rows = R * S * (All ? 1 : workers),
                       size = (rows * (W + 3) + 15) / 16 * 16;
  using places = flat_places<R, N, S>;
  using map = be::fragment_map<R, N>;
  struct scratch {
    row_exchange<R, All> exchange;
  };
  struct args {
    int cases;
    T const *from, *row;
    T* out;
    int* ran;
  };
  template <bool Whole, class Context>
  static TK_DEVICE void look(Context& k, args const& a, extent const& is, int n) {
    int const row = All ? 0 : k.w.id() * R * S;
    tensor<T const> const from{a.from, is.rows, is.cols, is.stride};
    auto const out = [&](int i) {
      return tensor<T>{a.out + (n * results + i) * size, is.rows, is.cols, is.stride};
    };
    int col = (All ? k.w.id() * N : 0) - is.before(row);
    if constexpr (flat_rows_per_lane<R> == 1) {
      if (is.is == kind::shifted) col = (All ? k.w.id() * N : 0) - lane_shift<R, N, S>(from, row);
    }
    int const width = is.vector_width;
    reg_tile<T, R, N> p;
    tk::load<S, Whole>(p, from, width, row, col);
    store<S, Whole>(out(0), width, row, col, cast<T>(p * 1.f));
    reg_row<T, R, N> w;
    tk::load<S, Whole>(w, a.row, is.cols, Whole ? chunk_of<T> : 1, col);

    int turn = 0;
    auto const sum = row_total<plus, All, S>(k, row_share<plus>(p * w, 0.f), turn);
    auto const most = row_total<larger, All, S>(k, row_share<larger>(p * 1.f, -inf), turn);
    store<S, Whole>(out(1), width, row, col, cast<T>(p * 2.f - sum + most));

    int ends[map::rows_per_lane];
    row_columns<R> ones;
    TK_UNROLL
    for (int r = 0; r < map::rows_per_lane; ++r) {
      ends[r] = end_of(row + places::lane_row() + places::row(r));
      ones.e[r] = one_of(row + places::lane_row() + places::row(r));
    }
    reg_row<T, R, N> filled;
    fill_row(filled, 3.f);
    reg_tile<float, R, N> y = 0.f;
    reg_col<float, R> filled_in = 0.f;
    TK_UNROLL
    for (int i = 0; i < N / V; ++i) {
      int const at = col + i * V;
      auto const x = [&] { return part_of<V>(p, i) + part_of<V>(w, i); };
      auto const inside = [&] { return within<R, V, S, true, decltype(x())>(x(), ends, at, 9.f); };
      store<S, Whole>(out(2), width, row, at, cast<T>(inside() * 2.f));
      store<S, Whole>(
          out(3), width, row, at,
          cast<T>(square(part_of<V>(p, i) - 1.f) + one_column<R, V, S>(ones, at) * 4.f));
      store<S, Whole>(out(6), width, row, at,
                      cast<T>(subtract_unfused(subtract_unfused(part_of<V>(p, i) * third, absent{}),
                                               part_of<V>(w, i) * third)));
      put_part(y, i, x() * part_of<V>(filled, i) + inside());
      filled_in = filled_in + row_share<plus>(inside(), 0.f);
    }
    store<S, Whole>(out(4), width, row, col, cast<T>(y));
    filled_in = row_total<plus, All, S>(k, filled_in, turn);
    store<S, Whole>(out(5), width, row, col, cast<T>(y * filled - filled_in));
    rejoin<R, All>(k);
  }
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    auto const is = extent::at<T>(t.index, rows, W, flat_rows_per_lane<R> == 1);
    if (is.is == kind::whole) look<true>(k, a, is, t.index);
    else look<false>(k, a, is, t.index);
    report(k, a, t.index, results);
  }
};

template <class T, int R, int S = 1, bool All = false> void check_parts() {
  using op = row_parts<T, R, S, All>;
  constexpr int W = op::W, size = op::size;
  auto const from = wholes<T>(at(size), 3 + W + R, 3), row = wholes<T>(at(W), W, 3);
  device_array<T> const dfrom(from), drow(row), out(untouched<T>(at(cases * results * size)));
  run<op>({cases, dfrom.data(), drow.data(), out.data(), nullptr});
  auto expected = untouched<T>(at(cases * results * size));
  for (int n = 0; n < cases; ++n) {
    auto const is = extent::at<T>(n, op::rows, W, flat_rows_per_lane<R> == 1);
    for (int r = 0; r < is.rows; ++r) {
      int const before = is.before(r);
      int const cols = std::min(is.cols, W - before);
      auto const x = [&](int c) { return tk::widen(from[at(r * is.stride + c)]); };
      auto const w = [&](int c) { return tk::widen(row[at(c)]); };
      float sum = 0, most = -inf;
      for (int c = 0; c < cols; ++c) sum += x(c) * w(c), most = std::max(most, x(c));
      float filled_in = 0;  // columns of tiles before the row and after its end are 9
      for (int c = -before; c < W - before; ++c)
        filled_in += c < 0 || c >= end_of(r) ? 9.f : c < is.cols ? x(c) + w(c) : 0.f;
      // What lies outside is 0, and is there for the maximum.
      if (W > is.cols || before > 0) most = std::max(most, 0.f);
      for (int c = 0; c < cols; ++c) {
        float const v = x(c) + w(c), inside = c < end_of(r) ? v : 9;
        auto const by_third = [](float number) {
          return static_cast<float>(double{number} * double{third});
        };
        float const all[results] = {x(c),
                                    2 * x(c) - sum + most,
                                    2 * inside,
                                    (x(c) - 1) * (x(c) - 1) + (c == one_of(r) ? 4.f : 0.f),
                                    3 * v + inside,
                                    3 * (3 * v + inside) - filled_in,
                                    by_third(x(c)) - by_third(w(c))};
        for (int i = 0; i < results; ++i)
          expected[at((n * results + i) * size + r * is.stride + c)] = to<T>(all[i]);
      }
    }
  }
  check_same(out.read(), expected);
}

TEST_CASE("parts of rows") {
  expect_cases const counted(cases * results * 4);
  check_parts<type, 1>();
  check_parts<type, 2>();
  check_parts<type, be::worker_warps>();
  check_parts<type, 2 * be::worker_warps>();
}
TEST_CASE("parts of rows that all workers share") {
  expect_cases const counted(cases * results * 2);
  check_parts<type, 1, 1, true>();
  check_parts<type, 2, 1, true>();
}
TEST_CASE("rows abreast") {
  if constexpr (be::worker_lanes == 1) {  // a lane has whole rows
    expect_cases const counted(0);
  } else {
    expect_cases const counted(cases * results * 4);
    check_parts<type, be::worker_warps, 2>();
    check_parts<type, be::worker_warps, 8>();
    check_parts<type, 2 * be::worker_warps, 4>();
    check_parts<type, 2 * be::worker_warps, be::warp_lanes / 4>();
  }
}

}  // namespace tk::test
