// SPDX-License-Identifier: MIT
// The tests' own tests: a right result passes, and a right result with one fault in it does not,
// whatever the way of checking. Conversions and oracles against plainer ones.
#include "tests/support/attention_oracle.hpp"
#include "tests/support/gemm_oracle.hpp"
#include "tests/support/norm.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

// The next number of the output's type away from zero, `steps` times.
void nudge(tensor const& x, std::int64_t row, std::int64_t col, int steps) {
  std::byte* p = x.result_row(row) + col * bytes_of(x.type);
  double value = decode(x.type, p);
  auto const f = format_of(x.type);
  for (int i = 0; i < steps; ++i) {
    int const e = value == 0 ? f.least_exponent : std::max(std::ilogb(value), f.least_exponent);
    value += std::copysign(std::ldexp(1.0, e - f.fraction_bits), value);
  }
  encode(x.type, rounded(x.type, value), p);
}
void put(tensor const& x, std::int64_t row, std::int64_t col, double value) {
  encode(x.type, rounded(x.type, value), x.result_row(row) + col * bytes_of(x.type));
}
std::vector<std::byte> row_bytes(tensor const& x, std::int64_t row) {
  std::byte const* p = x.result_row(row);
  return {p, p + x.cols() * bytes_of(x.type)};
}

// Calls `spoil`, wants a complaint, and puts the element's row back.
template <class Operands, class Spoil>
void wants_complaint(char const* what, Operands const& x, tensor const& out, std::int64_t row,
                     Spoil const& spoil) {
  auto const good = row_bytes(out, row);
  spoil();
  auto const v = compare(x);
  CHECK_MESSAGE(!v.ok(), std::string(what) << ": " << describe(x.of));
  std::copy(good.begin(), good.end(), out.result_row(row));
}

TEST_CASE("conversions") {
  for (dtype const t : {dtype::bf16, dtype::fp16}) {
    int numbers = 0, faults = 0;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      auto const value = [&](std::uint32_t pattern) {
        std::byte p[4];
        std::memcpy(p, &pattern, 4);
        return decode(t, p);
      };
      double const x = value(bits), next = value((bits + 1) & 0xffff);
      if (std::isnan(x)) continue;
      std::byte back[4];
      encode(t, rounded(t, x), back);
      faults += std::memcmp(back, &bits, 2) != 0;
      if (!std::isfinite(x) || !std::isfinite(next) || next == 0) continue;
      // Halfway to the next number: the even one. A little less, a little more: the nearer one.
      double const middle = (x + next) / 2, little = (next - x) / 1024;
      faults += rounded(t, middle) != (bits % 2 ? next : x);
      faults += rounded(t, middle - little) != x;
      faults += rounded(t, middle + little) != next;
      ++numbers;
    }
    CHECK(numbers > 60000);
    CHECK(faults == 0);
  }
  CHECK(rounded(dtype::fp16, 65519.9) == 65504);
  CHECK(rounded(dtype::fp16, 65520.0) == HUGE_VAL);
  CHECK(rounded(dtype::fp16, -1e9) == -HUGE_VAL);
  CHECK(rounded(dtype::fp32, 1 + 0x1p-24) == 1);
  CHECK(rounded(dtype::fp32, 1 + 0x1p-24 + 0x1p-50) == 1 + 0x1p-23);
  CHECK(rounded(dtype::fp32, 0x1p-149 * 0.75) == 0x1p-149);
}

TEST_CASE("the oracles' product") {
  std::int64_t const m = 11, n = 37, k = 23;
  panels b(k, n);
  std::vector<double> a(m * k), c(m * panels::padded(n));
  for (std::int64_t i = 0; i < m * k; ++i) a[i] = random_below(9, 1, i) - 4.0;
  for (std::int64_t l = 0; l < k; ++l)
    for (std::int64_t j = 0; j < n; ++j) b.at(l, j) = random_below(9, 2, l * n + j) - 4.0;
  for (std::int64_t const depth : {std::int64_t{0}, k / 2, k}) {
    b.multiply(c.data(), a.data(), k, m, depth);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t l = 0; l < depth; ++l) sum += a[i * k + l] * b.at(l, j);
        REQUIRE(c[i * panels::padded(n) + j] == sum);
      }
  }
}

