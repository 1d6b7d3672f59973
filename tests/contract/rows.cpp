// SPDX-License-Identifier: MIT
// parts: 3
// Flat tiles (core/rows.hpp) in each element type, one per part: rows from global memory and from
// vectors in shared memory, whole and with tails, at once and element by element; sums over rows;
// expressions with a row that all rows meet; parts of columns; clipped stores. Whole numbers: sums
// are exact in any order.
#include "core/rows.hpp"

#include "tests/contract/support.hpp"
#include "tests/core/shapes.hpp"

namespace tk::test {

#if TK_PART == 0
using type = float;
#elif TK_PART == 1
using type = bf16;
#else
using type = fp16;
#endif

inline constexpr int results = 5, V = 1024;

// What of R rows and N columns is there in case n, and whether it may move in chunks.
template <int R, int N> struct extent_of {
  int rows, cols, granule;
  template <class T> static TK_BOTH extent_of at(int n) {
    int const cut = n % 4 == 0 ? 0 : n % 4 == 1 ? 8 : n % 4 == 2 ? 5 : N - 3;
    return {R - n % 2, N - cut, n % 3 == 2 ? 1 : chunk_of<T>};
  }
};

template <class T, int R, int N> struct flat_rows : simple_op {
  static constexpr int workers = 2;
  struct stage {
    shared_vec<T, N> of[workers][R];
  };
  struct scratch {
    [[no_unique_address]] row_parts<R> parts;
  };
  struct args {
    int cases;
    T const* from;  // R rows
    T* out;         // of each case, `results` times R rows
    int* ran;
  };
  // The slot is filled twice: first with other extents, which nobody looks at.
  static TK_BOTH task task_at(args const&, int i, int) { return {i, 2}; }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    for (int i = workers * R - 1; i >= 0; --i) {
      auto const is = extent_of<R, N>::template at<T>(t.index * workers + i / R + 1 - step);
      be::load_async(s.of[i / R][i % R], a.from + i % R * N, is.cols, done);
    }
  }
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    int const n = t.index * workers + k.w.id();
    auto const is = extent_of<R, N>::template at<T>(n);
    auto const out = [&](int i, int rows, int cols) {
      return tensor<T>{a.out + (n * results + i) * (R * N), rows, cols, N};
    };
    tensor<T const> const from{a.from, is.rows, is.cols, N};
    reg_tile<T, R, N> p;
    tk::load(p, from, is.granule, 0, 0);
    tk::store(out(0, R, N), chunk_of<T>, 0, 0, cast<T>(p * 1.f));

    k.in.take();
    k.w.sync();
    k.in.release();
    tk::load(p, k.in.take().of[k.w.id()]);
    tk::store(out(1, is.rows, is.cols), is.granule, 0, 0, cast<T>(p * 1.f));
    k.w.sync();
    k.in.release();

    // Two in a row: what the first gives is the same in all lanes.
    reg_tile<float, R, N> x;
    x = p - row_sum(k.w, p, k.scratch.parts);
    tk::store(out(2, R, N), chunk_of<T>, 0, 0, cast<T>(x));
    x = p + row_sum(k.w, p * 2.f, k.scratch.parts);
    reg_tile<T, 1, N> row;
    tk::load(row, tensor<T const>{a.from, 1, N, N}, chunk_of<T>, 0, 0);
    x = x * row - row;
    tk::store(out(3, R, N), chunk_of<T>, 0, 0, cast<T>(x));

    TK_UNROLL
    for (int part = 0; part < N / V; ++part) {
      reg_tile<T, R, V> q;
      tk::load(q, from, is.granule, 0, part * V);
      tk::store(out(4, R, N), chunk_of<T>, 0, part * V, cast<T>(columns<V>(x, part) - q));
    }
    report(k, a, t.index, results);
  }
};

template <class T, int R, int N> void check_rows() {
  using op = flat_rows<T, R, N>;
  constexpr int tasks = 6, cases = tasks * op::workers, size = R * N;
  auto const from = wholes<T>(at(size), 3 + N + R, 3);
  device_array<T> const dfrom(from), out(untouched<T>(at(cases * results * size)));
  run<op>({tasks, dfrom.data(), out.data(), nullptr});
  auto expected = untouched<T>(at(cases * results * size));
  for (int n = 0; n < cases; ++n) {
    auto const is = extent_of<R, N>::template at<T>(n);
    auto const put = [&](int i, int e, float v) {
      expected[at((n * results + i) * size + e)] = to<T>(v);
    };
    for (int r = 0; r < R; ++r) {
      float sum = 0;
      for (int c = 0; c < is.cols; ++c) sum += tk::widen(from[at(r * N + c)]);
      for (int c = 0; c < N; ++c) {
        int const e = r * N + c;
        float const v = tk::widen(from[at(e)]), w = tk::widen(from[at(c)]);
        float const seen = c < is.cols ? v : 0, inside = r < is.rows ? seen : 0;
        put(0, e, inside);
        if (r < is.rows && c < is.cols) put(1, e, v);
        put(2, e, seen - sum);
        float const x = (seen + 2 * sum) * w - w;
        put(3, e, x);
        put(4, e, x - inside);
      }
    }
  }
  check_same(out.read(), expected);
}

TEST_CASE("flat tiles") {
  expect_cases const counted(6 * results * (2 * 3 + 1));
  for_each_int<1, 2, 3>([](auto r) { check_rows<type, r, 1024>(); });
  for_each_int<1, 2, 5>([](auto r) { check_rows<type, r, 1024 * (r < 3 ? 2 : 1)>(); });
  check_rows<type, 1, 3072>();
}

}  // namespace tk::test
