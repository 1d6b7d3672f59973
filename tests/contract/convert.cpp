// SPDX-License-Identifier: MIT
// The backend's conversions against core/element.hpp, which has tests of its own: all patterns of
// each type widened and packed again, and rounding at and around every halfway point. Then the
// approximate functions, each with the error that its instruction's manual grants.
#include "tests/contract/support.hpp"

#include <random>

namespace tk::test {

// R x C numbers at a time, in packed tiles.
inline constexpr int R = M, C = 64, at_once = R * C;

template <class T> struct round_trip : simple_op {
  struct args {
    int cases;
    T const* patterns;
    float* widened;
    T *packed, *stored;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<float, R, C> x = -0.f;  // -0 + x is x, also where x is -0
    tensor<T const> const from{a.patterns, R, C, C, 1 << 20, at_once, 1, 0};
    add_scaled(x, 1.f, from, 1, 0, 0, t.index, 0);
    write_tile(a.widened, t.index, x);
    write_tile(a.stored, t.index, x);
    reg_tile<T, R, C> p = cast<T>(x);
    x = -0.f + p;
    write_tile(a.packed, t.index, x);
    report(k, a, t.index);
  }
};

// 2^16 numbers: those of fp8 again and again.
TEST_CASE_TEMPLATE("every pattern widens to its value and packs to itself", T, bf16, fp16, fp8_e4m3,
                   fp8_e5m2) {
  constexpr int tasks = 65536 / at_once;
  expect_cases const counted(tasks);
  std::vector<T> patterns(65536);
  for (int i = 0; i < 65536; ++i) patterns[at(i)] = T{static_cast<decltype(T::bits)>(i)};
  device_array<T> const from(patterns), packed(65536), stored(65536);
  device_array<float> const widened(untouched<float>(65536));
  run<round_trip<T>>({tasks, from.data(), widened.data(), packed.data(), stored.data(), nullptr});
  std::vector<float> expected(65536);
  for (int i = 0; i < 65536; ++i) expected[at(i)] = tk::widen(patterns[at(i)]);
  check_same(widened.read(), expected);
  check_same(packed.read(), patterns);
  check_same(stored.read(), patterns);
}

template <class T> struct rounding : simple_op {
  struct args {
    int cases;
    float const* x;
    T *packed, *stored, *saturated;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<float, R, C> x = -0.f;
    add_scaled(x, 1.f, tiles_at<R, C>(a.x), 1, 0, 0, t.index, 0);
    write_tile(a.stored, t.index, x);
    reg_tile<T, R, C> const p = cast<T>(x);
    write_tile(a.packed, t.index, -0.f + p);
    if constexpr (sizeof(T) == 1) {
      reg_tile<T, R, C> const s = saturating_cast<T>(x);
      write_tile(a.saturated, t.index, -0.f + s);
    }
    report(k, a, t.index);
  }
};

TEST_CASE_TEMPLATE("rounding is to nearest even and keeps NaN", T, bf16, fp16, fp8_e4m3, fp8_e5m2) {
  // Each finite value, the point halfway to the next, and the floats next to both, of either sign.
  std::vector<float> x;
  auto const value = [](int i) { return tk::widen(T{static_cast<decltype(T::bits)>(i)}); };
  for (int i = 0; std::isfinite(value(i)); ++i) {
    float const v = value(i);
    // Beyond the last one its exponent goes on.
    float const next = std::isfinite(value(i + 1)) ? value(i + 1) : v + (v - value(i - 1));
    float const half = next == inf ? v : static_cast<float>((double{v} + double{next}) / 2);
    for (float const y : {v, half})
      for (float const z : {y, std::nextafter(y, inf), std::nextafter(y, -inf)})
        x.push_back(x.size() % 2 ? -z : z);
  }
  std::mt19937 bits(5);
  for (int i = 0; i < 50000; ++i)
    x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits())));
  x.insert(x.end(), {0.f, -0.f, inf, -inf, std::nanf(""), -std::nanf("")});
  for (int bit = 0; bit < 23; ++bit)  // NaN also where only bits that are dropped say so
    x.push_back(std::bit_cast<float>((bit % 2 ? 0xff800000u : 0x7f800000u) | 1u << bit));
  int const tasks = static_cast<int>((x.size() + at_once - 1) / at_once);
  x.resize(at(tasks * at_once), 1.f);
  expect_cases const counted(tasks);
  device_array<float> const from(x);
  device_array<T> const packed(x.size()), stored(x.size()), saturated(x.size());
  run<rounding<T>>({tasks, from.data(), packed.data(), stored.data(), saturated.data(), nullptr});
  std::vector<T> expected;
  for (float const v : x) expected.push_back(to<T>(v));
  check_same(packed.read(), expected);
  check_same(stored.read(), expected);
  if constexpr (sizeof(T) == 1) {
    constexpr float most = format_of<T>::widen(format_of<T>::largest);
    for (std::size_t i = 0; i < x.size(); ++i)
      if (std::fabs(x[i]) > most) expected[i] = to<T>(std::copysign(most, x[i]));
    check_same(saturated.read(), expected);
  }
}

