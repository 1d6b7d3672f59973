// SPDX-License-Identifier: MIT
// in.refill(): whenever it is called, and however often, slots come in order, once, and stay while
// they are held; it waits for nobody. Tasks in rounds and on demand, of no steps and of more than
// there are slots; the first slots of a task may be filled in the one before.
#include "tests/contract/support.hpp"

namespace tk::test {

inline constexpr int most_steps = 23;
TK_BOTH constexpr int steps_of(int task) { return task * 7 % (most_steps + 1); }
TK_BOTH constexpr int weight_of(int step) { return 1 + step % 3; }

template <int Stages, int Workers> struct ring_of_tiles : simple_op {
  static constexpr int stages = Stages, workers = Workers, N = 32;
  using tile = reg_tile<bf16, M, N>;
  struct stage {
    shared_tile<bf16, M, N> x;
  };
  struct args {
    int cases;
    unsigned* tickets;         // null: tasks come in rounds
    be::source<bf16, M, N> x;  // [task, step]
    float* sums;               // of each task and worker
    int* ran;
  };
  static TK_BOTH task task_at(args const&, int i, int) { return {i, steps_of(i)}; }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    load_async(s.x, window(a.x, 0, 0, t.index, step), done);
  }
};

// Every slot is read when it comes, and again just before it is released, Held - 1 slots later.
template <int Stages, int Workers, int Held> struct refilled : ring_of_tiles<Stages, Workers> {
  using base = ring_of_tiles<Stages, Workers>;
  using typename base::args, typename base::task, typename base::tile;
  // How often a worker's slot counts.
  static int counts(int, int step) { return 4 + weight_of(step); }
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    reg_tile<float, M, base::N> sum = 0.f;
    tile x;
    int held = 0;
    auto const give_back = [&] {
      tk::load(x, c.in.peek(0).x);
      sum = sum + x * 4.f;
      release_loaded(c.w, c.in);
      --held;
    };
    c.in.refill();
    for (int step = 0; step < t.steps; ++step) {
      tk::load(x, c.in.take().x);
      ++held;
      c.in.refill();
      sum = sum + x * static_cast<float>(weight_of(step));
      if (held == Held) give_back();
      for (int i = 0; i < step % 4; ++i) c.in.refill();
    }
    while (held > 0) give_back(), c.in.refill();
    write_tile(a.sums, t.index * Workers + c.w.id(), sum);
    c.in.refill();
    report(c, a, t.index);
  }
};

// One worker after the other keeps its slot until all have asked for more.
template <int Stages, int Workers> struct held_back : ring_of_tiles<Stages, Workers> {
  using base = ring_of_tiles<Stages, Workers>;
  using typename base::args, typename base::task, typename base::tile;
  static TK_BOTH bool keeps(int worker, int step) { return step % Workers == worker; }
  static int counts(int worker, int step) { return weight_of(step) + 4 * keeps(worker, step); }
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    reg_tile<float, M, base::N> sum = 0.f;
    for (int step = 0; step < t.steps; ++step) {
      tile x;
      tk::load(x, c.in.take().x);
      sum = sum + x * static_cast<float>(weight_of(step));
      if (!keeps(c.w.id(), step)) release_loaded(c.w, c.in);
      c.in.refill();
      c.all.arrive();
      c.all.await();
      if (!keeps(c.w.id(), step)) continue;
      tk::load(x, c.in.peek(0).x);
      sum = sum + x * 4.f;
      release_loaded(c.w, c.in);
    }
    write_tile(a.sums, t.index * Workers + c.w.id(), sum);
    report(c, a, t.index);
  }
};

inline int tasks_each() { return tasks_at_least(25); }

template <class Op> void check_refills() {
  constexpr int size = M * Op::N;
  int const tasks = tasks_each();
  auto const x = wholes<bf16>(at(tasks * most_steps * size), 7);
  device_array<bf16> const dx(x);
  tensor<bf16 const> const from{dx.data(),         M,          Op::N, Op::N, tasks,
                                most_steps * size, most_steps, size};
  std::vector<float> expected(at(tasks * Op::workers * size));
  for (int task = 0; task < tasks; ++task)
    for (int w = 0; w < Op::workers; ++w)
      for (int step = 0; step < steps_of(task); ++step)
        for (int i = 0; i < size; ++i)
          expected[at((task * Op::workers + w) * size + i)] +=
              static_cast<float>(Op::counts(w, step)) *
              tk::widen(x[at((task * most_steps + step) * size + i)]);
  device_array<unsigned> const counter(1);
  for (unsigned* const tickets : {static_cast<unsigned*>(nullptr), counter.data()}) {
    device_array<float> const sums(untouched<float>(expected.size()));
    run<Op>({tasks, tickets, be::read_from<M, Op::N>(from), sums.data(), nullptr});
    check_same(sums.read(), expected);
    CHECK(counter.read()[0] == 0);
  }
}

TEST_CASE("slots come in order, once, and stay while they are held, whenever more are asked for") {
  expect_cases const counted(8 * 2 * tasks_each());
  check_refills<refilled<1, 1, 1>>();
  check_refills<refilled<2, 1, 1>>();
  check_refills<refilled<2, 1, 2>>();
  check_refills<refilled<5, 1, 3>>();
  check_refills<refilled<3, 2, 2>>();
  check_refills<refilled<4, 2, 4>>();
  check_refills<refilled<2, 3, 1>>();
  check_refills<refilled<7, 3, 3>>();
}
TEST_CASE("whoever asks for more waits for nobody") {
  expect_cases const counted(4 * 2 * tasks_each());
  check_refills<held_back<1, 2>>();
  check_refills<held_back<2, 2>>();
  check_refills<held_back<4, 2>>();
  check_refills<held_back<5, 3>>();
}

}  // namespace tk::test
