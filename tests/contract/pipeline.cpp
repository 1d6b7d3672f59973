// SPDX-License-Identifier: MIT
// Products in flight: two at once, of which one is waited for; sums over a ring whose slots are
// released one step late; a product's result as the next one's left operand, with the next scores
// issued before this step's are used. Whole numbers, small enough to be exact after rounding to T.
#include "core/reduce.hpp"
#include "tests/contract/support.hpp"

namespace tk::test {

// ---- a loop of steps: d = sum over steps of a(step) b(step), with up to `Held` slots held
template <class T, int N, int K, int Stages, int Held> struct summed : simple_op {
  static constexpr int stages = Stages, workers = 2;
  struct stage {
    shared_tile<T, M, K> a[2];
    shared_tile<T, K, N> b;
  };
  struct args {
    int cases;  // task i has i steps
    be::source<T, M, K> a;
    be::source<T, K, N> b;
    float* out;
    int* ran;
  };
  static TK_BOTH task task_at(args const&, int i, int) { return {i, i}; }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    for (int w = 0; w < 2; ++w) load_async(s.a[w], window(a.a, w * M, step * K, t.index), done);
    load_async(s.b, window(a.b, step * K, 0, t.index), done);
  }
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<float, M, N> sum = 0.f;
    int held = 0;
    for (int step = 0; step < t.steps; ++step) {
      stage& s = k.in.take();
      mma_ab(sum, s.a[k.w.id()], s.b);
      wait<Held - 1>();
      if (++held == Held) k.in.release(), --held;
    }
    wait<0>(sum);
    for (; held > 0; --held) k.in.release();
    write_tile(a.out, 2 * t.index + k.w.id(), sum);
    report(k, a, t.index);
  }
};

template <class T, int N, int K, int Stages, int Held> void check_summed() {
  constexpr int tasks = 8, steps = tasks - 1;
  auto const a = wholes<T>(tasks * 2 * M * steps * K, 1);
  auto const b = wholes<T>(tasks * steps * K * N, 2);
  device_array<T> const da(a), db(b);
  device_array<float> const out(untouched<float>(tasks * 2 * M * N));
  tensor<T const> const ta{da.data(), 2 * M, steps * K, steps * K, tasks, 2 * M * steps * K};
  tensor<T const> const tb{db.data(), steps * K, N, N, tasks, steps * K * N};
  run<summed<T, N, K, Stages, Held>>(
      {tasks, be::read_from<M, K>(ta), be::read_from<K, N>(tb), out.data(), nullptr});
  std::vector<float> expected;
  for (int t = 0; t < tasks; ++t)
    for (int r = 0; r < 2 * M; ++r)
      for (int c = 0; c < N; ++c) {
        float sum = 0;
        for (int i = 0; i < t * K; ++i)
          sum += tk::widen(a[at((t * 2 * M + r) * steps * K + i)]) *
                 tk::widen(b[at((t * steps * K + i) * N + c)]);
        expected.push_back(sum);
      }
  check_same(out.read(), expected);
}

TEST_CASE_TEMPLATE("sums over a ring, released late", T, bf16, fp16) {
  expect_cases const counted(4 * 8);
  check_summed<T, 48, 32, 1, 1>();
  check_summed<T, 64, 32, 2, 2>();
  check_summed<T, 16, 16, 5, 2>();
  check_summed<T, 32, 64, 3, 3>();
}

// ---- two at once: s0 = q k0^T, s1 = q k1^T; s0 is used while s1 may run
template <class T, int N, int K> struct two_at_once : simple_op {
  static constexpr int stages = 2;
  struct stage {
    shared_tile<T, N, K> k;
  };
  struct own {
    shared_tile<T, M, K> q;
  };
  struct args {
    int cases;
    be::source<T, M, K> q;
    be::source<T, N, K> k;
    float* out;
    int* ran;
  };
  static TK_BOTH task task_at(args const&, int i, int) { return {i, 2}; }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    load_async(s.k, window(a.k, step * N, 0, t.index), done);
  }
  static TK_DEVICE void load_own(own& s, args const& a, task const& t, int, be::arrival done) {
    load_async(s.q, window(a.q, 0, 0, t.index), done);
  }
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    auto& q = k.own.take().q;
    reg_tile<float, M, N> s0, s1;
    mm_abt(s0, q, k.in.take().k);
    mm_abt(s1, q, k.in.take().k);
    wait<1>(s0);
    k.in.release();
    s0 = s0 * 3.f + row_sum(s0);
    wait<0>(s1);
    k.in.release();
    k.own.release();
    s1 = s1 - s0;
    write_tile(a.out, 2 * t.index, s0);
    write_tile(a.out, 2 * t.index + 1, s1);
    report(k, a, t.index);
  }
};

