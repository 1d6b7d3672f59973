// SPDX-License-Identifier: MIT
// shards: 3
// Rows that begin and end anywhere (core/rows_across.hpp), in each element type, one per shard:
// from every place in a chunk, whole and with tails, tiles that begin and that go on with a row,
// rows of a warp, of a worker and abreast; what lies beside rows is not written.
#include "core/rows_across.hpp"

#include "tests/contract/support.hpp"

namespace tk::test {

#if TK_SHARD == 0
using type = float;
#elif TK_SHARD == 1
using type = bf16;
#else
using type = fp16;
#endif

inline constexpr int cases = 16;

// Case n: R S rows, or one less, each at another place of a chunk; or all at whole chunks.
template <class T, int R, int N, int S> struct rows_anywhere : simple_op {
  static constexpr int W = N / S, ahead = S > 1 ? 0 : N / 2, most = ahead + W;
  static constexpr int stride = most + 8 + 1, out_size = (R * S + 1) * stride;
  struct args {
    int cases;
    T const* from;  // rows from the index of the case on
    T* out;         // of each case as many
    int* ran;
  };
  static TK_BOTH bool is_whole(int n) { return n % 5 == 4; }
  static TK_BOTH int rows(int n) { return R * S - n % 2; }
  static TK_BOTH int cols(int n) {
    return n % 4 == 0 ? most : n % 4 == 1 ? most - 1 : n % 4 == 2 ? most - 13 : most - W + 3;
  }
  static TK_BOTH int begin(int n) { return is_whole(n) ? 0 : n; }
  static TK_BOTH int stride_of(int n) { return is_whole(n) ? stride - 1 : stride; }
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    int const n = t.index, width = is_whole(n) ? chunk_of<T> : 1;
    tensor<T const> const from{a.from + begin(n), rows(n), cols(n), stride_of(n)};
    tensor<T> const out{a.out + n * ((out_size + 31) / 32 * 32) + begin(n), rows(n), cols(n),
                        stride_of(n)};
    for (int col = 0; col <= ahead; col += ahead > 0 ? ahead : 1) {
      asked_rows<T, R, N> asked;
      reg_tile<T, R, N> x;
      ask<S>(asked, from, 0, col);
      tk::load<S>(x, asked, col);
      store_across<S>(out, width, 0, col, cast<T>(x * 2.f));
    }
    report(k, a, t.index);
  }
};
template <class T, int R, int N, int S = 1> void check_anywhere() {
  using op = rows_anywhere<T, R, N, S>;
  constexpr int size = (op::out_size + 31) / 32 * 32, all = cases * size + cases;
  auto const from = wholes<T>(at(op::out_size + cases), 5 + N + R, 3);
  device_array<T> const dfrom(from), out(untouched<T>(at(all)));
  run<op>({cases, dfrom.data(), out.data(), nullptr});
  auto expected = untouched<T>(at(all));
  for (int n = 0; n < cases; ++n)
    for (int r = 0; r < op::rows(n); ++r)
      for (int c = 0; c < op::cols(n); ++c) {
        int const place = op::begin(n) + r * op::stride_of(n) + c;
        expected[at(n * size + place)] = to<T>(2 * tk::widen(from[at(place)]));
      }
  check_same(out.read(), expected);
}

TEST_CASE("rows anywhere") {
  expect_cases const counted(cases * 4);
  check_anywhere<type, 1, 2048>();
  check_anywhere<type, 2, 1024>();
  check_anywhere<type, be::worker_warps, 512>();
  check_anywhere<type, 2 * be::worker_warps, 512>();
}
TEST_CASE("rows anywhere, abreast") {
  if constexpr (be::worker_lanes == 1) {  // a lane has whole rows
    expect_cases const counted(0);
  } else {
    expect_cases const counted(cases * 2);
    check_anywhere<type, be::worker_warps, 8 * be::warp_lanes, 2>();
    check_anywhere<type, 2 * be::worker_warps, 8 * be::warp_lanes, 8>();
  }
}

}  // namespace tk::test
