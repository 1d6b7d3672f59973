// SPDX-License-Identifier: MIT
// Rows of a shared tile as the right operand of products, as its columns and as its rows, and
// elements of a vector as a row of an expression.
#include "tests/contract/support.hpp"

#include "tests/core/shapes.hpp"

namespace tk::test {

// Of x [M, C], part by part of N rows: scores = x part^T, values = scores (rounded) part, and
// scores times elements of a vector.
template <class T, int C, int N> struct rows_of_tile : simple_op {
  struct scratch {
    shared_tile<T, M, C> tile;
    shared_vec<float, M> factors;
  };
  struct args {
    int cases;
    float const *x, *factors;
    float *scores, *values, *scaled;  // M / N tiles each
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<float, M, C> x;
    read_tile(x, a.x, t.index);
    store(k.scratch.tile, cast<T>(x));
    for (int i = k.w.lane(); i < M; i += be::worker_lanes) k.scratch.factors.data[i] = a.factors[i];
    k.w.sync();
    for (int part = 0; part < M / N; ++part) {
      int const nth = t.index * (M / N) + part;
      reg_tile<float, M, N> scores;
      mm_abt(scores, k.scratch.tile, rows<N>(k.scratch.tile, part));
      wait<0>(scores);
      write_tile(a.scores, nth, scores);
      reg_tile<float, M, N> scaled;
      scaled = scores * as_row(elements<N>(k.scratch.factors, part));
      write_tile(a.scaled, nth, scaled);
      reg_tile<T, M, N> const p = cast<T>(scores * 0.125f);
      reg_tile<float, M, C> values;
      mm_ab(values, p, rows<N>(k.scratch.tile, part));
      wait<0>(values);
      write_tile(a.values, nth, values);
    }
    report(k, a, t.index, 3 * (M / N));
  }
};

template <class T, int C, int N> void check_rows_of_tile() {
  constexpr int tasks = 2, parts = M / N;
  auto const x = wholes(tasks * M * C, C, 3), factors = wholes(M, 7, 5);
  device_array<float> const dx(x), df(factors), scores(untouched<float>(tasks * M * M)),
      values(untouched<float>(tasks * parts * M * C)), scaled(untouched<float>(tasks * M * M));
  run<rows_of_tile<T, C, N>>(
      {tasks, dx.data(), df.data(), scores.data(), values.data(), scaled.data(), nullptr});
  std::vector<float> all(tasks * M * M), by_factor(tasks * M * M), sums(tasks * parts * M * C);
  for (int task = 0; task < tasks; ++task)
    for (int part = 0; part < parts; ++part)
      for (int i = 0; i < M; ++i)
        for (int j = 0; j < N; ++j) {
          auto const row = [&](int r, int c) { return x[at((task * M + r) * C + c)]; };
          float sum = 0;
          for (int k = 0; k < C; ++k) sum += row(i, k) * row(part * N + j, k);
          std::size_t const place = at(((task * parts + part) * M + i) * N + j);
          all[place] = sum, by_factor[place] = sum * factors[at(part * N + j)];
          float const p = tk::widen(to<T>(sum * 0.125f));
          for (int c = 0; c < C; ++c)
            sums[at(((task * parts + part) * M + i) * C + c)] += p * row(part * N + j, c);
        }
  check_same(scores.read(), all);
  check_same(scaled.read(), by_factor);
  check_same(values.read(), sums);
}

TEST_CASE_TEMPLATE("rows of a shared tile are an operand", T, bf16, fp16) {
  constexpr int half = M < 32 ? 16 : M / 2;
  expect_cases const counted(2 * 3 * (M / 16 + 2 * (M / half)));
  check_rows_of_tile<T, 16, 16>();
  check_rows_of_tile<T, 32, half>();
  check_rows_of_tile<T, 64, half>();
}

}  // namespace tk::test
