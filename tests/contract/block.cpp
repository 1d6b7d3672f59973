// SPDX-License-Identifier: MIT
// The block template: slots arrive in order, once, and stay while they are held, whatever the
// number of slots, workers, steps, tasks and blocks abreast; slots that only some workers read; own
// and common slots; a slot that is stored from before it is released; the workers' meeting, turns
// and scratch; tasks in rounds and on demand.
#include "tests/contract/support.hpp"

#include "tests/core/shapes.hpp"

namespace tk::test {

inline constexpr int most_steps = 11;
TK_BOTH constexpr int steps_of(int task) { return task * 7 % (most_steps + 1); }

// ---- slots of a ring: a vector and a tile each, filled side by side
TK_BOTH constexpr int left_of(int step) { return step % 3 == 2 ? 8 : 16; }  // the rest is zero
template <int Stages, int Workers, int Held, int Blocks> struct slots : simple_op {
  static constexpr int stages = Stages, workers = Workers, blocks_per_unit = Blocks, N = 32;
  struct stage {
    shared_vec<float, 16> v;
    shared_tile<bf16, M, N> tile;
  };
  struct args {
    int cases;
    float const* v;  // of each task and step 16 values; `shift` makes them unaligned
    int shift;
    be::source<bf16, M, N> tiles, late;  // [task, step]; the same from one element on, unaligned
    float *seen, *again, *sums;
    int* ran;
  };
  static TK_BOTH task task_at(args const&, int i, int) { return {i, steps_of(i)}; }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    load_async(s.v, a.v + (t.index * most_steps + step) * 16 + a.shift, left_of(step), done);
    if (step % 3 == 1) load_async(s.tile, window(a.late, 0, 0, t.index, step), done);
    else load_async(s.tile, window(a.tiles, 0, 0, t.index, step), done);
  }
  // Every slot is read when it comes, and again just before it is released, Held - 1 slots later.
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<float, M, N> sum = 0.f;
    reg_tile<bf16, M, N> x;
    stage* held[Held];
    int const base = (t.index * Workers + k.w.id()) * most_steps;
    for (int step = 0; step < t.steps + Held - 1; ++step) {
      if (step < t.steps) {
        stage& s = k.in.take();
        if (k.w.leader()) a.seen[base + step] = s.v.data[step % 16];
        tk::load(x, s.tile);
        sum = sum + x;
        held[step % Held] = &s;
      }
      int const oldest = step - (Held - 1);
      if (oldest < 0 || oldest >= t.steps) continue;
      stage& s = *held[oldest % Held];
      if (k.w.leader()) a.again[base + oldest] = s.v.data[(oldest + 1) % 16];
      tk::load(x, s.tile);
      sum = sum + x * 2.f;
      k.w.sync();
      k.in.release();
    }
    write_tile(a.sums, t.index * Workers + k.w.id(), sum);
    report(k, a, t.index);
  }
};

template <int Stages, int Workers, int Held, int Blocks = 1> void check_slots() {
  using op = slots<Stages, Workers, Held, Blocks>;
  constexpr int N = op::N, size = M * N;
  int const tasks = tasks_at_least(13);
  auto const v = wholes(tasks * most_steps * 16 + 1, 5, 1000);
  auto const tiles = wholes<bf16>(tasks * most_steps * size + 1, 6);
  device_array<float> const dv(v);
  device_array<bf16> const dtiles(tiles);
  auto const view = [&](int first) {
    return be::read_from<M, N>(tensor<bf16 const>{dtiles.data() + first, M, N, N, tasks,
                                                  most_steps * size, most_steps, size});
  };
  for (int shift = 0; shift < 2; ++shift) {
    int const marks = tasks * Workers * most_steps;
    device_array<float> const seen(untouched<float>(marks)), again(untouched<float>(marks)),
        sums(untouched<float>(tasks * Workers * size));
    run<op>({tasks, dv.data(), shift, view(0), view(1), seen.data(), again.data(), sums.data(),
             nullptr});
    auto expected_seen = untouched<float>(marks), expected_again = expected_seen;
    std::vector<float> expected_sums(tasks * Workers * size);
    for (int task = 0; task < tasks; ++task)
      for (int w = 0; w < Workers; ++w)
        for (int step = 0; step < steps_of(task); ++step) {
          int const mark = (task * Workers + w) * most_steps + step, n = task * most_steps + step;
          auto const value = [&](int i) {
            return i < left_of(step) ? v[at(n * 16 + shift + i)] : 0.f;
          };
          expected_seen[at(mark)] = value(step % 16);
          expected_again[at(mark)] = value((step + 1) % 16);
          for (int i = 0; i < size; ++i)
            expected_sums[at((task * Workers + w) * size + i)] +=
                3 * tk::widen(tiles[at(n * size + i + (step % 3 == 1))]);
        }
    check_same(seen.read(), expected_seen);
    check_same(again.read(), expected_again);
    check_same(sums.read(), expected_sums);
  }
}

