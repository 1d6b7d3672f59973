// SPDX-License-Identifier: MIT
// Runs of shared tiles, magnitudes of all lanes, and pairs of real tiles as complex numbers: every
// lane's elements are where they belong, roots of unity are right.
#include "core/packed_complex.hpp"
#include "core/tile_runs.hpp"
#include "tests/contract/support.hpp"

namespace tk::test {

// A tile of C columns from runs, as fp16, taken back as fp32 through the memory of two of them.
template <int C> struct runs_there_and_back : simple_op {
  static constexpr int R = M;
  struct scratch {
    shared_tile<fp16, R, C> x[2];
    magnitudes_exchange exchange;
  };
  struct args {
    int cases;
    float const* x;  // [cases, R, C]
    float *back, *chunks, *split, *sizes;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    auto& s = c.scratch;
    float const* const from = a.x + t.index * R * C;
    magnitudes size;
    auto const read = [&](int row, int col) {
      run_of_eight y;
      TK_UNROLL
      for (int i = 0; i < 8; ++i) y.x[i] = from[row * C + col + i];
      return y;
    };
    fill_runs(s.x[1], c.w.lane(), be::worker_lanes, [&](int row, int col) {
      auto const y = read(row, col);
      size.add(y);
      return scaled(y, 2.f);
    });
    size = of_all_lanes(c.w, size, s.exchange);
    c.w.sync();
    reg_tile<fp16, R, C> packed;
    tk::load(packed, s.x[1]);
    c.w.sync();
    auto& sums = reuse<shared_tile<float, R, C>>(s.x);
    tk::store(sums, cast<float>(packed * 0.5f));
    c.w.sync();
    auto const for_each_run = [&](auto body) {
      for (int n = c.w.lane(); n < R * C / 8; n += be::worker_lanes)
        body(n / (C / 8), n % (C / 8) * 8);
    };
    auto const write = [&](float* to, int row, int col, run_of_eight const& y) {
      TK_UNROLL
      for (int i = 0; i < 8; ++i) to[t.index * R * C + row * C + col + i] = y.x[i];
    };
    for_each_run([&](int row, int col) {
      write(a.back, row, col, product_of(take_run(sums, row, col), read(row, col)));
    });
    c.w.sync();
    for_each_run([&](int row, int col) {  // a row's even elements before its odd ones
      put_split_run(s.x[1], row, col / 2, C / 2, read(row, col));
    });
    be::publish_shared();
    c.w.sync();
    tk::load(packed, s.x[1]);
    for_each_run([&](int row, int col) {
      auto const words = take_split_chunk(s.x[1], row, col / 2, C / 2);
      run_of_eight y;
      TK_UNROLL
      for (int i = 0; i < 8; ++i) y.x[i] = half_of<fp16>(words.w[i / 2], i);
      write(a.chunks, row, col, y);
    });
    c.w.sync();
    tk::store(sums, cast<float>(packed * 1.f));
    c.w.sync();
    for_each_run([&](int row, int col) {
      write(a.split, row, col, take_split_run(sums, row, col / 2, C / 2));
    });
    c.w.sync();  // all have read
    a.sizes[(t.index * be::worker_lanes + c.w.lane()) * 2] = size.largest;
    a.sizes[(t.index * be::worker_lanes + c.w.lane()) * 2 + 1] = size.sum;
    report(c, a, t.index);
  }
};

template <int C> void check_runs(int tasks) {
  using op = runs_there_and_back<C>;
  auto const x = wholes(at(tasks * op::R * C), 9, 40);
  device_array<float> const dx(x), back(untouched<float>(x.size())),
      chunks(untouched<float>(x.size())), split(untouched<float>(x.size())),
      sizes(untouched<float>(at(tasks * be::worker_lanes * 2)));
  run<op>({tasks, dx.data(), back.data(), chunks.data(), split.data(), sizes.data(), nullptr});
  std::vector<float> squares, of_lanes;
  for (float const e : x) squares.push_back(e * e);
  for (int i = 0; i < tasks; ++i) {
    float largest = 0, sum = 0;
    for (int k = 0; k < op::R * C; ++k) {
      float const e = std::fabs(x[at(i * op::R * C + k)]);
      largest = std::max(largest, e), sum += e;
    }
    for (int lane = 0; lane < be::worker_lanes; ++lane)
      of_lanes.insert(of_lanes.end(), {largest, sum});
  }
  check_same(back.read(), squares);
  check_same(chunks.read(), x);
  check_same(split.read(), x);
  check_same(sizes.read(), of_lanes);
}

TEST_CASE("runs of eight go to shared tiles and come back") {
  int const tasks = tasks_at_least(12);
  expect_cases const counted(4 * tasks);
  check_runs<16>(tasks);
  check_runs<32>(tasks);
  check_runs<64>(tasks);
  check_runs<128>(tasks);
}

// z = x times the parts of y, plus twice x times conj(y), plus half of y times x, and each part put
// into its place; y goes through global memory.
template <int C, int Sign> struct complex_work : simple_op {
  static constexpr int R = M, V = 16;
  struct args {
    int cases;
    float const *x, *y;  // two tiles each
    float* out;          // [cases, 3, 2, R, C]
    std::uint32_t* via;  // [2, C / V, R V / 2]
    int* ran;
  };
  static constexpr int base = 32;
  static constexpr float shift = 0.5f, step = 1.f / (4 * 2 * M * (base + C));
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    complex_tile<R, C> x, sum, turned;
    read_tile(x.re, a.x, 0);
    read_tile(x.im, a.x, 1);
    turned = x;
    rotate<Sign>(turned, shift, base, step);
    write_tile<float>(a.out, t.index * 6, turned.re * 1.f);
    write_tile<float>(a.out, t.index * 6 + 1, turned.im * 1.f);
    auto const all = pack(x);
    auto packed_sum = all;
    packed_tiles<R, V> const via{a.via};
    TK_UNROLL
    for (int part = 0; part < C / V; ++part) {
      complex_tile<R, V> y, other{columns<V>(x.re, part), columns<V>(x.im, part)};
      packed_complex_tile<R, V> const mine{columns<V>(all.re, part), columns<V>(all.im, part)};
      read_tile(y.re, a.y, 0);
      read_tile(y.im, a.y, 1);
      y.re = y.re + static_cast<float>(part);
      auto by = pack(y);
      tk::store(via, 2 * part, by.re);
      tk::store(via, 2 * part + 1, by.im);
      tk::load(by.re, via, 2 * part);
      tk::load(by.im, via, 2 * part + 1);
      multiply(other, 0, by, 1.f);
      add_product(other, mine, by, -1.f, 2.f);
      add_rounded_product(other, by, mine, 1.f, 0.5f);
      put_part(sum, part, other);
      if (part % 2) multiply(packed_sum, part, by);
      else multiply_conjugate(packed_sum, part, by);
    }
    write_tile<float>(a.out, t.index * 6 + 2, sum.re * 1.f);
    write_tile<float>(a.out, t.index * 6 + 3, sum.im * 1.f);
    write_tile<float>(a.out, t.index * 6 + 4, negative(packed_sum.re) * 1.f);
    write_tile<float>(a.out, t.index * 6 + 5, packed_sum.im * 1.f);
    report(c, a, t.index);
  }
};