TEST_CASE("norms find what every element hides") {
  error_meter meter(dtype::fp16);
  for (int i = 0; i < 1000; ++i) {
    double const exact = 1 + i * 0x1p-14, unit = rounded(dtype::fp16, exact) - exact;
    meter.add(0, i, exact + 0x1p-9, exact, 0x1p-8, unit, 0);  // within the slack, thrice the unit
  }
  CHECK(!meter.judge("x", 1.1).ok());
  CHECK(meter.judge("x", 100).ok());
}

TEST_CASE("one fault in a product is found") {
  std::vector<gemm_case> cases;
  for (dtype const out : {dtype::bf16, dtype::fp16, dtype::fp32})
    for (data const values : {data::integers, data::reals, data::sparse})
      cases.push_back({.m = 70, .n = 45, .k = 33, .batch = 2, .out = out, .values = values});
  for (check_kind const kind : {check_kind::some_rows, check_kind::probe}) {
    cases.push_back({.m = 300, .n = 40, .k = 24, .out = dtype::fp32});
    cases.back().check = kind;
    cases.back().values = kind == check_kind::probe ? data::sparse : data::reals;
  }
  for (auto const& c : cases) {
    gemm_operands x(c);
    REQUIRE(launch_twice(x) == "");
    REQUIRE(compare(x).wrong == "");
    // The last row is always among those that are checked.
    std::int64_t const row = x.d.rows() - 1, col = c.n - 2;
    bool const exact = c.values != data::reals;
    int const steps = exact ? 1 : c.out == dtype::fp32 ? 200 : 2;
    wants_complaint("last place", x, x.d, row, [&] { nudge(x.d, row, col, steps); });
    wants_complaint("not written", x, x.d, row, [&] { put(x.d, row, col, std::nan("")); });
    wants_complaint("infinite", x, x.d, row, [&] { put(x.d, row, 0, HUGE_VAL); });
    wants_complaint("swapped", x, x.d, row, [&] {
      double values[2];
      read_row(x.d.type, x.d.result_row(row), 2, values);
      put(x.d, row, 0, values[1] == values[0] ? values[0] + 1 : values[1]);
      put(x.d, row, 1, values[0]);
    });
    wants_complaint("the row above", x, x.d, row, [&] {
      auto const other = row_bytes(x.d, row - 1);
      std::copy(other.begin(), other.end(), x.d.result_row(row));
    });
    CHECK(compare(x).wrong == "");
  }
}

TEST_CASE("bytes that are no output are watched") {
  gemm_case c{.m = 20, .n = 30, .k = 10};
  c.d_layout.padding = 5;
  std::int64_t const row = 35 * 2, gap = 30 * 2 + 3;
  for (std::int64_t const at :
       {gap, 7 * row + gap, std::int64_t{-1}, -memory::guard, 19 * row + gap - 3}) {
    gemm_operands x(c);
    REQUIRE(launch_twice(x) == "");
    x.d.in->result()[at] ^= std::byte{1};
    CHECK(!x.d.in->same_as_before());
    CHECK(check_untouched(x.memories, {x.d}) != "");
  }
  gemm_operands x(c);
  REQUIRE(launch_twice(x) == "");
  CHECK(check_untouched(x.memories, {x.d}) == "");
  x.b.in->image()[5] ^= std::byte{1};  // as if the launch had changed b
  CHECK(check_untouched(x.memories, {x.d}) != "");
}