TEST_CASE("slots come in order, once, and stay while they are held") {
  expect_cases const counted(10 * 2 * tasks_at_least(13));
  check_slots<1, 1, 1>();
  check_slots<2, 1, 1>();
  check_slots<2, 1, 2>();
  check_slots<5, 1, 3>();
  check_slots<1, 2, 1>();
  check_slots<3, 2, 2>();
  check_slots<4, 2, 4>();
  check_slots<2, 3, 2>();
  check_slots<7, 3, 3>();
  check_slots<2, 1, 2, 3>();
}

// ---- slots that are skipped: worker 0 reads all, the others those before and after some
template <int Stages, int Workers> struct skipping : simple_op {
  static constexpr int stages = Stages, workers = Workers;
  struct stage {
    shared_vec<float, 16> v;
  };
  struct args {
    int cases;
    float const* v;  // of each task and step 16 values
    float* sums;     // of each task and worker
    int* ran;
  };
  static TK_BOTH constexpr int first_of(int task, int w) {
    return w == 0 ? 0 : (task * 5 + w) % (steps_of(task) + 1);
  }
  static TK_BOTH constexpr int skipped_of(int task, int w) {
    int const left = steps_of(task) - first_of(task, w);
    return w == 0 ? 0 : (task + w) % 3 == 0 ? left / 2 : left;
  }
  static TK_BOTH task task_at(args const&, int i, int) { return {i, steps_of(i)}; }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    load_async(s.v, a.v + (t.index * most_steps + step) * 16, 16, done);
  }
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    float sum = 0;
    auto const read = [&](int from, int end) {
      for (int step = from; step < end; ++step) {
        sum = sum * 0.5f + k.in.take().v.data[step];
        k.w.sync();
        k.in.release();
      }
    };
    int const first = first_of(t.index, k.w.id()), skipped = skipped_of(t.index, k.w.id());
    read(0, first);
    skip(k, skipped);
    read(first + skipped, t.steps);
    if (k.w.leader()) a.sums[t.index * Workers + k.w.id()] = sum;
    report(k, a, t.index);
  }
};

// Sums that are halved between additions: another order gives other numbers.
template <int Stages, int Workers> void check_skipping() {
  using op = skipping<Stages, Workers>;
  int const tasks = tasks_at_least(25);
  auto const v = wholes(at(tasks * most_steps * 16), 7, 1000);
  device_array<float> const dv(v), sums(untouched<float>(at(tasks * Workers)));
  run<op>({tasks, dv.data(), sums.data(), nullptr});
  std::vector<float> expected;
  for (int task = 0; task < tasks; ++task)
    for (int w = 0; w < Workers; ++w) {
      int const first = op::first_of(task, w), skipped = op::skipped_of(task, w);
      float sum = 0;
      for (int step = 0; step < steps_of(task); ++step)
        if (step < first || step >= first + skipped)
          sum = sum * 0.5f + v[at((task * most_steps + step) * 16 + step)];
      expected.push_back(sum);
    }
  check_same(sums.read(), expected);
}

TEST_CASE("a worker skips slots that others read") {
  expect_cases const counted(4 * tasks_at_least(25));
  check_skipping<1, 2>();
  check_skipping<2, 2>();
  check_skipping<3, 2>();
  check_skipping<2, 3>();
}

