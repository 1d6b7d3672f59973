// SPDX-License-Identifier: MIT
// Slots that are given back as soon as their tiles are in registers: what fills them next overtakes
// no load. On a card there are many steps, and stores of small pieces to keep loads waiting; a
// barrier that does not wait for them need not show.
#include "tests/contract/support.hpp"

namespace tk::test {

struct released : simple_op {
  static constexpr int N = 64, tiles = 3, stages = 2, sources = 11;
  using tile = shared_tile<bf16, M, N>;
  static constexpr int fitting =
      (be::smem_bytes - 8192) / (stages * tiles * static_cast<int>(sizeof(tile)));
  static constexpr int workers = fitting >= 4 ? 4 : fitting >= 2 ? 2 : 1;
  struct stage {
    tile x[workers][tiles];
  };
  struct args {
    int cases, steps;
    be::source<bf16, M, N> from;  // [sources]
    float* sums;                  // of each task and worker
    be::sink<bf16, M, N> last;    // [tasks, workers], rows of an odd number of elements
    int* ran;
  };
  static TK_BOTH int source_of(int step, int worker, int nth) {
    return (step * 5 + worker * tiles + nth) % sources;
  }
  static TK_BOTH task task_at(args const& a, int i, int) { return {i, a.steps}; }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    TK_UNROLL
    for (int w = 0; w < workers; ++w) TK_UNROLL
    for (int i = 0; i < tiles; ++i)
      load_async(s.x[w][i], window(a.from, 0, 0, source_of(step + t.index, w, i)), done);
  }
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    reg_tile<float, M, N> sum = 0.f;
    for (int step = 0; step < t.steps; ++step) {
      auto const& slot = c.in.take();
      reg_tile<bf16, M, N> x, y, z;
      tk::load(x, slot.x[c.w.id()][0]);
      tk::load(y, slot.x[c.w.id()][1]);
      tk::load(z, slot.x[c.w.id()][2]);
      release_loaded(c.w, c.in);
      sum = sum + x + y * 2.f + z * 4.f;
      tk::store(window(a.last, 0, 0, c.w.id(), t.index), cast<bf16>(x - y));
    }
    write_tile(a.sums, t.index * workers + c.w.id(), sum);
    report(c, a, t.index);
  }
};

TEST_CASE("slots that are given back early keep what is loaded from them") {
  constexpr int size = M * released::N, workers = released::workers;
  int const tasks = tasks_at_least(3), steps = tasks > 3 ? 400 : 3, launches = tasks > 3 ? 8 : 1;
  expect_cases const counted(launches * tasks);
  auto const from = wholes<bf16>(at(released::sources * size), 3);
  device_array<bf16> const dfrom(from);
  // Tasks whose numbers differ by a multiple of `sources` read alike.
  std::vector<float> sums_of(at(released::sources * workers * size)), expected;
  for (int task = 0; task < released::sources; ++task)
    for (int w = 0; w < workers; ++w)
      for (int step = 0; step < steps; ++step)
        for (int nth = 0; nth < released::tiles; ++nth) {
          int const source = released::source_of(step + task, w, nth);
          float* const sums = &sums_of[at((task * workers + w) * size)];
          for (int i = 0; i < size; ++i)
            sums[i] += static_cast<float>(1 << nth) * tk::widen(from[at(source * size + i)]);
        }
  for (int task = 0; task < tasks; ++task) {
    auto const first = sums_of.begin() + task % released::sources * workers * size;
    expected.insert(expected.end(), first, first + workers * size);
  }
  constexpr int stride = released::N + 1;
  device_array<bf16> const last(untouched<bf16>(at(tasks * workers * M * stride)));
  for (int launch = 0; launch < launches; ++launch) {
    device_array<float> const sums(untouched<float>(expected.size()));
    run<released>(
        {tasks, steps,
         be::read_from<M, released::N>(tensor<bf16 const>{dfrom.data(), M, released::N, released::N,
                                                          released::sources, size}),
         sums.data(),
         be::write_to<M, released::N>(tensor<bf16>{last.data(), M, released::N, stride, workers,
                                                   M * stride, tasks, workers * M * stride}),
         nullptr});
    check_same(sums.read(), expected);
  }
}

}  // namespace tk::test