template <int C, int Sign> void check_complex() {
  using op = complex_work<C, Sign>;
  constexpr int R = op::R, V = op::V;
  auto const x = wholes(at(2 * R * C), 11, 3), y = wholes(at(2 * R * V), 12, 3);
  device_array<float> const dx(x), dy(y), out(untouched<float>(at(6 * R * C)));
  device_array<std::uint32_t> const via(std::vector<std::uint32_t>(at(R * C)));
  run<op>({1, dx.data(), dy.data(), out.data(), via.data(), nullptr});
  auto const got = out.read();
  double worst = 0;
  int wrong = 0;
  for (int i = 0; i < R * C; ++i) {
    int const r = i / C, c = i % C;
    double const re = x[at(i)], im = x[at(R * C + i)];
    double const angle = Sign * 2 * M_PI * (r + op::shift) * (op::base + c) * double(op::step);
    double const turned_re = re * std::cos(angle) - im * std::sin(angle),
                 turned_im = re * std::sin(angle) + im * std::cos(angle);
    worst = std::max(
        {worst, std::fabs(got[at(i)] - turned_re), std::fabs(got[at(R * C + i)] - turned_im)});
    double const by_re = y[at(r * V + c % V)] + c / V, by_im = y[at(R * V + r * V + c % V)];
    auto const differ = [&](int tile, double exact) {
      return got[at(tile * R * C + i)] != static_cast<float>(exact);
    };
    // 3/2 x y + 2 x conj(y)
    wrong += differ(2, 3.5 * re * by_re + 0.5 * im * by_im);
    wrong += differ(3, 3.5 * im * by_re - 0.5 * re * by_im);
    double const sign = c / V % 2 ? 1 : -1;
    wrong += differ(4, -(re * by_re - sign * im * by_im));
    wrong += differ(5, im * by_re + sign * re * by_im);
  }
  CHECK(wrong == 0);
  CHECK(worst < 4.3 * 0x1p-20);  // of numbers up to 4.3
}

