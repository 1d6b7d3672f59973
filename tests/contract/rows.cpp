// SPDX-License-Identifier: MIT
// shards: 3
// Flat tiles (core/rows.hpp) in each element type, one per shard: rows from global memory and from
// vectors in shared memory, of slots that are held, whole and with tails, at once and element by
// element, widened and added; sums over rows of one worker and of all; expressions with a row;
// parts of columns; clipped stores. Rows and sums of ordinary tiles. Whole numbers: sums are exact
// in any order.
#include "core/rows.hpp"

#include "tests/contract/support.hpp"
#include "tests/core/shapes.hpp"

namespace tk::test {

#if TK_SHARD == 0
using type = float;
#elif TK_SHARD == 1
using type = bf16;
#else
using type = fp16;
#endif

inline constexpr int results = 8;

// What of R rows and N columns is there in case n, and whether it may move in chunks.
template <int R, int N> struct extent_of {
  int rows, cols, vector_width;
  template <class T> static TK_BOTH extent_of at(int n) {
    int const cut = n % 4 == 0 ? 0 : n % 4 == 1 ? 8 : n % 4 == 2 ? 5 : N - 3;
    return {R - n % 2, N - cut, n % 3 == 2 ? 1 : chunk_of<T>};
  }
  template <class T> TK_BOTH int whole_chunks() const { return cols / chunk_of<T> * chunk_of<T>; }
};

template <class T, int R, int N, bool All> struct flat_rows : simple_op {
  static constexpr int workers = R * N <= 3072 ? 2 : 1;  // that fit into the least shared memory
  static constexpr int stages = 2, V = N < 1024 ? N : 1024;
  struct stage {
    shared_vec<T, N> of[workers][R];
  };
  struct scratch {
    row_exchange<R, All> exchange;
  };
  struct args {
    int cases;
    T const* from;  // R + 1 rows: a slot begins with the first or the second
    T* out;         // of each case, `results` times R rows
    int* ran;
  };
  static TK_BOTH task task_at(args const&, int i, int) { return {i, 2}; }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    for (int w = 0; w < workers; ++w) {
      auto const is = extent_of<R, N>::template at<T>(t.index * workers + w);
      tensor<T const> const from{a.from, is.rows + step, is.template whole_chunks<T>(), N};
      load_async(s.of[w], from, step, 0, done);
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
    k.in.take();
    k.in.take();
    TK_UNROLL
    for (int step = 0; step < 2; ++step) {
      tk::load(p, k.in.peek(step).of[k.w.id()]);
      store(out(1 + step, is.rows, is.template whole_chunks<T>()), chunk_of<T>, 0, 0,
            cast<T>(p * 1.f));
    }
    k.w.sync();
    k.in.release();
    k.in.release();

    tk::load(p, from, is.vector_width, 0, 0);
    store(out(0, is.rows, is.cols), is.vector_width, 0, 0, cast<T>(p * 1.f));

    reg_tile<float, R, N> x;
    tk::load(x, from, is.vector_width, 0, 0);
    store(out(6, is.rows, is.cols), is.vector_width, 0, 0, cast<T>(x * 1.f));
    load_add(x, from, is.vector_width, 0, 0);
    store(out(7, R, N), chunk_of<T>, 0, 0, cast<T>(x * 1.f));

    // Two in a row: what the first gives is the same in all lanes.
    int turn = 0;
    x = p - row_sum<All>(k, p, turn);
    store(out(3, R, N), chunk_of<T>, 0, 0, cast<T>(x));
    x = p + row_sum<All>(k, p * 2.f, turn);
    reg_row<T, R, N> row;
    tk::load(row, a.from, N, chunk_of<T>, 0);
    x = x * row - row;
    store(out(4, R, N), chunk_of<T>, 0, 0, cast<T>(x));
    row_sum<All>(k, x, turn);
    rejoin<R, All>(k);

    TK_UNROLL
    for (int part = 0; part < N / V; ++part) {
      reg_tile<T, R, V> q;
      tk::load(q, from, is.vector_width, 0, part * V);
      store(out(5, R, N), chunk_of<T>, 0, part * V, cast<T>(columns<V>(x, part) - q));
    }
    report(k, a, t.index, results);
  }
};

template <class T, int R, int N, bool All = false> void check_rows() {
  using op = flat_rows<T, R, N, All>;
  constexpr int tasks = 6, cases = tasks * op::workers, size = R * N;
  auto const from = wholes<T>(at(size + N), 3 + N + R, 3);
  device_array<T> const dfrom(from), out(untouched<T>(at(cases * results * size)));
  run<op>({tasks, dfrom.data(), out.data(), nullptr});
  auto const sum_of = [&](int n, int r) {
    auto const is = extent_of<R, N>::template at<T>(n);
    float sum = 0;
    for (int c = 0; r < is.rows && c < is.cols; ++c) sum += tk::widen(from[at(r * N + c)]);
    return sum;
  };
  auto expected = untouched<T>(at(cases * results * size));
  for (int n = 0; n < cases; ++n) {
    auto const is = extent_of<R, N>::template at<T>(n);
    auto const put = [&](int i, int e, float v) {
      expected[at((n * results + i) * size + e)] = to<T>(v);
    };
    for (int r = 0; r < R; ++r) {
      int const first = n / op::workers * op::workers;
      float const sum = All ? sum_of(first, r) + sum_of(first + 1, r) : sum_of(n, r);
      for (int c = 0; c < N; ++c) {
        int const e = r * N + c;
        float const v = tk::widen(from[at(e)]), w = tk::widen(from[at(c)]);
        bool const in_rows = r < is.rows, in_chunks = c < is.template whole_chunks<T>();
        float const inside = in_rows && c < is.cols ? v : 0;
        if (in_rows && c < is.cols) put(0, e, v), put(6, e, v);
        put(7, e, 2 * inside);
        if (in_rows && in_chunks) put(1, e, v), put(2, e, tk::widen(from[at(e + N)]));
        put(3, e, inside - sum);
        float const x = (inside + 2 * sum) * w - w;
        put(4, e, x);
        put(5, e, x - inside);
      }
    }
  }
  check_same(out.read(), expected);
}

// Rows that begin and end anywhere in their 16 bytes, each at another place: columns of a tile
// begin at the boundary before the row.
template <class T, int R, int N> struct shifted_rows : simple_op {
  static constexpr int stages = 2, pieces = 2, cols = pieces * N - 9, stride = cols + 4;
  static constexpr int out_size = (R * stride / 16 + 2) * 16;  // so that each case lies as its rows
  struct stage {
    shared_vec<T, N> of[R];
  };
  struct args {
    int cases;
    T const* from;  // R rows from the index of the case on
    T const* row;
    T* out;  // of each case as many
    int* ran;
  };
  static TK_BOTH tensor<T const> rows_of(args const& a, int n) {
    return {a.from + n, R - n % 2, cols, stride};
  }
  static TK_BOTH task task_at(args const&, int i, int) { return {i, pieces}; }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    load_async(s.of, rows_of(a, t.index), 0, step * N, done);
  }
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    auto const from = rows_of(a, t.index);
    tensor<T> const out{a.out + t.index * out_size + t.index, from.rows, cols, stride};
    int const shift = lane_shift<R, N>(from, 0);
    for (int piece = 0; piece < pieces; ++piece) {
      int const col = piece * N - shift;
      reg_tile<T, R, N> p, q;
      tk::load(p, k.in.take().of);
      k.w.sync();
      k.in.release();
      tk::load(q, from, chunk_of<T>, 0, col);
      reg_row<T, R, N> row;
      tk::load(row, a.row, cols, 1, col);
      reg_tile<float, R, N> x;
      x = p * 2.f + q + row + 1.f;
      load_add(x, from, chunk_of<T>, 0, col);
      keep_cols(x, 2 - col, cols - 2 - col, 0.f);
      store(out, t.index < 8 ? chunk_of<T> : 1, 0, col, cast<T>(x));
    }
    report(k, a, t.index);
  }
};
template <class T, int R, int N> void check_shifted() {
  using op = shifted_rows<T, R, N>;
  constexpr int tasks = 9, all = tasks * op::out_size + tasks;
  auto const from = wholes<T>(at(R * op::stride + tasks), 5 + N + R, 3);
  auto const row = wholes<T>(at(op::cols), N, 3);
  device_array<T> const dfrom(from), drow(row), out(untouched<T>(at(all)));
  run<op>({tasks, dfrom.data(), drow.data(), out.data(), nullptr});
  auto expected = untouched<T>(at(all));
  for (int n = 0; n < tasks; ++n)
    for (int r = 0; r < R - n % 2; ++r)
      for (int c = 0; c < op::cols; ++c) {
        float const x = tk::widen(from[at(n + r * op::stride + c)]);
        bool const kept = c >= 2 && c < op::cols - 2;
        expected[at(n * op::out_size + n + r * op::stride + c)] =
            to<T>(kept ? x * 4 + tk::widen(row[at(c)]) + 1 : 0);
      }
  check_same(out.read(), expected);
}

