// SPDX-License-Identifier: MIT
// Tiles that workers send: each is delivered once, a worker's in the order in which it sent them,
// whoever delivers; and sums of several blocks in the order of counted turns. Without senders and
// with one to three, several tiles a task, none in some.
#include "core/partial_tiles.hpp"
#include "core/schedule.hpp"
#include "tests/contract/support.hpp"

namespace tk::test {

// Task i adds its tiles to sums 0 ... sends - 1, after the tasks before it.
template <int R, int C, int Workers, int Senders> struct sent_sums : simple_op {
  static constexpr int workers = Workers, most = 3;
  static constexpr int senders = be::has_senders ? Senders : 0;
  using sent = reg_tile<float, R, C>;
  struct task {
    int index, steps, sends;
  };
  struct args {
    int cases;
    float const* x;
    partial_tiles<R, C> sums;  // of each place and worker
    unsigned* counters;        // likewise
    int* order;                // of each place, worker and turn: how often it was delivered
    int* ran;
  };
  static TK_BOTH int sends_of(int i) { return i % (most + 1); }
  static TK_BOTH task task_at(args const&, int i, int) { return {i, 0, sends_of(i)}; }
  // Of the tasks before i, those that send to place p.
  static TK_BOTH int before(int i, int p) {
    int const rounds = i / (most + 1), rest = i % (most + 1);
    return rounds * (most - p) + (rest > p + 1 ? rest - p - 1 : 0);
  }
  template <class Who>
  static TK_DEVICE void await_turn(Who const& who, args const& a, task const& t, int n) {
    unsigned const turn = static_cast<unsigned>(before(t.index, n));
    if (turn > 0) wait_for_count(who, a.counters + n * Workers + who.id(), turn);
  }
  template <class Who, class Sums>
  static TK_DEVICE void deliver(Who const& who, args const& a, task const& t, int n,
                                Sums const& sums) {
    int const sum = n * Workers + who.id(), turn = before(t.index, n);
    if (turn == 0) tk::store(who, a.sums, sum, sums);
    else add(who, a.sums, sum, sums);
    constexpr int together = senders > 0 ? Workers : 1;
    for (int w = 0; w < together; ++w) {
      if (who.leader()) a.order[(sum + w) * a.cases + turn] += 1;
      count_up(who, a.counters + sum + w);
    }
  }
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<float, R, C> x;
    for (int p = 0; p < t.sends; ++p) {
      read_tile(x, a.x, (t.index * most + p) * Workers + k.w.id());
      k.out.send(t, p, x);
    }
    report(k, a, t.index);
  }
};

// Numbers so far apart that another order of additions gives other sums.
template <int R, int C, int Workers, int Senders> void check_sent() {
  using op = sent_sums<R, C, Workers, Senders>;
  constexpr int tasks = 41, size = R * C, sums = op::most * Workers;
  std::vector<float> x = wholes(at(tasks * sums * size), C, 1000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::ldexp(x[i], static_cast<int>(i % 31) - 15);
  device_array<float> const dx(x), partials(untouched<float>(sums * size));
  device_array<unsigned> const counters(sums);
  device_array<int> const order(at(sums * tasks));
  run<op>({tasks, dx.data(), {partials.data()}, counters.data(), order.data(), nullptr});
  // A sum's numbers lie in the order of lanes, which is the backend's: they are compared sorted.
  std::vector<float> expected;
  std::vector<int> delivered(at(sums * tasks));
  for (int s = 0; s < sums; ++s) {
    std::vector<float> sum(size);
    int turn = 0;
    for (int task = 0; task < tasks; ++task) {
      if (s / Workers >= op::sends_of(task)) continue;
      float const* const tile =
          x.data() + ((task * op::most + s / Workers) * Workers + s % Workers) * size;
      for (int i = 0; i < size; ++i) sum[at(i)] = turn ? sum[at(i)] + tile[i] : tile[i];
      CHECK(op::before(task, s / Workers) == turn);
      delivered[at(s * tasks + turn++)] = 1;
    }
    std::sort(sum.begin(), sum.end());
    expected.insert(expected.end(), sum.begin(), sum.end());
    CHECK(counters.read()[at(s)] == static_cast<unsigned>(turn));
  }
  auto found = partials.read();
  for (int s = 0; s < sums; ++s)
    std::sort(found.begin() + s * size, found.begin() + (s + 1) * size);
  check_same(found, expected);
  CHECK(order.read() == delivered);
}

TEST_CASE("tiles that workers send") {
  expect_cases const counted(5 * 41);
  check_sent<M, 16, 1, 0>();
  check_sent<M, 64, 2, 0>();
  check_sent<M, 32, 1, 1>();
  check_sent<M, 64, 2, 2>();
  check_sent<M, 16, 1, 3>();
}

}  // namespace tk::test
