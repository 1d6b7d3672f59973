// SPDX-License-Identifier: MIT
// Turns between blocks: each task adds its tile to the sum that the task before it has parked, and
// passes the turn on, so that every tile is the sum of all tiles up to it, in one order; the turns
// are zero afterwards, and a second launch finds them so.
#include "core/parked.hpp"
#include "tests/contract/support.hpp"

#include "tests/core/shapes.hpp"

namespace tk::test {

template <int R, int C, int Workers> struct relay : simple_op {
  static constexpr int workers = Workers;
  struct args {
    int cases;
    float const* x;
    parked<R, C> lot;
    unsigned* turns;  // of each task and worker
    float* out;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    int const mine = t.index * Workers + k.w.id(), before = mine - Workers;
    reg_tile<float, R, C> sum;
    read_tile(sum, a.x, mine);
    if (t.index > 0) {
      be::take_turn(k.w, a.turns + before);
      load_add(sum, a.lot, before);
    }
    store(a.lot, mine, sum);
    if (t.index + 1 < a.cases) be::pass_turn(k.w, a.turns + mine);
    write_tile(a.out, mine, sum);
    report(k, a, t.index);
  }
};

template <int R, int C, int Workers> void check_relay() {
  constexpr int tasks = 37, tiles = tasks * Workers, size = R * C;
  using op = relay<R, C, Workers>;
  auto const x = wholes(tiles * size, C, 100);
  device_array<float> const dx(x), lot(untouched<float>(tiles * size));
  device_array<unsigned> const turns(tiles);
  std::vector<float> expected = x;
  for (int i = Workers * size; i < tiles * size; ++i)
    expected[at(i)] += expected[at(i - Workers * size)];
  for (int launch = 0; launch < 2; ++launch) {
    device_array<float> const out(untouched<float>(tiles * size));
    run<op>({tasks, dx.data(), {lot.data()}, turns.data(), out.data(), nullptr});
    check_same(out.read(), expected);
    CHECK(turns.read() == std::vector<unsigned>(tiles));
  }
}

TEST_CASE("a relay of sums through parked tiles") {
  expect_cases const counted(2 * 4 * 37);
  check_relay<M, 16, 1>();
  check_relay<M, 64, 1>();
  check_relay<M, 48, 2>();
  check_relay<tall, 32, 1>();
}

}  // namespace tk::test
