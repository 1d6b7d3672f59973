// SPDX-License-Identifier: MIT
// Signals between two workers of a block: one makes tiles for the others in turn, who pass over the
// slots that are not theirs.
#include "tests/contract/support.hpp"
#include "tests/support/schedule.hpp"

namespace tk::test {

// out[task, reader] = the sum over the reader's steps, every second one, of x[task, step] and of
// what the maker has by then: the sum of x[task, s] for s up to the step.
template <int Steps> struct signalled : simple_op {
  static constexpr int workers = 3, readers = 2, signals = 2 * readers, R = be::worker_rows, C = 32,
                       stages = 3;
  enum said { made_it, has_read, kinds };
  struct stage {
    shared_tile<fp16, R, C> x;
  };
  struct scratch {
    shared_tile<fp16, R, C> made;
  };
  struct args {
    int cases;
    be::source<fp16, R, C> x;  // [cases, steps * R, C]
    float* out;                // [cases, readers, R, C]
    int* ran;
  };
  static TK_DEVICE int signal_of(int reader, said x) { return kinds * reader + x; }
  static TK_BOTH task task_at(args const&, int i, int) { return {i, Steps}; }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    load_async(s.x, window(a.x, step * R, 0, t.index), done);
  }
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const id = c.w.id();
    reg_tile<float, R, C> sum = 0.f;
    for (int step = 0; step < t.steps; ++step) {
      int const reader = step % readers;
      reg_tile<fp16, R, C> x, made;
      if (id == 0) {
        tk::load(x, c.in.take().x);
        release_loaded(c.w, c.in);
        sum = sum + x;
        if (step >= readers) c.signals.await(signal_of(reader, has_read));
        tk::store(c.scratches[1 + reader].made, cast<fp16>(sum));
        c.signals.send(signal_of(reader, made_it));
      } else if (id == 1 + reader) {
        tk::load(x, c.in.take().x);
        release_loaded(c.w, c.in);
        c.signals.await(signal_of(reader, made_it));
        tk::load(made, c.scratch.made);
        sum = sum + x + made;
        c.signals.send(signal_of(reader, has_read));
      } else {
        pass_slot(c);
      }
    }
    if (id == 0) {
      for (int reader = 0; reader < readers && reader < t.steps; ++reader)
        c.signals.await(signal_of(reader, has_read));
    } else {
      write_tile<float>(a.out, t.index * readers + id - 1, sum * 1.f);
    }
    c.w.sync();  // pass_slot wants it
    report(c, a, t.index);
  }
};

template <int Steps> void check_signalled(int tasks) {
  using op = signalled<Steps>;
  constexpr int R = op::R, C = op::C, size = R * C;
  auto const x = wholes(at(tasks * Steps * size), 5, 3);
  device_array<fp16> const dx(wholes<fp16>(x.size(), 5, 3));
  device_array<float> const out(untouched<float>(at(tasks * op::readers * size)));
  tensor<fp16 const> const source{dx.data(), Steps * R, C, C, tasks, Steps * size};
  run<op>({tasks, be::read_from<R, C>(source), out.data(), nullptr});
  std::vector<float> expected(at(tasks * op::readers * size));
  for (int i = 0; i < tasks; ++i)
    for (int e = 0; e < size; ++e) {
      float made = 0;
      for (int step = 0; step < Steps; ++step) {
        float const here = x[at((i * Steps + step) * size + e)];
        made += here;
        expected[at((i * op::readers + step % op::readers) * size + e)] += here + made;
      }
    }
  check_same(out.read(), expected);
}

TEST_CASE("what a signal says is seen by whoever awaits it, task after task, in any schedule") {
  constexpr int tried = 5;
  int const many = tasks_at_least(20);
  expect_cases const counted(3 * many * tried);
  for (int schedule = 0; schedule < tried; ++schedule) {
    reschedule(schedule);
    check_signalled<1>(many);
    check_signalled<2>(many);
    check_signalled<7>(many);
  }
}

}  // namespace tk::test
