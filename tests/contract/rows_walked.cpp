// SPDX-License-Identifier: MIT
// core/walk.hpp: rows of a flat tile that walk from places of their own, as far as each may, in
// planes of tensors that lie anywhere; and rows of values that take turns in memory.
#include "core/walk.hpp"

#include "tests/contract/placed.hpp"
#include "tests/core/shapes.hpp"

namespace tk::test {

// Rows of which a warp has one, or all lanes of a worker have one together.
template <bool InWarps> struct walked_shape {
  static constexpr int R = InWarps ? be::worker_warps : 1;
  static constexpr int N = 8 * (be::worker_lanes == 1 ? 32
                                : InWarps             ? be::warp_lanes
                                                      : be::worker_lanes);
};
inline constexpr int walk_rows = 11;
TK_BOTH constexpr int walk_first(int row) { return 1 + row * 3 % 4; }
TK_BOTH constexpr int walk_count(int row) { return (4 + row * 5) % 7; }

// Row r of the tile copies some rows of plane r, and sums them and what is around them, zeros.
template <class T, bool InWarps> struct walked : simple_op, walked_shape<InWarps> {
  using walked_shape<InWarps>::R, walked_shape<InWarps>::N;
  struct args {
    int cases;
    tensor<T const> from;
    tensor<T> to;
    tensor<float> sums;
    int from_vector_width, to_vector_width;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    int const row = this_row<R, N>(0);
    auto const from = walk<R, N>(a.from, walk_first(row), walk_count(row), row);
    auto const to = walk<R, N>(a.to, walk_first(row), walk_count(row), row);
    for (int col = 0; col < a.from.cols; col += N) {
      reg_tile<float, R, N> sum = 0.f;
      for (int n = -2; n < walk_count(row) + 2; ++n) {
        reg_tile<T, R, N> x;
        tk::load(x, from, a.from_vector_width, n, col);
        tk::store(to, a.to_vector_width, n, col, cast<T>(x));
        sum = sum + x;
      }
      tk::store(a.sums, 1, 0, col, cast<float>(sum));
    }
    report(k, a, t.index);
  }
};

template <class T, bool InWarps> void check_walked(int cols, placing in, placing out) {
  using op = walked<T, InWarps>;
  shape const s{walk_rows, cols, op::R, 1};
  auto from = placed_input<T>(s, in);
  placed<T> to(s, out, untouched<T>());
  from.upload(), to.upload();
  device_array<float> const sums(untouched<float>(at(op::R * cols)));
  run<op>({1,
           from.input(),
           to.view(),
           {sums.data(), op::R, cols, cols},
           vector_width_of(from.input()),
           vector_width_of(to.view()),
           nullptr});
  std::vector<float> expected(at(op::R * cols), 0.f);
  for (int row = 0; row < op::R; ++row)
    for (int n = 0; n < walk_count(row); ++n)
      for (int col = 0; col < cols; ++col) {
        auto const x = from.value(walk_first(row) + n, col, row, 0);
        to.element(walk_first(row) + n, col, row, 0) = x;
        expected[at(row * cols + col)] += tk::widen(x);
      }
  CAPTURE(cols);
  check_same(to.read(), to.values());
  check_same(sums.read(), expected);
}

TEST_CASE_TEMPLATE("rows walk from places of their own", T, bf16, fp16, float) {
  expect_cases const counted(2 * 6 * 10);
  for (int const cols : {1, 7, 8, 130, 256, 1040}) {
    int turn = 0;
    for (auto const& in : placings) {
      auto const& out = placings[turn++ % output_placings];
      check_walked<T, true>(cols, in, out);
      check_walked<T, false>(cols, in, out);
    }
  }
}

// K rows of values, written one after another.
template <class T, int K, bool InWarps> struct interleaved : simple_op, walked_shape<InWarps> {
  using walked_shape<InWarps>::R, walked_shape<InWarps>::N;
  struct args {
    int cases;
    T const* p;
    float* out;
    int cols, vector_width;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    for (int col = 0; col < a.cols; col += N) {
      reg_row<float, R, N> x[K];
      load_interleaved(x, a.p, a.cols, a.vector_width, col);
      TK_UNROLL
      for (int i = 0; i < K; ++i) {
        reg_tile<float, R, N> y = 0.f;
        y = y + x[i];
        tk::store(tensor<float>{a.out + i * R * (a.cols + N), R, a.cols + N, a.cols + N}, 1, 0, col,
                  cast<float>(y));
      }
    }
    report(k, a, t.index);
  }
};

// What is behind the last column is NaN in memory and 0 in the rows.
template <class T, int K, bool InWarps> void check_interleaved(int cols, int shift) {
  using op = interleaved<T, K, InWarps>;
  int const width = cols + op::N, last = (cols + op::N - 1) / op::N * op::N;
  std::vector<T> values(at(shift + (cols + 9) * K), to<T>(NAN));
  std::vector<float> expected(at(K * op::R * width), untouched<float>());
  for (int i = 0; i < K; ++i)
    for (int col = 0; col < last; ++col) {
      float const x = col < cols ? whole(7, col * K + i, 99) : 0.f;
      if (col < cols) values[at(shift + col * K + i)] = to<T>(x);
      for (int row = 0; row < op::R; ++row) expected[at((i * op::R + row) * width + col)] = x;
    }
  device_array<T> const p(values);
  device_array<float> const out(untouched<float>(expected.size()));
  int const vector_width = vector_width_of(tensor<T const>{p.data() + shift, 1, 1, 0});
  run<op>({1, p.data() + shift, out.data(), cols, vector_width, nullptr});
  CAPTURE(cols);
  CAPTURE(shift);
  check_same(out.read(), expected);
}

TEST_CASE_TEMPLATE("rows of values take turns in memory", T, bf16, fp16, float) {
  expect_cases const counted(2 * 4 * 6 * 3);
  for (int const cols : {1, 7, 8, 130, 256, 1040})
    for (int const shift : {0, 1, 4})
      for_each_int<1, 2, 3, 4>([&](auto taps) {
        check_interleaved<T, taps, true>(cols, shift);
        check_interleaved<T, taps, false>(cols, shift);
      });
}

}  // namespace tk::test
