// SPDX-License-Identifier: MIT
// timeout: 600
// Small whole numbers, decays that keep all or nothing, a scale that is a power of two: every sum
// and every rounding is exact, so results are equal to the last bit, in one call or many, walked or
// cut. A token too few or too many is not within anybody's tolerance.
#include "tests/ops/linear_attention/chain.hpp"

namespace tk::test {
namespace {

// 1 of 16 tokens forgets all that came before, where decays are of tokens.
bool forgets(scan_inputs const& x, span const& at, std::int64_t t, std::int64_t head) {
  return x.log_decay_at(at, t, head) < 0;
}
void fill_inputs(scan_inputs& x) {
  fill(x.q, data::sparse, 51), fill(x.k, data::sparse, 52), fill(x.v, data::sparse, 53);
  if (x.initial.in) fill(x.initial, data::integers, 54);
  if (x.decay.in) fill(x.decay, data::zeros, 0);
  if (x.log_decay.in)
    for (std::int64_t r = 0; r < x.log_decay.rows(); ++r)
      for (std::int64_t c = 0; c < x.of.h; ++c) {
        auto const at = static_cast<std::uint64_t>(r * x.of.h + c);
        set(x.log_decay, r, c, random_below(16, 55, at) == 0 ? -1e30 : 0);
      }
}
void fill_inputs(backward_operands& x) {
  fill_inputs(static_cast<scan_inputs&>(x));
  fill(x.dout, data::sparse, 56);
  if (x.dfinal.in) fill(x.dfinal, data::integers, 57);
}

using numbers = std::vector<double>;

// Counts numbers that are not what they should be, and says whether they can be exact at all.
class equality {
 public:
  void add(tensor const& got, std::int64_t row, numbers const& wanted) {
    numbers x(wanted.size());
    read_row(got.type, got.result_row(row), got.cols(), x.data());
    for (std::size_t c = 0; c < x.size(); ++c) {
      differ_ += !(x[c] == wanted[c]);
      inexact_ += rounded(got.type, wanted[c]) != wanted[c];
      nonzero_ += wanted[c] != 0;
    }
    compared_ += static_cast<std::int64_t>(x.size());
  }
  // Of what a kernel rounds on its way.
  void needs(dtype type, numbers const& all) {
    for (double const x : all) inexact_ += rounded(type, x) != x;
  }
  void check(std::string const& of) const {
    CHECK_MESSAGE(differ_ == 0, of << ": " << differ_ << " of " << compared_ << " differ");
    CHECK_MESSAGE(inexact_ == 0, of << ": " << inexact_ << " cannot be exact");
    CHECK_MESSAGE(nonzero_ > compared_ / 64, of);
  }

