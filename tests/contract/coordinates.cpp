// SPDX-License-Identifier: MIT
// Coordinates as operands, functors that hold values, tanh and softplus: over tiles and columns, in
// expressions.
#include "core/activation.hpp"
#include "tests/contract/support.hpp"

namespace tk::test {

struct scaled_by {
  float factor, more;
  TK_BOTH float operator()(float x) const { return x * factor + more; }
};
struct tanh_of {
  TK_DEVICE float operator()(float x) const { return tk::tanh(x); }
};

inline constexpr int forms = 8, bases = 3;

template <int R, int C> struct coordinates_op : simple_op {
  struct args {
    int cases;
    float const *x, *col;
    float* out;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    constexpr int at[] = {0, -37, 100000};
    int const base = at[t.index];
    reg_tile<float, R, C> x, o;
    read_tile(x, a.x, 0);
    auto const c = load_col<R>(a.col, R, 0.f);
    float* const out = a.out + t.index * (forms * R * C);
    auto const put = [&](int i) { write_tile(out, i, o); };
    o = x + rows(base), put(0);
    o = cols(base) - x, put(1);
    o = x - abs(diagonals(base)) * 0.5f, put(2);
    o = tk::reg_tile<float, R, C>(0.f), o = o + rows(base) * c, put(3);
    o = max(cols(base), rows(base)) + x, put(4);
    o = map(scaled_by{2.f, static_cast<float>(base)}, x), put(5);
    o = map(scaled_by{0.5f, 1.f}, x + c) * 2.f, put(6);
    auto const d = map(scaled_by{3.f, 1.f}, c);
    o = x * d, put(7);
    report(k, a, t.index, forms);
  }
};

float form_value(int form, int base, int row, int col, float x, float c) {
  auto const number = [](int n) { return static_cast<float>(n); };
  switch (form) {
    case 0: return x + number(base + row);
    case 1: return number(base + col) - x;
    case 2: return x - std::fabs(number(base + col - row)) * 0.5f;
    case 3: return number(base + row) * c;
    case 4: return number(base + (col > row ? col : row)) + x;
    case 5: return x * 2 + number(base);
    case 6: return ((x + c) * 0.5f + 1) * 2;
    default: return x * (c * 3 + 1);
  }
}

template <int R, int C> void check_coordinates() {
  constexpr int size = R * C;
  auto const x = wholes(size, 3, 50), c = wholes(R, 4, 9);
  device_array<float> const dx(x), dc(c), out(untouched<float>(at(bases * forms * size)));
  run<coordinates_op<R, C>>({bases, dx.data(), dc.data(), out.data(), nullptr});
  std::vector<float> expected;
  for (int const base : {0, -37, 100000})
    for (int form = 0; form < forms; ++form)
      for (int i = 0; i < size; ++i)
        expected.push_back(form_value(form, base, i / C, i % C, x[at(i)], c[at(i / C)]));
  check_same(out.read(), expected);
}

TEST_CASE("coordinates and functors with values") {
  expect_cases const counted(3 * bases * forms);
  check_coordinates<M, 16>();
  check_coordinates<M, 80>();
  check_coordinates<2 * M, 32>();
}

// ---- functions
template <class F> struct function_op : simple_op {
  struct args {
    int cases;
    float const* x;
    float* out;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<float, M, 64> x;
    read_tile(x, a.x, 0);
    x = map<F>(x);
    write_tile(a.out, 0, x);
    report(k, a, t.index);
  }
};

TEST_CASE("tanh is good to 2^-21, for every size and sign") {
  expect_cases const counted(1);
  std::vector<float> x(M * 64);
  for (std::size_t i = 0; i < x.size(); ++i) {
    double const share = static_cast<double>(i / 2) / (static_cast<double>(x.size()) / 2);
    x[i] = static_cast<float>((i % 2 ? -1 : 1) * std::exp2(34 * share - 30));  // 2^-30 to 16
  }
  x[0] = 0, x[1] = inf, x[2] = -inf, x[3] = 1e30f, x[4] = std::nanf("");
  device_array<float> const dx(x), out(untouched<float>(x.size()));
  run<function_op<tanh_of>>({1, dx.data(), out.data(), nullptr});
  auto const found = out.read();
  CHECK(found[0] == 0);
  CHECK(found[1] == 1);
  CHECK(found[2] == -1);
  CHECK(found[3] == 1);
  CHECK(std::isnan(found[4]));
  double worst = 0;
  for (std::size_t i = 5; i < x.size(); ++i)
    worst = std::max(worst, std::fabs(found[i] / std::tanh(double{x[i]}) - 1));
  CHECK(worst < 0x1p-21);
}

TEST_CASE("softplus is good to 2^-20, and to what an exponent rounds, for every size and sign") {
  expect_cases const counted(1);
  std::vector<float> x(M * 64);
  for (std::size_t i = 0; i < x.size(); ++i) {
    double const share = static_cast<double>(i / 2) / (static_cast<double>(x.size()) / 2);
    x[i] = static_cast<float>((i % 2 ? -1 : 1) * std::exp2(36.3 * share - 30));  // 2^-30 to 79
  }
  x[0] = 0, x[1] = inf, x[2] = -inf, x[3] = 1e30f, x[4] = std::nanf("");
  device_array<float> const dx(x), out(untouched<float>(x.size()));
  run<function_op<softplus>>({1, dx.data(), out.data(), nullptr});
  auto const found = out.read();
  CHECK(found[1] == inf);
  CHECK(found[2] == 0);
  CHECK(found[3] == 1e30f);
  CHECK(std::isnan(found[4]));
  x[1] = x[2] = x[3] = x[4] = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    double const y = x[i], exact = std::max(y, 0.0) + std::log1p(std::exp(-std::fabs(y)));
    CAPTURE(x[i]);
    double const limit = 0x1p-20 + std::fabs(y) * 0x1p-24;
    if (i < 1 || i > 4) REQUIRE(std::fabs(found[i] - exact) <= limit * exact);
  }
}

}  // namespace tk::test
