// SPDX-License-Identifier: MIT
// Kernels as the contract tests have them, each without one of its barriers: in turn, with no
// random schedule and no sanitizer, every one is reported or gives wrong numbers.
#include "tests/contract/support.hpp"

// The faults are meant, and ThreadSanitizer sees them as well.
#if defined(TK_EMULATOR_TSAN)
extern "C" char const* __tsan_default_options() { return "exitcode=0:log_path=/dev/null"; }
#endif

namespace tk::test {

enum class without { nothing, first, second };

constexpr int tasks = 8;

// A tile goes through shared memory into a product, as its operand a or b, or as both.
template <int Operands, without Sync> struct stored : simple_op {
  struct scratch {
    shared_tile<bf16, M, 64> tile, other;
  };
  struct args {
    int cases;
    float* out;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    reg_tile<float, M, 64> x = 1.f + static_cast<float>(t.index);
    reg_tile<float, M, M> d;
    auto& s = c.scratch;
    if (Operands == 0) {
      be::store(s.tile, cast<bf16>(x));
      if (Sync != without::first) c.w.sync();
      mm_abt(d, s.tile, s.tile);
    } else {
      be::store(s.other, cast<bf16>(x));
      c.w.sync();
      be::store(s.tile, cast<bf16>(x));
      if (Sync != without::first) c.w.sync();
      if (Operands == 1) mm_abt(d, s.tile, s.other);
      else mm_abt(d, s.other, s.tile);
    }
    wait<0>(d);
    c.w.sync();
    write_tile(a.out, t.index, d);
    report(c, a, t.index);
  }
  static float expected(int task, int) { return 64.f * (1.f + task) * (1.f + task); }
  static constexpr int size = M * M;
};

// One lane leaves a number for the others; `second` is the barrier after they have read it.
template <int Writer, without Sync> struct told : simple_op {
  struct scratch {
    int word;
  };
  struct args {
    int cases;
    float* out;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int volatile& word = c.scratch.word;
    int const lane = c.w.lane();
    float sum = 0;
    for (int round = 0; round < 8; ++round) {
      if (lane == Writer) word = 10 * t.index + round;
      if (Sync != without::first) c.w.sync();
      sum += static_cast<float>(word);
      if (Sync != without::second) c.w.sync();
    }
    a.out[t.index * be::worker_lanes + lane] = sum;
    report(c, a, t.index);
  }
  static float expected(int task, int) { return 80.f * task + 28; }
  static constexpr int size = be::worker_lanes;
};

// "" or what is wrong.
template <class Op> std::string wrong_in() {
  device_array<float> const out(untouched<float>(at(tasks * Op::size)));
  device_array<int> const ran(at(tasks));
  try {
    be::launch<Op>({tasks, out.data(), ran.data()}, nullptr);
  } catch (error const& e) { return e.what(); }
  auto const found = out.read();
  for (int task = 0; task < tasks; ++task)
    for (int i = 0; i < Op::size; ++i)
      if (found[at(task * Op::size + i)] != Op::expected(task, i)) return "wrong numbers";
  cases_ran += tasks;
  return "";
}

TEST_CASE("a barrier between a store and the product that reads it") {
  expect_cases const counted(3 * tasks);
  CHECK(wrong_in<stored<0, without::nothing>>() == "");
  CHECK(wrong_in<stored<1, without::nothing>>() == "");
  CHECK(wrong_in<stored<2, without::nothing>>() == "");
  CHECK(wrong_in<stored<0, without::first>>() != "");
  CHECK(wrong_in<stored<1, without::first>>() != "");
  CHECK(wrong_in<stored<2, without::first>>() != "");
}

TEST_CASE("barriers between a store and the loads of other lanes, and the other way round") {
  constexpr int last = be::worker_lanes - 1;
  expect_cases const counted(2 * tasks);
  CHECK(wrong_in<told<0, without::nothing>>() == "");
  CHECK(wrong_in<told<last, without::nothing>>() == "");
  CHECK(wrong_in<told<0, without::first>>() != "");
  CHECK(wrong_in<told<last, without::first>>() != "");
  CHECK(wrong_in<told<0, without::second>>() != "");
  CHECK(wrong_in<told<last, without::second>>() != "");
}

}  // namespace tk::test