TEST_CASE("complex tiles rotate and are multiplied") {
  expect_cases const counted(6);
  check_complex<16, 1>();
  check_complex<32, 1>();
  check_complex<64, 1>();
  check_complex<16, -1>();
  check_complex<64, -1>();
  check_complex<128, 1>();
}

// x + x y + y conj(y) of parts, and x + i y, x - i y of all, at once in fp16.
template <int C> struct packed_sums : simple_op {
  static constexpr int R = M, V = 16;
  struct args {
    int cases;
    float const *x, *y;  // two tiles each
    float* out;          // [3, 2, R, C]
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    auto const read = [](float const* from) {
      complex_tile<R, C> z;
      read_tile(z.re, from, 0);
      read_tile(z.im, from, 1);
      return pack(z);
    };
    auto const x = read(a.x), y = read(a.y);
    auto sum = x;
    TK_UNROLL
    for (int part = 0; part < C / V; ++part) {
      packed_complex_tile<R, V> const by{columns<V>(y.re, part), columns<V>(y.im, part)};
      multiply_add(sum, x, part, by);
      multiply_add<true>(sum, y, part, by);
    }
    auto const write = [&](int nth, packed_complex_tile<R, C> const& packed) {
      auto const z = unpack(packed);
      write_tile<float>(a.out, 2 * nth, z.re * 1.f);
      write_tile<float>(a.out, 2 * nth + 1, z.im * 1.f);
    };
    write(0, sum);
    write(1, add_i_times(x, y));
    write(2, subtract_i_times(x, y));
    report(c, a, t.index);
  }
};
template <int C> void check_packed_sums() {
  using op = packed_sums<C>;
  constexpr int all = op::R * C;
  auto const x = wholes(at(2 * all), 13, 9), y = wholes(at(2 * all), 14, 9);
  device_array<float> const dx(x), dy(y), out(untouched<float>(at(6 * all)));
  run<op>({1, dx.data(), dy.data(), out.data(), nullptr});
  std::vector<float> sums(at(6 * all));
  for (int i = 0; i < all; ++i) {
    float const re = x[at(i)], im = x[at(all + i)], by_re = y[at(i)], by_im = y[at(all + i)];
    float const exact[] = {re + re * by_re - im * by_im + by_re * by_re + by_im * by_im,
                           im + re * by_im + im * by_re,
                           re - by_im,
                           im + by_re,
                           re + by_im,
                           im - by_re};
    for (int k = 0; k < 6; ++k) sums[at(k * all + i)] = exact[k];
  }
  check_same(out.read(), sums);
}
TEST_CASE("packed complex tiles are added and multiplied") {
  expect_cases const counted(3);
  check_packed_sums<16>();
  check_packed_sums<32>();
  check_packed_sums<64>();
}