TEST_CASE_TEMPLATE("two products at once", T, bf16, fp16) {
  constexpr int tasks = 6, N = 80, K = 48;
  expect_cases const counted(tasks);
  auto const q = wholes<T>(tasks * M * K, 1), k = wholes<T>(tasks * 2 * N * K, 2);
  device_array<T> const dq(q), dk(k);
  device_array<float> const out(untouched<float>(tasks * 2 * M * N));
  tensor<T const> const tq{dq.data(), M, K, K, tasks, M * K};
  tensor<T const> const tk_{dk.data(), 2 * N, K, K, tasks, 2 * N * K};
  run<two_at_once<T, N, K>>(
      {tasks, be::read_from<M, K>(tq), be::read_from<N, K>(tk_), out.data(), nullptr});
  std::vector<float> expected(tasks * 2 * M * N);
  for (int t = 0; t < tasks; ++t)
    for (int r = 0; r < M; ++r) {
      std::vector<float> s(2 * N);
      float sum = 0;
      for (int c = 0; c < 2 * N; ++c) {
        for (int i = 0; i < K; ++i)
          s[at(c)] +=
              tk::widen(q[at((t * M + r) * K + i)]) * tk::widen(k[at((t * 2 * N + c) * K + i)]);
        if (c < N) sum += s[at(c)];
      }
      for (int c = 0; c < N; ++c) {
        float const s0 = s[at(c)] * 3 + sum;
        expected[at((2 * t * M + r) * N + c)] = s0;
        expected[at(((2 * t + 1) * M + r) * N + c)] = s[at(N + c)] - s0;
      }
    }
  check_same(out.read(), expected);
}

// ---- chained: o = sum over blocks of round(q k^T / 4 + block) v, the next scores issued first
template <class T, int N, int D> struct chained : simple_op {
  static constexpr int stages = 3, workers = 2;
  struct stage {
    shared_tile<T, N, D> kv;
  };
  struct own {
    shared_tile<T, M, D> q;
  };
  struct args {
    int cases;  // task i has i + 1 blocks
    be::source<T, M, D> q;
    be::source<T, N, D> k, v;
    float* out;
    int* ran;
  };
  // k0 k1 v0 k2 v1 ... v(n-1)
  static TK_BOTH task task_at(args const&, int i, int) { return {i, 2 * (i + 1)}; }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    bool const value = step + 1 == t.steps || (step > 0 && step % 2 == 0);
    int const block = (value ? step - 1 : step + 1) / 2;
    if (value) load_async(s.kv, window(a.v, block * N, 0, t.index), done);
    else load_async(s.kv, window(a.k, block * N, 0, t.index), done);
  }
  static TK_DEVICE void load_own(own& s, args const& a, task const& t, int worker,
                                 be::arrival done) {
    load_async(s.q, window(a.q, worker * M, 0, t.index), done);
  }
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    auto& q = k.own.take().q;
    int const blocks = t.steps / 2;
    reg_tile<float, M, N> s;
    reg_tile<float, M, D> o = 0.f;
    reg_tile<T, M, N> p;
    mm_abt(s, q, k.in.take().kv);
    wait<0>(s);
    k.in.release();
    p = cast<T>(s * 0.25f);
    for (int block = 1; block < blocks; ++block) {
      auto& keys = k.in.take().kv;
      k.turn.await();
      mm_abt(s, q, keys);
      mma_ab(o, p, k.in.take().kv);
      wait<1>(s);
      k.turn.pass();
      k.in.release();
      s = s * 0.25f + static_cast<float>(block);
      wait<0>(o, p);
      k.in.release();
      p = cast<T>(s);
    }
    mma_ab(o, p, k.in.take().kv);
    wait<0>(o, p);
    k.in.release();
    k.own.release();
    write_tile(a.out, 2 * t.index + k.w.id(), o);
    report(k, a, t.index);
  }
};

template <class T, int N, int D> void check_chained() {
  constexpr int tasks = 5;
  auto const q = wholes<T>(tasks * 2 * M * D, 1, 1), k = wholes<T>(tasks * tasks * N * D, 2, 1),
             v = wholes<T>(tasks * tasks * N * D, 3, 2);
  device_array<T> const dq(q), dk(k), dv(v);
  device_array<float> const out(untouched<float>(tasks * 2 * M * D));
  auto const stacked = [](T* p, int rows) {
    return tensor<T const>{p, rows, D, D, tasks, rows * D};
  };
  run<chained<T, N, D>>({tasks, be::read_from<M, D>(stacked(dq.data(), 2 * M)),
                         be::read_from<N, D>(stacked(dk.data(), tasks * N)),
                         be::read_from<N, D>(stacked(dv.data(), tasks * N)), out.data(), nullptr});
  std::vector<float> expected;
  for (int t = 0; t < tasks; ++t)
    for (int r = 0; r < 2 * M; ++r) {
      std::vector<float> o(D);
      for (int key = 0; key < (t + 1) * N; ++key) {
        float s = 0;
        for (int i = 0; i < D; ++i)
          s += tk::widen(q[at((t * 2 * M + r) * D + i)]) *
               tk::widen(k[at((t * tasks * N + key) * D + i)]);
        float const p = tk::widen(to<T>(s * 0.25f + static_cast<float>(key / N)));
        for (int i = 0; i < D; ++i) o[at(i)] += p * tk::widen(v[at((t * tasks * N + key) * D + i)]);
      }
      expected.insert(expected.end(), o.begin(), o.end());
    }
  check_same(out.read(), expected);
}

TEST_CASE_TEMPLATE("a product's result is the next one's operand", T, bf16, fp16) {
  expect_cases const counted(3 * 5);
  check_chained<T, 32, 64>();
  check_chained<T, 80, 32>();
  check_chained<T, 48, 48>();
}

}  // namespace tk::test
