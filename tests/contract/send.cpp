// SPDX-License-Identifier: MIT
// Tiles that workers send: each is delivered once, a worker's in the order in which it sent them,
// whoever delivers; and sums of several blocks in the order of counted turns. With and without
// senders, several tiles a task, none in some. What is delivered last goes to a window, bounded or
// not.
#include "core/partial_tiles.hpp"
#include "core/schedule.hpp"
#include "tests/contract/placed.hpp"

namespace tk::test {

// Task i adds its tiles to sums 0 ... sends - 1, after the tasks before it.
template <int R, int C, int Workers, bool Senders> struct sent_sums : simple_op {
  static constexpr int workers = Workers, most = 3;
  static constexpr bool senders = Senders;
  using sent = reg_tile<float, R, C>;
  struct note {
    std::int64_t sum;
    unsigned before;
  };
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
  template <class Who, class Sum>
  static TK_DEVICE void deliver(Who const& who, args const& a, note const& n, Sum const& sum) {
    if (n.before == 0) {
      tk::store(who, a.sums, n.sum, sum);
    } else {
      wait_for_count(who, a.counters + n.sum, n.before);
      add(who, a.sums, n.sum, sum);
    }
    if (who.leader()) a.order[n.sum * a.cases + n.before] += 1;
    count_up(who, a.counters + n.sum);
  }
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<float, R, C> x;
    for (int p = 0; p < t.sends; ++p) {
      read_tile(x, a.x, (t.index * most + p) * Workers + k.w.id());
      k.out.send(note{p * Workers + k.w.id(), static_cast<unsigned>(before(t.index, p))}, x);
    }
    report(k, a, t.index);
  }
};

// Numbers so far apart that another order of additions gives other sums.
template <int R, int C, int Workers, bool Senders> void check_sent() {
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
  expect_cases const counted(4 * 41);
  check_sent<M, 16, 1, false>();
  check_sent<M, 64, 2, false>();
  check_sent<M, 32, 1, true>();
  check_sent<M, 64, 2, true>();
}

// A worker's two tiles, of which the first is kept, or lost where the task's number is odd: the
// window becomes 3 times their sum, or the second.
template <class T, int R, int C, int Workers, bool Senders> struct finished_sums : simple_op {
  static constexpr int workers = Workers;
  static constexpr bool senders = Senders;
  using sent = reg_tile<float, R, C>;
  struct note {
    std::int64_t place;
    int index, second, worker;
  };
  struct task {
    int index, steps, sends;
  };
  struct args {
    int cases;
    float const* x;
    partial_tiles<R, C> sums;  // of each task and worker
    unsigned* counters;        // likewise
    be::sink<T, R, C> into;
    int* ran;
  };
  static TK_BOTH task task_at(args const&, int i, int) { return {i, 0, 2}; }
  static TK_BOTH int end_of(int index) { return index * 5 - 2; }  // of a task's rows
  template <class Who, class Sum>
  static TK_DEVICE void deliver(Who const& who, args const& a, note const& n, Sum const& sum) {
    if (!n.second) {
      tk::store(who, a.sums, n.place, sum);
      return count_up(who, a.counters + n.place);
    }
    wait_for_count(who, a.counters + n.place, 1);
    bool const any = n.index % 2 == 0;
    auto const to = window(a.into, n.worker * R, 0, n.index);
    if (n.index % 3 == 0) return finish<T>(who, to, a.sums, n.place, any, sum, 3.f);
    auto const bounded = window(a.into, n.worker * R, 0, n.index, 0, end_of(n.index));
    finish<T>(who, bounded, a.sums, n.place, any, sum, 3.f);
  }
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<float, R, C> x;
    for (int second = 0; second < 2; ++second) {
      int const place = t.index * Workers + k.w.id();
      read_tile(x, a.x, 2 * place + second);
      k.out.send(note{place, t.index, second, k.w.id()}, x);
    }
    report(k, a, t.index);
  }
};

template <class T, int R, int C, int Workers, bool Senders> void check_finished() {
  using op = finished_sums<T, R, C, Workers, Senders>;
  constexpr int tasks = 37, size = R * C, places = tasks * Workers;
  auto const x = wholes(at(2 * places * size), 5, 20);
  device_array<float> const dx(x), partials(untouched<float>(places * size));
  for (int p = 0; p < output_placings; ++p) {
    CAPTURE(p);
    device_array<unsigned> const counters(places);
    placed<T> into({Workers * R - 3, C - 1, tasks, 1}, placings[p], untouched<T>());
    into.upload();
    run<op>({tasks,
             dx.data(),
             {partials.data()},
             counters.data(),
             be::write_to<R, C>(into.view()),
             nullptr});
    for (int i = 0; i < places * size; ++i) {
      int const place = i / size, task = place / Workers, col = i % C,
                row = place % Workers * R + i % size / C;
      if (!into.holds(row, col) || (task % 3 != 0 && row >= op::end_of(task))) continue;
      float const *first = x.data() + 2 * place * size + i % size, *second = first + size;
      into.element(row, col, task, 0) = to<T>(3 * (*second + (task % 2 == 0 ? *first : 0.f)));
    }
    check_same(into.read(), into.values());
  }
}

TEST_CASE("what is delivered last goes to its window") {
  expect_cases const counted(4 * 37 * output_placings);
  check_finished<bf16, M, 64, 1, false>();
  check_finished<fp16, M, 32, 2, false>();
  check_finished<bf16, M, 64, 1, true>();
  check_finished<fp16, M, 64, 2, true>();
}

}  // namespace tk::test
