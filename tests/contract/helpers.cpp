// SPDX-License-Identifier: MIT
// Workers of two kinds: helpers make tiles for the others, a step ahead of them, through slots that
// all take.
#include "core/row_totals.hpp"
#include "tests/contract/support.hpp"

namespace tk::test {

// out[task, worker] = the sum over steps of x[task, step] + 2 x[task, step], the second made by the
// worker's helper.
template <int Steps> struct helped : simple_op {
  static constexpr int workers = 4, helpers = 2, R = be::worker_rows, C = 32, stages = 3;
  struct stage {
    shared_tile<fp16, R, C> x;
  };
  struct scratch {
    shared_tile<fp16, R, C> made;
  };
  struct args {
    int cases;
    be::source<fp16, R, C> x;  // [cases, steps * R, C]
    float* out;                // [cases, 2, R, C]
    int* kinds;                // [cases, workers]
    int* ran;
  };
  static TK_BOTH task task_at(args const&, int i, int) { return {i, Steps}; }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    load_async(s.x, window(a.x, step * R, 0, t.index), done);
  }
  template <class Context>
  static TK_DEVICE void note(Context& c, args const& a, int task, int kind) {
    if (c.w.leader()) a.kinds[task * workers + c.w.id()] = kind;
  }
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    note(c, a, t.index, 1);
    reg_tile<float, R, C> sum = 0.f;
    meet<true>(c);  // nobody reads what the task before has left
    for (int step = 0; step < t.steps; ++step) {
      reg_tile<fp16, R, C> x, made;
      tk::load(x, c.in.take().x);
      release_loaded(c.w, c.in);
      meet<true>(c);
      tk::load(made, c.scratches[2 + c.w.id()].made);
      sum = sum + x + made;
      meet<true>(c);
    }
    write_tile<float>(a.out, t.index * 2 + c.w.id(), sum * 1.f);
    report(c, a, t.index);
  }
  template <class Context> static TK_DEVICE void help(Context& c, args const& a, task const& t) {
    note(c, a, t.index, 2);
    meet<true>(c);
    for (int step = 0; step < t.steps; ++step) {
      reg_tile<fp16, R, C> x;
      tk::load(x, c.in.take().x);
      release_loaded(c.w, c.in);
      tk::store(c.scratch.made, cast<fp16>(x * 2.f));
      meet<true>(c);
      meet<true>(c);
    }
    report(c, a, t.index);
  }
};

template <int Steps> void check_helped(int tasks) {
  using op = helped<Steps>;
  constexpr int R = op::R, C = op::C;
  auto const x = wholes(at(tasks * Steps * R * C), 5, 3);
  device_array<fp16> const dx(wholes<fp16>(x.size(), 5, 3));
  device_array<float> const out(untouched<float>(at(tasks * 2 * R * C)));
  device_array<int> const kinds(untouched<int>(at(tasks * op::workers)));
  tensor<fp16 const> const source{dx.data(), Steps * R, C, C, tasks, Steps * R * C};
  run<op>({tasks, be::read_from<R, C>(source), out.data(), kinds.data(), nullptr});
  std::vector<float> expected;
  std::vector<int> of_workers;
  for (int i = 0; i < tasks; ++i) {
    for (int w = 0; w < 2; ++w)
      for (int e = 0; e < R * C; ++e) {
        float sum = 0;
        for (int step = 0; step < Steps; ++step) sum += 3 * x[at((i * Steps + step) * R * C + e)];
        expected.push_back(sum);
      }
    for (int w = 0; w < op::workers; ++w) of_workers.push_back(w < 2 ? 1 : 2);
  }
  check_same(out.read(), expected);
  check_same(kinds.read(), of_workers);
}

TEST_CASE("helpers make tiles for the other workers") {
  expect_cases const counted(5 + 300);
  check_helped<1>(5);
  check_helped<7>(300);
}

}  // namespace tk::test