// ---- own, common, scratch, turns, meeting; in rounds and on demand
template <int Workers, int Own_slots, bool Common> struct parts_of_block : simple_op {
  static constexpr int workers = Workers, own_slots = Own_slots, stages = 2, rounds = 6;
  struct stage {
    shared_vec<float, 16> v;
  };
  struct own {
    shared_vec<float, 16> v;
  };
  struct shared_by_all {
    shared_tile<float, M, 16> tile;
    float words[Workers];  // each worker's, for all
  };
  using common = std::conditional_t<Common, shared_by_all, no_memory>;
  struct scratch {
    float word[2];
  };
  struct args {
    int cases;
    float const* v;  // of each task: own of each worker, common, then each step; 16 values each
    be::source<float, M, 16> rows;  // the same
    unsigned* tickets;
    float* out;  // of each task and worker `results`
    int* ran;
  };
  static constexpr int results = 5;
  static constexpr int vectors = Workers + 1 + most_steps;
  static TK_BOTH float const* vector(args const& a, task const& t, int i) {
    return a.v + (t.index * vectors + i) * 16;
  }
  static TK_BOTH task task_at(args const&, int i, int) { return {i, steps_of(i)}; }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    load_async(s.v, vector(a, t, Workers + 1 + step), 16, done);
  }
  static TK_DEVICE void load_own(own& s, args const& a, task const& t, int w, be::arrival done) {
    load_async(s.v, vector(a, t, w), 16, done);
  }
  static TK_DEVICE void load_common(common& s, args const& a, task const& t, be::arrival done) {
    if constexpr (Common)
      load_async(s.tile, window(a.rows, t.index * vectors + Workers, 0, 0, 0), done);
  }
  // Each worker's word of a round is read by all one round later. Two words are enough: who writes
  // a word again has met the others since they read it, in the next task, too.
  template <class Context> static TK_DEVICE float exchange(Context& k, float mine) {
    float sum = 0;
    for (int round = 0; round <= rounds; ++round) {
      if (round > 0) {
        k.all.await();
        for (int w = 0; w < Workers; ++w)
          sum += k.scratches[w].word[(round - 1) % 2] * static_cast<float>(w + 1);
      }
      if (round == rounds) break;
      if (k.w.leader()) k.scratch.word[round % 2] = mine * static_cast<float>(round + 1);
      k.all.arrive();
    }
    return sum;
  }
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    float all_value = 0;  // taken first: to wait for what is own may be to wait for all
    [[maybe_unused]] float* words = nullptr;
    if constexpr (Common) {
      auto& all = k.common.take();
      all_value = all.tile.data[all.tile.offset(0, 2) / 4];
      words = all.words;
    }
    float const own_value = k.own.take().v.data[14];  // copied by another lane than the first
    if (Common && k.w.leader()) words[k.w.id()] = own_value;
    float sum = 0;
    for (int step = 0; step < t.steps; ++step) {
      k.turn.await();
      sum += k.in.take().v.data[3];
      k.turn.pass();
      k.w.sync();
      k.in.release();
    }
    float const met = exchange(k, own_value);
    float together = 0;
    if constexpr (Common)
      for (int w = 0; w < Workers; ++w) together += words[w] * static_cast<float>(w + 1);
    // What was taken first is still there.
    k.w.sync();
    k.own.release();
    if constexpr (Common) k.common.release();
    float const values[results] = {own_value, all_value, sum, met, together};
    float* const out = a.out + (t.index * Workers + k.w.id()) * results;
    if (k.w.leader())
      for (int i = 0; i < results; ++i) out[i] = values[i];
    report(k, a, t.index);
  }
};

template <int Workers, int Own_slots, bool Common>
void check_parts_of_block(int tasks, bool demand) {
  using op = parts_of_block<Workers, Own_slots, Common>;
  auto const v = wholes(at(tasks * op::vectors * 16), 5, 50);
  device_array<float> const dv(v), out(untouched<float>(at(tasks * Workers * op::results)));
  device_array<unsigned> const tickets(1);
  tensor<float const> const rows{dv.data(), tasks * op::vectors, 16, 16, 1, 0};
  run<op>({tasks, dv.data(), be::read_from<M, 16>(rows), demand ? tickets.data() : nullptr,
           out.data(), nullptr});
  std::vector<float> expected;
  for (int task = 0; task < tasks; ++task) {
    auto const value = [&](int i, int n) { return v[at((task * op::vectors + i) * 16 + n)]; };
    float sum = 0, met = 0, together = 0;
    for (int step = 0; step < steps_of(task); ++step) sum += value(Workers + 1 + step, 3);
    for (int round = 0; round < op::rounds; ++round)
      for (int w = 0; w < Workers; ++w)
        met += value(w, 14) * static_cast<float>((round + 1) * (w + 1));
    for (int w = 0; w < Workers; ++w) together += value(w, 14) * static_cast<float>(w + 1);
    for (int w = 0; w < Workers; ++w)
      expected.insert(expected.end(), {value(w, 14), Common ? value(Workers, 2) : 0.f, sum, met,
                                       Common ? together : 0.f});
  }
  check_same(out.read(), expected);
  CHECK(tickets.read()[0] == 0);
}