TEST_CASE("one fault in a norm is found") {
  for (dtype const type : {dtype::bf16, dtype::fp16, dtype::fp32})
    for (tk_norm_kind const kind : {TK_NORM_LAYER, TK_NORM_RMS}) {
      norm_case c{.rows = 6, .width = 193};
      c.type = type, c.kind = kind;
      c.residual = c.store_r = true;
      norm_operands x(c);
      REQUIRE(launch_twice(x) == "");
      REQUIRE(compare(x).wrong == "");
      std::int64_t const row = c.rows - 1, col = c.width - 1;
      int const steps = type == dtype::fp32 ? 100 : 2;
      wants_complaint("last place", x, x.y, row, [&] { nudge(x.y, row, col, steps); });
      wants_complaint("r's last place", x, x.r, row, [&] { nudge(x.r, row, col, 2); });
      wants_complaint("not written", x, x.y, row, [&] { put(x.y, row, col, std::nan("")); });
      wants_complaint("the row above", x, x.y, row, [&] {
        auto const other = row_bytes(x.y, row - 1);
        std::copy(other.begin(), other.end(), x.y.result_row(row));
      });
      x.of.eps = 1e-2f;  // as if the launch had taken another one
      CHECK(!compare(x).ok());
      x.of.eps = c.eps;
      CHECK(compare(x).wrong == "");
    }
}

attention_case small(scores values, dtype type, tk_mask mask) {
  attention_case x{.b = 2, .hq = 4, .hk = 2, .nq = 70, .nk = 90, .d = 64, .dv = 64};
  x.values = values, x.type = type, x.mask = mask;
  return x;
}

TEST_CASE("the oracles of attention agree") {
  for (scores const values : {scores::flat, scores::select})
    for (dtype const type : {dtype::bf16, dtype::fp16})
      for (tk_mask const mask : {TK_MASK_NONE, TK_MASK_CAUSAL}) {
        attention_operands x(small(values, type, mask));
        REQUIRE(launch_twice(x) == "");
        CHECK(compare(x).wrong == "");
        CHECK(compare(x, true).wrong == "");
      }
}

TEST_CASE("one fault in attention is found") {
  for (scores const values : {scores::random, scores::flat, scores::select})
    for (dtype const type : {dtype::bf16, dtype::fp16})
      for (std::int64_t const sampled : {0, 16}) {
        auto c = small(values, type, TK_MASK_CAUSAL);
        c.sampled_rows = sampled;
        attention_operands x(c);
        REQUIRE(launch_twice(x) == "");
        REQUIRE(compare(x).wrong == "");
        std::int64_t const row = x.o.rows() - 1, col = c.dv - 3;
        // Rounding p makes a random o uncertain by some last places.
        int const steps = values == scores::random ? 64 : values == scores::flat ? 2 : 1;
        wants_complaint("last place", x, x.o, row, [&] { nudge(x.o, row, col, steps); });
        wants_complaint("not written", x, x.o, row, [&] { put(x.o, row, 0, std::nan("")); });
        wants_complaint("another head", x, x.o, row, [&] {
          auto const other = row_bytes(x.o, row - 1 - c.hq / c.hk);
          std::copy(other.begin(), other.end(), x.o.result_row(row));
        });
        std::int64_t const head = x.lse.rows() - 1, last = c.nq - 1;
        double const lse = decode(dtype::fp32, x.lse.result_row(head) + last * 4);
        wants_complaint("lse", x, x.lse, head, [&] { put(x.lse, head, last, lse + lse / 4096); });
        wants_complaint("lse NaN", x, x.lse, head, [&] { put(x.lse, head, last, std::nan("")); });
        CHECK(compare(x).wrong == "");
      }
}

// As if a launch had left out a key, or seen one too many: the oracle is given other keys.
TEST_CASE("one key too few or too many is found") {
  for (tk_mask const mask : {TK_MASK_NONE, TK_MASK_CAUSAL})
    for (dtype const type : {dtype::bf16, dtype::fp16}) {
      attention_operands x(small(scores::flat, type, mask));
      REQUIRE(launch_twice(x) == "");
      REQUIRE(compare(x).wrong == "");
      x.of.mask = mask == TK_MASK_NONE ? TK_MASK_CAUSAL : TK_MASK_NONE;
      CHECK(!compare(x).ok());
      x.of.mask = mask;
      for (std::int64_t c = 0; c < x.of.dv; ++c) set(x.v, 40 * x.of.hk, c, 0);
      CHECK(!compare(x).ok());
    }
}

}  // namespace
}  // namespace tk::test