 private:
  std::int64_t compared_ = 0, differ_ = 0, inexact_ = 0, nonzero_ = 0;
};

// [d, dv] numbers.
struct exact_state {
  std::int64_t d, dv;
  numbers x;
  exact_state(scan_case const& c, tensor const& from, std::int64_t state)
      : d(c.d), dv(c.dv), x(static_cast<std::size_t>(d * dv)) {
    for (std::int64_t r = 0; r < d && from.in; ++r)
      read_row(dtype::fp32, from.image_row(state * d + r), dv, x.data() + r * dv);
  }
  double& at(std::int64_t r, std::int64_t c) { return x[static_cast<std::size_t>(r * dv + c)]; }
  void forget() { std::fill(x.begin(), x.end(), 0); }
  void add(double factor, double const* a, double const* b) {
    for (std::int64_t r = 0; r < d; ++r)
      for (std::int64_t c = 0; a[r] != 0 && c < dv; ++c) at(r, c) += factor * a[r] * b[c];
  }
  numbers along_rows(double factor, double const* a) {  // a S
    numbers y(static_cast<std::size_t>(dv));
    for (std::int64_t r = 0; r < d; ++r)
      for (std::int64_t c = 0; a[r] != 0 && c < dv; ++c)
        y[static_cast<std::size_t>(c)] += factor * a[r] * at(r, c);
    return y;
  }
  numbers along_cols(double factor, double const* b) {  // S b
    numbers y(static_cast<std::size_t>(d));
    for (std::int64_t r = 0; r < d; ++r)
      for (std::int64_t c = 0; c < dv; ++c)
        y[static_cast<std::size_t>(r)] += factor * at(r, c) * b[c];
    return y;
  }
  void compare(equality& to, tensor const& got, std::int64_t state) const {
    for (std::int64_t r = 0; r < d; ++r)
      to.add(got, state * d + r, {x.begin() + r * dv, x.begin() + (r + 1) * dv});
  }
};

void check_exact(forward_operands const& x) {
  auto const& c = x.of;
  equality o, final;
  for (std::int64_t i = 0; i < sequences(c) * c.h; ++i) {
    std::int64_t const s = i / c.h, head = i % c.h;
    auto const at = span_of(c, s);
    head_inputs const in(x, nullptr, at, head);
    exact_state state(c, x.initial, i);
    for (std::int64_t t = 0; t < at.n; ++t) {
      if (forgets(x, at, t, head)) state.forget();
      state.add(1, in.k.data() + t * c.d, in.v.data() + t * c.dv);
      if (t % 64 == 63) o.needs(c.type, state.x);
      o.add(x.o, x.row(at, t, head), state.along_rows(c.scale, in.q.data() + t * c.d));
    }
    if (c.states) state.compare(final, x.final, i);
  }
  o.check("o of " + describe(c));
  if (c.states) final.check("final_state of " + describe(c));
}

double product(numbers const& a, numbers const& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// dlog_decay of a token is <S_(t-1), D_t> where all is kept, 0 where all is forgotten.
void check_exact(backward_operands const& x) {
  auto const& c = x.of;
  equality dq, dk, dv, dinitial, decay;
  numbers ddecay(static_cast<std::size_t>(c.h));
  std::vector<numbers> dlog(x.dlog_decay.in ? static_cast<std::size_t>(x.dlog_decay.rows()) : 0,
                            numbers(static_cast<std::size_t>(c.h)));
  for (std::int64_t i = 0; i < sequences(c) * c.h; ++i) {
    std::int64_t const s = i / c.h, head = i % c.h;
    auto const at = span_of(c, s);
    head_inputs const in(x, &x.dout, at, head);
    exact_state state(c, x.initial, i), grad(c, x.dfinal, i);
    // Of each token q dq and k dk, whose differences sum up to what decays get.
    numbers met(static_cast<std::size_t>(at.n));
    for (std::int64_t t = 0; t < at.n; ++t) {
      if (forgets(x, at, t, head)) state.forget();
      state.add(1, in.k.data() + t * c.d, in.v.data() + t * c.dv);
      auto const row = state.along_cols(c.scale, in.dout.data() + t * c.dv);
      for (std::int64_t r = 0; r < c.d; ++r)
        met[static_cast<std::size_t>(t)] +=
            in.q[static_cast<std::size_t>(t * c.d + r)] * row[static_cast<std::size_t>(r)];
      dq.add(x.dq, x.row(at, t, head), row);
    }
    double sum = product(state.x, grad.x);
    for (std::int64_t t = at.n; t-- > 0;) {
      grad.add(c.scale, in.q.data() + t * c.d, in.dout.data() + t * c.dv);
      if (t % 64 == 0) dk.needs(c.type, grad.x);
      auto const row = grad.along_cols(1, in.v.data() + t * c.dv);
      dk.add(x.dk, x.row(at, t, head), row);
      dv.add(x.dv, x.row(at, t, head), grad.along_rows(1, in.k.data() + t * c.d));
      sum += met[static_cast<std::size_t>(t)];
      for (std::int64_t r = 0; r < c.d; ++r)
        sum -= in.k[static_cast<std::size_t>(t * c.d + r)] * row[static_cast<std::size_t>(r)];
      bool const lost = forgets(x, at, t, head);
      if (lost) CHECK(sum == 0);
      if (!dlog.empty())
        dlog[static_cast<std::size_t>(x.row(at, t, 0) / c.h)][static_cast<std::size_t>(head)] = sum;
      ddecay[static_cast<std::size_t>(head)] -= sum;
      if (lost) grad.forget();
    }
    if (c.states) grad.compare(dinitial, x.dinitial, i);
  }
  for (std::size_t r = 0; r < dlog.size(); ++r)
    decay.add(x.dlog_decay, static_cast<std::int64_t>(r), dlog[r]);
  if (x.ddecay.in) decay.add(x.ddecay, 0, ddecay);
  dq.check("dq of " + describe(c)), dk.check("dk of " + describe(c));
  dv.check("dv of " + describe(c));
  if (c.states) dinitial.check("dinitial_state of " + describe(c));
  if (c.decay != decays::none) decay.check("gradients of decays of " + describe(c));
}

std::vector<scan_case> cases() {
  std::vector<scan_case> all;
  for (auto const decay : {decays::none, decays::heads, decays::vanishing}) {
    all.push_back({.b = 2, .n = 150, .h = 2, .decay = decay, .states = true});
    all.push_back({.n = 90, .h = 2, .d = 128, .dv = 48, .decay = decay});
    all.push_back({.n = 70, .d = 32, .dv = 256, .decay = decay, .states = true});
    all.push_back({.h = 3, .d = 48, .decay = decay, .states = true, .lengths = {1, 0, 70, 64}});
    all.push_back({.n = cut_length(), .d = 16, .dv = 16, .decay = decay, .states = true});
    for (auto i = all.size() - 5; i < all.size(); ++i) {
      all[i].type = i % 2 ? dtype::fp16 : dtype::bf16;
      all[i].scale = i % 3 ? 0.5f : -1.f;
    }
  }
  return all;
}
template <class Operands> void check_cases() {
  for (auto const& c : cases()) {
    Operands x(c);
    fill_inputs(x);
    REQUIRE(launch_twice(x) == "");
    check_exact(x);
  }
}

TEST_CASE("whole numbers are exact") { check_cases<forward_operands>(); }
TEST_CASE("gradients of whole numbers are exact") { check_cases<backward_operands>(); }

TEST_CASE("whole numbers are exact in many calls") {
  for (auto const decay : {decays::none, decays::vanishing})
    for (bool const by_token : {false, true}) {
      scan_case const c{
          .b = 2, .n = by_token ? 12 : 170, .h = 2, .decay = decay, .states = true, .scale = -0.5f};
      auto const lengths =
          by_token ? std::vector<std::int64_t>(12, 1) : std::vector<std::int64_t>{1, 64, 0, 35, 70};
      forward_operands x(c);
      backward_operands grad(c);
      fill_inputs(x), fill_inputs(grad);
      REQUIRE(launch_twice(x) == "");
      REQUIRE(launch_twice(grad) == "");
      run_in_parts(grad, x, lengths);
      check_exact(grad);
      check_exact(x);
      run_in_parts(x, lengths, true);
      check_exact(x);
    }
}

}  // namespace
}  // namespace tk::test