// A row of which `left` columns are there, and sums, of ordinary tiles.
template <class T, int C> struct ordinary_rows : simple_op {
  struct args {
    int cases;
    float const* x;
    T const* row;
    float* out;
    int* ran;
  };
  static TK_BOTH int left(int n) { return n == 0 ? C : n == 1 ? C - 1 : 3; }
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    int turn = 0;
    reg_tile<float, M, C> x;
    read_tile(x, a.x, 0);
    reg_row<T, M, C> row;
    tk::load(row, a.row, left(t.index), 1, 0);
    auto const sum = row_sum(k, x, turn);
    x = x * row + row - sum;
    write_tile(a.out, t.index, x * 1.f);
    report(k, a, t.index);
  }
};
template <class T, int C> void check_ordinary() {
  using op = ordinary_rows<T, C>;
  constexpr int tasks = 3, size = M * C;
  auto const x = wholes<float>(at(size), C, 3);
  auto const row = wholes<T>(at(C), C + 1, 3);
  device_array<float> const dx(x), out(untouched<float>(at(tasks * size)));
  device_array<T> const drow(row);
  run<op>({tasks, dx.data(), drow.data(), out.data(), nullptr});
  auto expected = untouched<float>(at(tasks * size));
  for (int n = 0; n < tasks; ++n)
    for (int r = 0; r < M; ++r) {
      float sum = 0;
      for (int c = 0; c < C; ++c) sum += x[at(r * C + c)];
      for (int c = 0; c < C; ++c) {
        float const w = c < op::left(n) ? tk::widen(row[at(c)]) : 0;
        expected[at(n * size + r * C + c)] = x[at(r * C + c)] * w + w - sum;
      }
    }
  check_same(out.read(), expected);
}

TEST_CASE("flat tiles") {
  expect_cases const counted(6 * results * (2 * 3 + 3));
  for_each_int<1, 2, 3>([](auto r) { check_rows<type, r, 1024>(); });
  for_each_int<1, 2, 5>([](auto r) { check_rows<type, r, 1024 * (r < 3 ? 2 : 1)>(); });
  for_each_int<4, 8>([](auto r) { check_rows<type, r, 512>(); });
  check_rows<type, 1, 3072>();
}
TEST_CASE("flat tiles of rows that all workers share") {
  expect_cases const counted(6 * results * 3);
  for_each_int<1, 2, 3>([](auto r) { check_rows<type, r, 1024, true>(); });
}
TEST_CASE("rows at any address") {
  expect_cases const counted(9 * 2);
  check_shifted<type, 1, 1024>();
  check_shifted<type, be::worker_warps, 512>();
}
TEST_CASE("rows of ordinary tiles") {
  expect_cases const counted(3 * 3);
  for_each_int<16, 64, 128>([](auto c) { check_ordinary<type, c>(); });
}

}  // namespace tk::test
