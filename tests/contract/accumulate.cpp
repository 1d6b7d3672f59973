// SPDX-License-Identifier: MIT
// shards: 4
// Sums of products over the slots of a task: every transpose; workers beside and below one another;
// tasks of no steps to many, more and fewer than there are slots; operands that end inside a tile,
// in rows, columns and k, and whose rows begin at any place. Whole numbers: sums are exact.
#include "tests/contract/support.hpp"

#include "core/accumulate.hpp"

namespace tk::test {

inline constexpr int rows_each = 64;  // of a worker

template <class T, bool TransposeA, bool TransposeB, int N, int K, int Stages, int Most, int Down,
          int Across, bool Turns>
struct accumulated : simple_op {
  static constexpr int stages = Stages, most_steps = Most, workers = Down * Across;
  static constexpr bool accumulates = true;
  struct scratch {
    int task;
  };
  using a_tile =
      std::conditional_t<TransposeA, shared_tile<T, K, rows_each>, shared_tile<T, rows_each, K>>;
  using b_tile = std::conditional_t<TransposeB, shared_tile<T, N, K>, shared_tile<T, K, N>>;
  struct stage {
    a_tile a[Down];
    b_tile b[Across];
  };
  struct args {
    int cases;
    be::source<T, a_tile::rows, a_tile::cols> a;
    be::source<T, b_tile::rows, b_tile::cols> b;
    float* out;
    int* ran;
  };
  static constexpr int steps_of(int task) { return task * 5 % (Most + 1); }
  // Some tasks begin in the middle.
  static constexpr int row_of(int task) { return task % 3 % 2 * rows_each / 2; }
  static constexpr int col_of(int task) { return task % 3 % 2 * 16; }
  static TK_BOTH task task_at(args const&, int i, int) { return {i, steps_of(i)}; }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    for (int i = 0; i < Down; ++i) {
      int const row = row_of(t.index) + i * rows_each;
      if constexpr (TransposeA) load_async(s.a[i], window(a.a, step * K, row), done);
      else load_async(s.a[i], window(a.a, row, step * K), done);
    }
    for (int i = 0; i < Across; ++i) {
      int const col = col_of(t.index) + i * N;
      if constexpr (TransposeB) load_async(s.b[i], window(a.b, col, step * K), done);
      else load_async(s.b[i], window(a.b, step * K, col), done);
    }
  }
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    reg_tile<float, rows_each, N> sum = 1.f;
    int const i = c.w.id() / Across, j = c.w.id() % Across;
    accumulate<TransposeA, TransposeB, Turns>(
        sum, c, t.steps, [&](stage& s) -> a_tile const& { return s.a[i]; },
        [&](stage& s) -> b_tile const& { return s.b[j]; });
    // The rest of the context: what all workers wrote is there, and stays until all have read it.
    if (c.w.leader()) c.scratch.task = t.index;
    c.all.arrive();
    c.all.await();
    for (auto const& other : c.scratches) sum = sum + static_cast<float>(other.task - t.index);
    c.all.arrive();
    c.all.await();
    write_tile(a.out, workers * t.index + c.w.id(), sum);
    report(c, a, t.index);
  }
};

// `cut` rows and columns and `cut_k` of k are missing at the end; rows are `more` elements longer
// than that.
template <class Op, class T, bool TransposeA, bool TransposeB, int N, int K, int Down, int Across>
void check_accumulated(int cut, int cut_k, int more) {
  constexpr int tasks = 13;
  int const rows = Down * rows_each - cut, cols = Across * N - cut, k = Op::most_steps * K - cut_k;
  int const a_rows = TransposeA ? k : rows, a_cols = TransposeA ? rows : k;
  int const b_rows = TransposeB ? cols : k, b_cols = TransposeB ? k : cols;
  auto const a = wholes<T>(at(a_rows * (a_cols + more)), 1),
             b = wholes<T>(at(b_rows * (b_cols + more)), 2);
  device_array<T> const da(a), db(b);
  device_array<float> const out(untouched<float>(tasks * Down * Across * rows_each * N));
  tensor<T const> const ta{da.data(), a_rows, a_cols, a_cols + more},
      tb{db.data(), b_rows, b_cols, b_cols + more};
  run<Op>({tasks, be::read_from<Op::a_tile::rows, Op::a_tile::cols>(ta),
           be::read_from<Op::b_tile::rows, Op::b_tile::cols>(tb), out.data(), nullptr});
  auto const a_at = [&](int r, int i) {
    return tk::widen(a[at(TransposeA ? i * (a_cols + more) + r : r * (a_cols + more) + i)]);
  };
  auto const b_at = [&](int i, int c) {
    return tk::widen(b[at(TransposeB ? c * (b_cols + more) + i : i * (b_cols + more) + c)]);
  };
  std::vector<float> expected;
  for (int t = 0; t < tasks; ++t)
    for (int w = 0; w < Down * Across; ++w)
      for (int r = 0; r < rows_each; ++r)
        for (int c = 0; c < N; ++c) {
          int const row = Op::row_of(t) + w / Across * rows_each + r,
                    col = Op::col_of(t) + w % Across * N + c;
          float sum = 1;
          for (int i = 0; row < rows && col < cols && i < k && i < Op::steps_of(t) * K; ++i)
            sum += a_at(row, i) * b_at(i, col);
          expected.push_back(sum);
        }
  check_same(out.read(), expected);
}

template <class T, bool TransposeA, bool TransposeB, int N, int K, int Stages, int Most, int Down,
          int Across, bool Turns>
void check_form() {
  using op = accumulated<T, TransposeA, TransposeB, N, K, Stages, Most, Down, Across, Turns>;
  expect_cases const counted(13 * 6);
  auto const check = check_accumulated<op, T, TransposeA, TransposeB, N, K, Down, Across>;
  check(0, 0, 0);    // every tile inside
  check(0, 16, 0);   // but the last of a sum
  check(16, 16, 0);  // not so
  check(24, 24, 4);  // rows begin at multiples of 8 bytes
  check(10, 10, 0);  // of 4
  check(7, 7, 0);    // anywhere
}

template <class T> void check_shard() {
  if constexpr (TK_SHARD == 0) check_form<T, false, false, 48, 32, 2, 12, 2, 1, true>();
  if constexpr (TK_SHARD == 1) check_form<T, false, true, 32, 64, 3, 12, 1, 2, false>();
  if constexpr (TK_SHARD == 2) check_form<T, true, false, 32, 32, 5, 41, 1, 1, false>();
  if constexpr (TK_SHARD == 3) check_form<T, true, true, 48, 32, 4, 12, 2, 2, false>();
}

TEST_CASE_TEMPLATE("sums of products", T, bf16, fp16) { check_shard<T>(); }
TEST_CASE("sums of products of fp8") {
  if constexpr (TK_SHARD == 1) check_shard<fp8_e4m3>();
  else expect_cases const counted(0);
}

}  // namespace tk::test
