// SPDX-License-Identifier: MIT
// Flags between blocks: each task waits for the task before it, adds its tile to the partial sum
// that this one stored, and signals, so that every tile is the sum of all tiles up to it, in one
// order. The flags are zero afterwards, and a second launch finds them so. Counted turns: tasks add
// to one of a few sums each, in the order in which they are dealt; a counter says how many have.
#include "core/partial_tiles.hpp"
#include "core/schedule.hpp"
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

template <int R, int C, int Workers> struct counted_turns : simple_op {
  static constexpr int workers = Workers, sums = 3;
  struct args {
    int cases;
    float const* x;
    partial_tiles<R, C> partials;  // of each sum and worker
    unsigned* counters;            // likewise
    float* out;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    int const sum_of = t.index % sums * Workers + k.w.id(), before = t.index / sums;
    reg_tile<float, R, C> x, sum = 0.f;
    read_tile(x, a.x, t.index * Workers + k.w.id());
    if (before > 0) {
      wait_for_count(k.w, a.counters + sum_of, static_cast<unsigned>(before));
      tk::load(sum, a.partials, sum_of);
    }
    sum = sum * 0.5f + x;
    store(a.partials, sum_of, sum);
    count_up(k.w, a.counters + sum_of);
    write_tile(a.out, t.index * Workers + k.w.id(), sum);
    report(k, a, t.index);
  }
};

// Sums that are halved between additions: another order gives other numbers.
template <int R, int C, int Workers> void check_counted() {
  using op = counted_turns<R, C, Workers>;
  constexpr int tasks = 38, tiles = tasks * Workers, size = R * C, apart = op::sums * Workers;
  auto const x = wholes(tiles * size, C, 100);
  device_array<float> const dx(x), partials(untouched<float>(apart * size)),
      out(untouched<float>(tiles * size));
  device_array<unsigned> const counters(apart);
  std::vector<float> expected = x;
  for (int i = apart * size; i < tiles * size; ++i)
    expected[at(i)] += 0.5f * expected[at(i - apart * size)];
  run<op>({tasks, dx.data(), {partials.data()}, counters.data(), out.data(), nullptr});
  check_same(out.read(), expected);
  auto const counts = counters.read();
  for (int i = 0; i < apart; ++i)
    CHECK(counts[at(i)] == unsigned(ceil_div(tasks - i / Workers, op::sums)));
}

TEST_CASE("sums in the order of counted turns") {
  expect_cases const counted(3 * 38);
  check_counted<M, 16, 1>();
  check_counted<M, 48, 2>();
  check_counted<tall, 32, 1>();
}

// The same sums without halves, each warp in its own turn, by additions that nobody waits for.
template <int R, int C, int Workers> struct added_in_turn : simple_op {
  static constexpr int workers = Workers, sums = 3;
  struct args {
    int cases, terms;
    float const* x;
    added_tiles<R, C> partials;  // of each sum and worker
    unsigned* counters;          // of each sum
    float* out;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    int const sum = t.index % sums, before = t.index / sums, tile = sum * Workers + k.w.id();
    auto const turn = static_cast<unsigned>(before);
    unsigned* const counter = a.counters + sum;
    auto const who = own_warp(k.w);
    reg_tile<float, R, C> x;
    read_tile(x, a.x, t.index * Workers + k.w.id());
    unsigned const peeked = before > 0 ? peek_count(who, counter) : 0;
    if (before == 0) {
      store(a.partials, tile, x);
    } else if (before + 1 < a.terms) {
      wait_to_add(who, counter, turn, peeked);
      store_add(a.partials, tile, x);
    } else {
      wait_for_count(who, counter, turn);
      load_add(x, a.partials, tile);
      write_tile(a.out, tile, x);
    }
    k.all.arrive();
    k.all.await();
    if (k.w.id() == 0 && k.w.lane() < be::warp_lanes) count_up(who, counter);
    report(k, a, t.index);
  }
};

// Terms of which a large one goes again: what was added before it is lost, in this order alone.
template <int R, int C, int Workers> void check_added() {
  using op = added_in_turn<R, C, Workers>;
  constexpr int terms = 13, tasks = terms * op::sums, size = R * C, all = op::sums * Workers * size;
  auto x = wholes(tasks * Workers * size, C, 100);
  for (int term : {4, 6})
    for (int i = 0; i < all; ++i) x[at(term * all + i)] = term == 4 ? 0x1p40f : -0x1p40f;
  device_array<float> const dx(x), partials(untouched<float>(all)), out(untouched<float>(all));
  device_array<unsigned> const counters(op::sums);
  std::vector<float> expected(x.begin(), x.begin() + all);
  for (int i = all; i < tasks * Workers * size; ++i) expected[at(i % all)] += x[at(i)];
  run<op>({tasks, terms, dx.data(), {partials.data()}, counters.data(), out.data(), nullptr});
  check_same(out.read(), expected);
}

TEST_CASE("additions in the order of turns of a warp") {
  expect_cases const counted(3 * 39);
  check_added<M, 16, 1>();
  check_added<M, 48, 2>();
  check_added<2 * M, 32, 2>();
}

}  // namespace tk::test