TEST_CASE("own and common slots, scratch, turns and meetings; tasks in rounds and on demand") {
  int const most = tasks_at_least(40), counts[] = {1, 2, 3, 4, 5, 17, most};
  expect_cases const counted(6 * 2 * (1 + 2 + 3 + 4 + 5 + 17 + most));
  for (int const tasks : counts)
    for (bool const demand : {false, true}) {
      CAPTURE(tasks);
      CAPTURE(demand);
      check_parts_of_block<1, 1, false>(tasks, demand);
      check_parts_of_block<1, 2, true>(tasks, demand);
      check_parts_of_block<2, 1, false>(tasks, demand);
      check_parts_of_block<2, 2, true>(tasks, demand);
      check_parts_of_block<3, 1, false>(tasks, demand);
      check_parts_of_block<3, 2, false>(tasks, demand);
    }
}

// ---- workers without slots and meetings, each as fast as it can
template <int Workers> struct apart : simple_op {
  static constexpr int workers = Workers;
  struct args {
    int cases;
    unsigned* tickets;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    report(k, a, t.index);
  }
};
template <int Workers> void check_apart(int tasks) {
  device_array<unsigned> const tickets(1);
  run<apart<Workers>>({tasks, tickets.data(), nullptr});
  CHECK(tickets.read()[0] == 0);
}

TEST_CASE("every worker learns of every task that its block is dealt") {
  int const tasks = tasks_at_least(100);
  expect_cases const counted(2 * tasks);
  check_apart<2>(tasks);
  check_apart<3>(tasks);
}

// ---- a slot that leaves for global memory
template <int Slots, bool Aligned> struct stored_from : simple_op {
  static constexpr int workers = 2, own_slots = Slots, C = 48;
  struct own {
    shared_tile<fp16, M, C> x;
  };
  struct args {
    int cases;
    be::source<fp16, M, C> from;
    be::sink<fp16, M, C> to;
    int* ran;
  };
  static TK_DEVICE void load_own(own& s, args const& a, task const& t, int w, be::arrival done) {
    load_async(s.x, window(a.from, w * M, 0, t.index), done);
  }
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    auto& s = k.own.take().x;
    reg_tile<fp16, M, C> x;
    tk::load(x, s);
    k.w.sync();
    store_async(k.w, window(a.to, k.w.id() * M, 0, t.index), cast<fp16>(x * 2.f + 1.f), s);
    k.own.release_when_stored();
    report(k, a, t.index);
  }
};

template <int Slots, bool Aligned> void check_stored_from() {
  using op = stored_from<Slots, Aligned>;
  constexpr int C = op::C, pitch = C + !Aligned, plane = 2 * M * pitch;
  int const tasks = tasks_at_least(30);
  auto const x = wholes<fp16>(tasks * plane, 3, 50);
  device_array<fp16> const from(x), to_(untouched<fp16>(tasks * plane));
  tensor<fp16 const> const source{from.data(), 2 * M, C, pitch, tasks, plane};
  tensor<fp16> const sink{to_.data(), 2 * M, C, pitch, tasks, plane};
  run<op>({tasks, be::read_from<M, C>(source), be::write_to<M, C>(sink), nullptr});
  auto expected = untouched<fp16>(tasks * plane);
  for (int i = 0; i < tasks * plane; ++i)
    if (i % pitch < C) expected[at(i)] = to<fp16>(2 * tk::widen(x[at(i)]) + 1);
  check_same(to_.read(), expected);
}

TEST_CASE("a slot is released when the store from it has been read") {
  expect_cases const counted(6 * tasks_at_least(30));
  check_stored_from<1, true>();
  check_stored_from<2, true>();
  check_stored_from<3, true>();
  check_stored_from<1, false>();
  check_stored_from<2, false>();
  check_stored_from<3, false>();
}

TEST_CASE("a launch without tasks does nothing") {
  expect_cases const counted(0);
  device_array<unsigned> const tickets(1);
  using op = parts_of_block<1, 1, false>;
  be::launch<op>({0, nullptr, {}, tickets.data(), nullptr, nullptr}, nullptr);
  be::rt::synchronize();
  CHECK(tickets.read()[0] == 0);
}

}  // namespace tk::test
