// SPDX-License-Identifier: MIT
// The tests' own tests, of the oracles of attention with options: a right result passes, and does
// not where one number is another, or where the oracle is given other options, as if the launch had
// mistaken them.
#include "tests/ops/attention/backward_options_oracle.hpp"
#include "tests/ops/attention/option_cases.hpp"
#include "tests/support/spoil.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

// `cap`: with a softcap, which is small, so that its slope is not near 1.
option_case small(dtype type, bool cap) {
  option_case x{.b = 2, .hq = 2, .hk = 1, .nq = 34, .nk = 50};
  x.type = type, x.scale = 0.3f;
  x.left = 20, x.right = 9;
  x.softcap = cap ? 1.f : 0.f;
  x.alibi = alibi_use::by_head, x.bias = bias_use::fp32, x.sinks = true;
  x.dropout = 0.25f, x.seed = 9;
  return x;
}
template <class Body> void for_each_small(Body const& body) {
  body(small(dtype::bf16, true));
  body(small(dtype::fp16, false));
}

// Of all of an operand of the oracle, `change` puts another value in the place of one.
template <class Change> void change_all(tensor& x, Change const& change) {
  for (std::int64_t r = 0; r < x.rows(); ++r)
    for (std::int64_t c = 0; c < x.cols(); ++c)
      set(x, r, c, change(decode(x.type, x.image_row(r) + c * bytes_of(x.type))));
}

template <class Operands> void wants_complaint_about(char const* what, Operands const& x) {
  auto const v = compare(x);
  CHECK_MESSAGE(!v.ok(), std::string(what) << ": " << describe(x.of));
}

// What a launch may take for something else; the results are of the options as they were.
template <class Operands> void check_mistaken_options(Operands& x) {
  auto const mistaken = [&](char const* what, auto const& mistake) {
    auto const right = x.of;
    mistake(x.of);
    wants_complaint_about(what, x);
    x.of = right;
  };
  mistaken("left 1 more", [](auto& y) { ++*y.left; });
  mistaken("left 1 less", [](auto& y) { --*y.left; });
  mistaken("right 1 more", [](auto& y) { ++*y.right; });
  mistaken("right 1 less", [](auto& y) { --*y.right; });
  mistaken("no left", [](auto& y) { y.left.reset(); });
  mistaken("causal", [](auto& y) { y.mask = TK_MASK_CAUSAL; });
  mistaken("softcap", [](auto& y) { y.softcap = y.softcap == 0 ? 8 : y.softcap * 1.125f; });
  mistaken("dropout", [](auto& y) { y.dropout += 1.f / 256; });
  mistaken("seed", [](auto& y) { ++y.seed; });
  mistaken("offset", [](auto& y) { ++y.offset; });
  auto const mistaken_tensor = [&](char const* what, tensor& t, auto const& change,
                                   auto const& back) {
    change_all(t, change);
    wants_complaint_about(what, x);
    change_all(t, back);
  };
  auto const twice = [](double v) { return 2 * v; };
  auto const half = [](double v) { return v / 2; };
  auto const negative = [](double v) { return -v; };
  mistaken_tensor("slopes", x.alibi, twice, half);
  mistaken_tensor("slopes' sign", x.alibi, negative, negative);
  mistaken_tensor("bias", x.bias, twice, half);
  mistaken_tensor("bias's sign", x.bias, negative, negative);
  mistaken_tensor("sinks", x.sinks, twice, half);
  CHECK(compare(x).wrong == "");
}

template <class Operands> void check_faults(Operands const& x, tensor const& out, int steps) {
  std::int64_t const row = out.rows() - 1;
  std::vector<double> values(static_cast<std::size_t>(out.cols()));
  read_row(out.type, out.result_row(row), out.cols(), values.data());
  auto const largest =
      std::max_element(values.begin(), values.end(),
                       [](double a, double b) { return std::fabs(a) < std::fabs(b); }) -
      values.begin();
  wants_complaint("last places", x, out, row, [&] { nudge(out, row, largest, steps); });
  wants_complaint("not written", x, out, row, [&] { put(out, row, 0, std::nan("")); });
  if (row == 0) return;
  wants_complaint("another row", x, out, row, [&] {
    auto const other = row_bytes(out, row - 1);
    std::copy(other.begin(), other.end(), out.result_row(row));
  });
}

TEST_CASE("one fault in attention with options is found") {
  for_each_small([](option_case const& c) {
    option_operands x(c);
    REQUIRE(launch_twice(x) == "");
    REQUIRE(compare(x).wrong == "");
    check_faults(x, x.o, 64);
    check_mistaken_options(x);
  });
}

TEST_CASE("one fault in gradients of attention with options is found") {
  for_each_small([](option_case const& c) {
    backward_option_operands x({c});
    REQUIRE(launch_twice(x) == "");
    REQUIRE(compare(x).wrong == "");
    for (auto const* out : {&x.dq, &x.dk, &x.dv}) check_faults(x, *out, 64);
    // 2^-10 of a row's largest gradient, which is in fp32.
    check_faults(x, x.dbias, 1 << 13);
    check_faults(x, x.dsinks, 1 << 13);
    check_mistaken_options(x);
  });
}

// dq of one row with another derivative of the softcap than 1 - share^2, share = t / softcap, where
// t is the score behind it.
template <class Slope>
void put_with_slope(backward_option_operands const& x, std::int64_t row, Slope const& slope) {
  auto const h = read_option_head(x, 0, 0);
  option_gradients const right({h, read_option_head(x, 0, 1)});
  auto const& y = x.of;
  for (std::int64_t c = 0; c < y.d; ++c) {
    double sum = 0;
    for (std::int64_t j = 0; j < h.of.nk; ++j) {
      double const share = capped_score(h, row, j).value / double{y.softcap};
      sum += right.dbias[0][static_cast<std::size_t>(row * h.of.nk + j)].value * slope(share) *
             h.k[static_cast<std::size_t>(j * y.d + c)];
    }
    put(x.dq, x.q_row(0, row, 0), c, double{y.scale} * sum);
  }
}

TEST_CASE("a wrong derivative of the softcap is found") {
  for (dtype const type : {dtype::bf16, dtype::fp16}) {
    backward_option_operands x({small(type, true)});
    REQUIRE(launch_twice(x) == "");
    std::int64_t const row = 17, at = x.q_row(0, row, 0);
    auto const with = [&](auto const& slope) { return [&] { put_with_slope(x, row, slope); }; };
    with([](double share) { return 1 - share * share; })();
    CHECK(compare(x).wrong == "");
    wants_complaint("none", x, x.dq, at, with([](double) { return 1; }));
    wants_complaint("not squared", x, x.dq, at,
                    with([](double share) { return 1 - std::fabs(share); }));
    wants_complaint("twice", x, x.dq, at,
                    with([](double share) { return (1 - share * share) * (1 - share * share); }));
    wants_complaint("of the score", x, x.dq, at, with([](double share) {
                      double const before = std::atanh(share);
                      return 1 - before * before;
                    }));
  }
}

}  // namespace
}  // namespace tk::test
