// SPDX-License-Identifier: MIT
// Windows whose rows end before the tensor does: what lies behind comes as zero, and is not
// written. Each task loads a tile into a slot of its own and stores it through the same slot, as
// the template's ring wants it, and once more straight; ends lie inside, at and beyond both edges.
// Sums are also stored transposed, through the same tile again and again.
#include "tests/contract/placed.hpp"

namespace tk::test {

template <class T, int R, int C> struct bounded_windows : simple_op {
  static constexpr int own_slots = 2;
  struct own {
    shared_tile<T, R, C> tile;
  };
  struct args {
    int cases, ends;
    be::source<T, R, C> from;
    be::sink<T, R, C> into;
    corner const* corners;
    int* ran;
  };
  static TK_DEVICE int end_of(args const& a, int index) {
    return a.corners[index / a.ends].row + index % a.ends * (R / 4) - 3;
  }
  static TK_DEVICE void load_own(own& s, args const& a, task const& t, int, be::arrival done) {
    corner const w = a.corners[t.index / a.ends];
    load_async(s.tile, window(a.from, w.row, w.col, w.i, w.j, end_of(a, t.index)), done);
  }
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    corner const w = a.corners[t.index / a.ends];
    int const end = end_of(a, t.index);
    auto& tile = k.own.take().tile;
    reg_tile<T, R, C> x;
    tk::load(x, tile);
    k.w.sync();
    store_async(k.w, window(a.into, w.row, w.col, t.index, 0, end), cast<T>(x * 2.f), tile);
    k.own.release_when_stored();
    store(window(a.into, w.row, w.col, t.index, 1, end), cast<T>(x * 3.f + 1.f));
    report(k, a, t.index);
  }
};

template <class T, int R, int C> int check_bounded(shape s) {
  constexpr int ends = 8;
  auto const corners = corners_of<T, R, C>(s);
  int const tasks = static_cast<int>(corners.size()) * ends;
  int const cases = tasks * output_placings;
  expect_cases const counted(cases);
  for (int p = 0; p < output_placings; ++p) {
    CAPTURE(p);
    auto const from = placed_input<T>(s, placings[p]);
    placed<T> into({s.rows, s.cols, tasks, 2}, placings[p], untouched<T>());
    into.upload();
    device_array<corner> const dcorners(corners);
    run<bounded_windows<T, R, C>>({tasks, ends, be::read_from<R, C>(from.input()),
                                   be::write_to<R, C>(into.view()), dcorners.data(), nullptr});
    for (int task = 0; task < tasks; ++task) {
      auto const w = corners[at(task / ends)];
      int const end = w.row + task % ends * (R / 4) - 3;
      for (int i = 0; i < R * C; ++i) {
        int const row = w.row + i / C, col = w.col + i % C;
        if (!into.holds(row, col) || row >= end) continue;
        float const x = widen(from.value(row, col, w.i, w.j));
        into.element(row, col, task, 0) = to<T>(2 * x);
        into.element(row, col, task, 1) = to<T>(3 * x + 1);
      }
    }
    check_same(into.read(), into.values());
  }
  return cases;
}

template <class T, int R, int C> void check_shapes() {
  shape const shapes[] = {{R, C, 1, 1}, {2 * R + 3, C + 8, 2, 1}, {R - 1, 17, 1, 2}};
  int cases = 0;
  for (auto const& s : shapes) {
    CAPTURE(s.rows);
    cases += check_bounded<T, R, C>(s);
  }
  CHECK(cases >= 1000);
}

template <class T, int R, int C> struct transposed_stores : simple_op {
  struct own {};
  struct scratch {
    shared_tile<T, C, R> via;
  };
  struct args {
    int cases, ends;
    float const* from;  // R x C
    be::sink<T, C, R> into;
    corner const* corners;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    corner const w = a.corners[t.index / a.ends];
    int const end = w.row + t.index % a.ends * (C / 4) - 3;
    reg_tile<float, R, C> x;
    load_direct(x, a.from);
    for (int i = 0; i < 2; ++i) {
      wait_stores_read(k.w);
      store_async_transposed(k.w, window(a.into, w.row, w.col, t.index, i, end), x, k.scratch.via);
      x = x * 2.f + 1.f;
    }
    report(k, a, t.index);
  }

 private:
  static TK_DEVICE void load_direct(reg_tile<float, R, C>& x, float const* from) {
    x = 0.f;
    tensor<float const> const all{from, R, C, C};
    add_scaled(x, 1.f, all, 1, 0, 0, 0, 0);
  }
};

template <class T, int R, int C> void check_transposed() {
  constexpr int ends = 8;
  auto const x = wholes(R * C, 3, 60);
  device_array<float> const dx(x);
  int cases = 0;
  for (shape const s : {shape{C, R, 1, 1}, {2 * C + 3, R + 8, 1, 1}, {C - 1, 17, 1, 1}}) {
    auto const corners = corners_of<T, C, R>(s);
    int const tasks = static_cast<int>(corners.size()) * ends;
    expect_cases const counted(tasks * output_placings);
    cases += tasks * output_placings;
    for (int p = 0; p < output_placings; ++p) {
      CAPTURE(p);
      placed<T> into({s.rows, s.cols, tasks, 2}, placings[p], untouched<T>());
      into.upload();
      device_array<corner> const dcorners(corners);
      run<transposed_stores<T, R, C>>(
          {tasks, ends, dx.data(), be::write_to<C, R>(into.view()), dcorners.data(), nullptr});
      for (int task = 0; task < tasks; ++task) {
        auto const w = corners[at(task / ends)];
        int const end = w.row + task % ends * (C / 4) - 3;
        for (int i = 0; i < R * C; ++i) {
          int const row = w.row + i % C, col = w.col + i / C;
          if (!into.holds(row, col) || row >= end) continue;
          into.element(row, col, task, 0) = to<T>(x[at(i)]);
          into.element(row, col, task, 1) = to<T>(2 * x[at(i)] + 1);
        }
      }
      check_same(into.read(), into.values());
    }
  }
  CHECK(cases >= 1000);
}

TEST_CASE("tiles to bounded windows, transposed") {
  check_transposed<bf16, M, 64>();
  check_transposed<fp16, M, 32>();
}
TEST_CASE("bounded windows of bf16") { check_shapes<bf16, M, 64>(); }
TEST_CASE("bounded windows of fp16, several panels") { check_shapes<fp16, tall, 128>(); }

}  // namespace tk::test