// ---- approximate functions
inline constexpr int functions = 4;
struct approximate : simple_op {
  struct args {
    int cases;
    float const *x, *y;
    float* out;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<float, R, C> x, y, o;
    read_tile(x, a.x, t.index);
    read_tile(y, a.y, t.index);
    o = exp2(x), write_tile(a.out, functions * t.index, o);
    o = log2(y), write_tile(a.out, functions * t.index + 1, o);
    o = reciprocal(y), write_tile(a.out, functions * t.index + 2, o);
    o = x / y, write_tile(a.out, functions * t.index + 3, o);
    report(k, a, t.index, functions);
  }
};

// PTX ISA 9.7.3: ex2.approx 2^-22, relative; lg2.approx 2^-22, absolute for results near 0 and
// relative elsewhere; rcp.approx 2^-23, relative. those of other chips are within one unit in the
// last place, and so are the host's but for 2e-7 of exp2 and log2. Quotients are rounded correctly,
// or the product with a reciprocal: two roundings and the reciprocal's error.
TEST_CASE("exp2, log2, reciprocal and quotients are as exact as their instructions") {
  constexpr int tasks = 8, size = tasks * at_once;
  expect_cases const counted(tasks * functions);
  std::vector<float> x(size), y(size);
  for (int i = 0; i < size; ++i) {
    auto const n = static_cast<std::uint64_t>(i);
    x[at(i)] = static_cast<float>(120 * random_unit(1, n));
    // Half of them within [1/2, 2], where the logarithm is small.
    y[at(i)] = static_cast<float>(std::exp2((i % 2 ? 1 : 100) * random_unit(2, n)));
  }
  x[0] = 0, y[0] = 1;
  device_array<float> const dx(x), dy(y), out(untouched<float>(size * functions));
  run<approximate>({tasks, dx.data(), dy.data(), out.data(), nullptr});
  auto const found = out.read();
  double worst[functions]{};
  for (int i = 0; i < size; ++i) {
    double const u = x[at(i)], v = y[at(i)];
    double const exact[] = {std::exp2(u), std::log2(v), 1 / v, u / v};
    for (int f = 0; f < functions; ++f) {
      double const scale = f == 1 ? std::fmax(1, std::fabs(exact[f])) : std::fabs(exact[f]);
      float const got = found[at((i / at_once * functions + f) * at_once + i % at_once)];
      double const error = exact[f] == 0 ? std::fabs(got) : std::fabs(got - exact[f]) / scale;
      worst[f] = error <= worst[f] ? worst[f] : error;  // NaN is the worst
    }
  }
  CHECK(worst[0] <= 0x1p-22);
  CHECK(worst[1] <= 0x1p-22);
  CHECK(worst[2] <= 0x1p-23);
  CHECK(worst[3] <= 0x1p-22);
  CHECK(found[0] == 1.f);  // exp2(0), and log2(1): ops lean on these
  CHECK(found[at_once] == 0.f);
}

// ---- where the functions end
struct at_ends : simple_op {
  struct args {
    int cases;
    float const* x;
    float* out;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_col<float, R> const x = load_col<R>(a.x, R, 0.f);
    store(a.out, exp2(x), R);
    store(a.out + R, log2(x), R);
    store(a.out + 2 * R, reciprocal(x), R);
    store(a.out + 3 * R, max(x, 0.f), R);
    store(a.out + 4 * R, min(x, 0.f), R);
    report(k, a, t.index);
  }
};

TEST_CASE("infinities and zero") {
  expect_cases const counted(1);
  std::vector<float> x(R, 1.f);
  x[0] = inf, x[1] = -inf, x[2] = 0.f, x[3] = -1.f, x[4] = -1000.f, x[5] = 1000.f;
  device_array<float> const dx(x), out(untouched<float>(5 * R));
  run<at_ends>({1, dx.data(), out.data(), nullptr});
  auto const y = out.read();
  float const* const two_to = y.data();
  CHECK(two_to[0] == inf);
  CHECK(two_to[1] == 0.f);
  CHECK(two_to[2] == 1.f);
  CHECK(two_to[4] == 0.f);
  CHECK(two_to[5] == inf);
  float const* const log = two_to + R;
  CHECK(log[0] == inf);
  CHECK(std::isnan(log[1]));
  CHECK(log[2] == -inf);
  CHECK(std::isnan(log[3]));
  float const* const inverse = log + R;
  CHECK(inverse[0] == 0.f);
  CHECK(inverse[1] == 0.f);
  CHECK(inverse[2] == inf);
  float const *const largest = inverse + R, *const smallest = largest + R;
  CHECK(largest[0] == inf);
  CHECK(largest[1] == 0.f);
  CHECK(smallest[0] == 0.f);
  CHECK(smallest[1] == -inf);
}

}  // namespace tk::test