// Numbers that say where they are, by lanes in shared memory.
template <int C> struct packed_places : simple_op {
  static constexpr int R = M;
  struct scratch {
    shared_packed<R, C> re, im;
  };
  struct args {
    int cases;
    float* out;  // [2, R, C]
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    auto& s = c.scratch;
    for (int i = 0; i < 2; ++i)
      fill(s.re, s.im, i, 2, [](int row, int col) {
        return complex_number{static_cast<float>(row), static_cast<float>(col)};
      });
    c.w.sync();
    packed_complex_tile<R, C> x;
    tk::load(x.re, s.re);
    tk::load(x.im, s.im);
    write_tile<float>(a.out, 0, x.re * 1.f);
    write_tile<float>(a.out, 1, x.im * 1.f);
    report(c, a, t.index);
  }
};
template <int C> void check_places() {
  using op = packed_places<C>;
  device_array<float> const out(untouched<float>(at(2 * op::R * C)));
  run<op>({1, out.data(), nullptr});
  std::vector<float> places;
  for (int i = 0; i < op::R * C; ++i) places.push_back(static_cast<float>(i / C));
  for (int i = 0; i < op::R * C; ++i) places.push_back(static_cast<float>(i % C));
  check_same(out.read(), places);
}
TEST_CASE("packed tiles in the order of lanes") {
  expect_cases const counted(3);
  check_places<16>();
  check_places<32>();
  check_places<64>();
}

// Roots of unity, and magnitudes, by lanes.
constexpr int roots = 4096;
constexpr std::uint32_t nan_of(bf16) { return 0x7fc0; }
constexpr std::uint32_t nan_of(fp16) { return 0x7e00; }
template <class T> struct numbers_of_lanes : simple_op {
  struct args {
    int cases;
    float* out;  // [2, roots], and four magnitudes
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    for (int i = c.w.lane(); i < roots; i += be::worker_lanes) {
      auto const r = rounded_root(static_cast<float>(i) / roots);
      a.out[i] = r.re, a.out[roots + i] = r.im;
    }
    auto const larger = [](std::uint32_t x, std::uint32_t y, int half) {
      return __builtin_fabsf(half_of<T>(be::max_magnitudes(T{}, x, y), half));
    };
    auto const x = be::pack(T{}, -3.f, 2.f), y = be::pack(T{}, 1.f, -5.f);
    float const most[] = {larger(x, y, 0), larger(x, y, 1), larger(nan_of(T{}), y, 0),
                          larger(y, nan_of(T{}) << 16, 1)};
    if (c.w.leader())
      for (int i = 0; i < 4; ++i) a.out[2 * roots + i] = most[i];
    report(c, a, t.index);
  }
};
TEST_CASE_TEMPLATE("roots and magnitudes of lanes", T, bf16, fp16) {
  expect_cases const counted(1);
  device_array<float> const out(untouched<float>(2 * roots + 4));
  run<numbers_of_lanes<T>>({1, out.data(), nullptr});
  auto const got = out.read();
  double worst = 0;
  for (int i = 0; i < roots; ++i)
    worst = std::max({worst, std::fabs(got[at(i)] - std::cos(2 * M_PI * i / roots)),
                      std::fabs(got[at(roots + i)] - std::sin(2 * M_PI * i / roots))});
  CHECK(worst < 0x1p-19);
  check_same({got.end() - 4, got.end()}, std::vector<float>{3, 5, 1, 5});
}

TEST_CASE("roots of unity and scales") {
  expect_cases const counted(0);
  for (int i = 0; i < 4096; ++i) {
    float const t = static_cast<float>(i) / 4096;
    auto const r = unit_root(t);
    CHECK(std::fabs(r.re - std::cos(2 * M_PI * i / 4096)) < 0x1p-22);
    CHECK(std::fabs(r.im - std::sin(2 * M_PI * i / 4096)) < 0x1p-22);
  }
  for (int e = -90; e <= 90; ++e)
    for (float const m : {1.f, 1.5f, 1.999f}) {
      float const x = std::ldexp(m, e), by = scale_to(x, 8);
      CHECK(x * by >= 128);
      CHECK(x * by < 256);
      CHECK(by * inverse_of_power(by) == 1);
    }
  CHECK(scale_to(0, 8) == 1);
}

}  // namespace tk::test
