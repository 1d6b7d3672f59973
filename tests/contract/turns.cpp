// SPDX-License-Identifier: MIT
// Flags between blocks: each task waits for the task before it, adds its tile to the partial sum
// that this one stored, and signals, so that every tile is the sum of all tiles up to it, in one
// order. The flags are zero afterwards, and a second launch finds them so.
#include "core/partial_tiles.hpp"
#include "tests/contract/support.hpp"

#include "tests/core/shapes.hpp"

namespace tk::test {

template <int R, int C, int Workers> struct relay : simple_op {
  static constexpr int workers = Workers;
  struct args {
    int cases;
    float const* x;
    partial_tiles<R, C> partials;
    unsigned* flags;  // of each task and worker
    float* out;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    int const mine = t.index * Workers + k.w.id(), before = mine - Workers;
    reg_tile<float, R, C> sum;
    read_tile(sum, a.x, mine);
    if (t.index > 0) {
      wait_for(k.w, a.flags + before);
      load_add(sum, a.partials, before);
    }
    store(a.partials, mine, sum);
    if (t.index + 1 < a.cases) signal(k.w, a.flags + mine);
    write_tile(a.out, mine, sum);
    report(k, a, t.index);
  }
};

template <int R, int C, int Workers> void check_relay() {
  constexpr int tasks = 37, tiles = tasks * Workers, size = R * C;
  using op = relay<R, C, Workers>;
  auto const x = wholes(tiles * size, C, 100);
  device_array<float> const dx(x), partials(untouched<float>(tiles * size));
  device_array<unsigned> const flags(tiles);
  std::vector<float> expected = x;
  for (int i = Workers * size; i < tiles * size; ++i)
    expected[at(i)] += expected[at(i - Workers * size)];
  for (int launch = 0; launch < 2; ++launch) {
    device_array<float> const out(untouched<float>(tiles * size));
    run<op>({tasks, dx.data(), {partials.data()}, flags.data(), out.data(), nullptr});
    check_same(out.read(), expected);
    CHECK(flags.read() == std::vector<unsigned>(tiles));
  }
}

TEST_CASE("a relay of sums through partial tiles") {
  expect_cases const counted(2 * 4 * 37);
  check_relay<M, 16, 1>();
  check_relay<M, 64, 1>();
  check_relay<M, 48, 2>();
  check_relay<tall, 32, 1>();
}

}  // namespace tk::test
