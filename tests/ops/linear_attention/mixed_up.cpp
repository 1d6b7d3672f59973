// SPDX-License-Identifier: MIT
// The tests' own tests, as if a launch had mixed something up: a token or a chunk left out, decays
// of the token before, states of another sequence or head, transposed, added twice; results of
// another head; gradients of decays without what meets at a chunk's end. The oracle finds each.
#include "tests/ops/linear_attention/oracle.hpp"
#include "tests/support/spoil.hpp"

namespace tk::test {
namespace {

using bytes = std::vector<std::byte>;
bytes image_of(tensor const& x, std::int64_t row) {
  return {x.image_row(row), x.image_row(row) + x.cols() * bytes_of(x.type)};
}
void put_image(tensor& x, std::int64_t row, bytes const& from) {
  std::copy(from.begin(), from.end(), x.image_row(row));
}

// What the oracle is given, of all rows of an input, other than what was launched.
template <class Operands, class Change>
void finds(char const* what, Operands& x, tensor& input, Change const& change) {
  std::vector<bytes> was;
  for (std::int64_t r = 0; r < input.rows(); ++r) was.push_back(image_of(input, r));
  change(was);
  CHECK_MESSAGE(!compare(x).ok(), what << " in " << describe(x.of));
  for (std::size_t r = 0; r < was.size(); ++r)
    put_image(input, static_cast<std::int64_t>(r), was[r]);
}
template <class Operands>
void finds_swap(char const* what, Operands& x, tensor& of_rows, std::int64_t a, std::int64_t b,
                std::int64_t count) {
  finds(what, x, of_rows, [&](std::vector<bytes> const& was) {
    for (std::int64_t r = 0; r < count; ++r) {
      put_image(of_rows, a + r, was[static_cast<std::size_t>(b + r)]);
      put_image(of_rows, b + r, was[static_cast<std::size_t>(a + r)]);
    }
  });
}
template <class Operands> void finds_transposed(char const* what, Operands& x, tensor& states) {
  finds(what, x, states, [&](std::vector<bytes> const& was) {
    for (std::int64_t r = 0; r < x.of.d; ++r)
      for (std::int64_t c = 0; c < x.of.dv; ++c)
        set(states, r, c, decode(dtype::fp32, was[static_cast<std::size_t>(c)].data() + r * 4));
  });
}
// As if they had been 0, or had come twice.
template <class Operands>
void finds_factor(char const* what, Operands& x, tensor& input, std::int64_t first,
                  std::int64_t count, std::int64_t step, double factor) {
  finds(what, x, input, [&](std::vector<bytes> const& was) {
    for (std::int64_t r = first; r < first + count * step; r += step)
      for (std::int64_t c = 0; c < input.cols(); ++c) {
        auto const* const from = was[static_cast<std::size_t>(r)].data() + c * bytes_of(input.type);
        set(input, r, c, factor * decode(input.type, from));
      }
  });
}

// Results that another place should have got.
template <class Operands>
void finds_swapped_results(Operands const& x, tensor const& out, std::int64_t step) {
  std::int64_t const a = out.rows() - 1, b = a - step;
  auto const mine = row_bytes(out, a), other = row_bytes(out, b);
  std::copy(other.begin(), other.end(), out.result_row(a));
  std::copy(mine.begin(), mine.end(), out.result_row(b));
  CHECK(!compare(x).ok());
  std::copy(mine.begin(), mine.end(), out.result_row(a));
  std::copy(other.begin(), other.end(), out.result_row(b));
}

scan_case square(dtype type, decays decay) {
  return {
      .b = 2, .n = 150, .h = 2, .d = 32, .dv = 32, .type = type, .decay = decay, .states = true};
}

template <class Operands, class Own> void check(Own const& own) {
  for (auto const type : {dtype::bf16, dtype::fp16})
    for (auto const decay : {decays::none, decays::heads, decays::mild}) {
      Operands x(square(type, decay));
      auto const& c = x.of;
      REQUIRE(launch_twice(x) == "");
      REQUIRE(compare(x).wrong == "");
      for (std::int64_t const token : {0, 63, 64, 149}) {
        std::int64_t const row = x.row(span_of(c, 1), token, 0);
        finds_factor("a token left out", x, x.k, row, 1, 1, 0);
        finds_factor("a token twice", x, x.v, row, 1, 1, 2);
      }
      finds_factor("a chunk left out", x, x.k, x.row(span_of(c, 0), 64, 1), 64, c.h, 0);
      finds_factor("no initial state", x, x.initial, 0, x.initial.rows(), 1, 0);
      finds_factor("an initial state twice", x, x.initial, 3 * c.d, c.d, 1, 2);
      finds_factor("an initial state that is scaled", x, x.initial, 0, c.d, 1, c.scale);
      finds_swap("another head's state", x, x.initial, 0, c.d, c.d);
      finds_swap("another sequence's state", x, x.initial, 0, c.h * c.d, c.d);
      finds_transposed("a transposed initial state", x, x.initial);
      if (x.log_decay.in)
        for (std::int64_t const by : {-1, 1})
          finds("decays of the token before or behind", x, x.log_decay, [&](auto const& was) {
            for (std::int64_t t = 1; t + 1 < c.n; ++t)
              put_image(x.log_decay, t, was[static_cast<std::size_t>(t + by)]);
          });
      if (x.decay.in)
        finds("decays of another head", x, x.decay, [&](auto const&) {
          for (std::int64_t head = 0; head < c.h; ++head)
            set(x.decay, 0, head, head == 0 ? 1. / 64 : 0);
        });
      x.of.scale = 1;
      CHECK(!compare(x).ok());
      x.of.scale = scan_case{}.scale;
      own(x);
      CHECK(compare(x).wrong == "");
    }
}

// A final or initial state's gradient as its transpose.
template <class Operands> void finds_transposed_results(Operands const& x, tensor const& states) {
  std::vector<bytes> good;
  for (std::int64_t r = 0; r < x.of.d; ++r) good.push_back(row_bytes(states, r));
  for (std::int64_t r = 0; r < x.of.d; ++r)
    for (std::int64_t c = 0; c < x.of.dv; ++c)
      put(states, r, c, decode(dtype::fp32, good[static_cast<std::size_t>(c)].data() + r * 4));
  CHECK(!compare(x).ok());
  for (std::int64_t r = 0; r < x.of.d; ++r) {
    auto const& row = good[static_cast<std::size_t>(r)];
    std::copy(row.begin(), row.end(), states.result_row(r));
  }
}

// Each element of an output with a factor.
template <class Operands>
void finds_scaled_results(char const* what, Operands const& x, tensor const& out, double factor) {
  std::vector<bytes> good;
  for (std::int64_t r = 0; r < out.rows(); ++r) {
    good.push_back(row_bytes(out, r));
    for (std::int64_t c = 0; c < out.cols(); ++c)
      put(out, r, c, factor * decode(out.type, good.back().data() + c * bytes_of(out.type)));
  }
  CHECK_MESSAGE(!compare(x).ok(), what << " in " << describe(x.of));
  for (std::size_t r = 0; r < good.size(); ++r)
    std::copy(good[r].begin(), good[r].end(), out.result_row(static_cast<std::int64_t>(r)));
}

// A chunk's gradients of decays less the product of the states that meet at its end.
void finds_unmet_states(backward_operands& x) {
  auto const& c = x.of;
  std::int64_t const last = 63, row = x.row(span_of(c, 0), last, 0);
  std::vector<double> q(static_cast<std::size_t>(c.d)), dq(q), k(q), dk(q);
  read_row(c.type, x.q.image_row(row), c.d, q.data());
  read_row(c.type, x.k.image_row(row), c.d, k.data());
  read_row(c.type, x.dq.result_row(row), c.d, dq.data());
  read_row(c.type, x.dk.result_row(row), c.d, dk.data());
  double met = decode(dtype::fp32, x.dlog_decay.result_row(last));
  for (std::size_t i = 0; i < q.size(); ++i) met -= q[i] * dq[i] - k[i] * dk[i];
  std::vector<bytes> good;
  for (std::int64_t t = 0; t <= last; ++t) {
    good.push_back(row_bytes(x.dlog_decay, t));
    put(x.dlog_decay, t, 0, decode(dtype::fp32, good.back().data()) - met);
  }
  CHECK(!compare(x).ok());
  for (std::size_t t = 0; t < good.size(); ++t)
    std::copy(good[t].begin(), good[t].end(),
              x.dlog_decay.result_row(static_cast<std::int64_t>(t)));
}

TEST_CASE("what linear attention mixes up is found") {
  check<forward_operands>([](forward_operands& x) {
    finds_swapped_results(x, x.o, 1);
    finds_swapped_results(x, x.o, x.of.h);
    finds_swapped_results(x, x.final, x.of.d);
    finds_transposed_results(x, x.final);
    finds_scaled_results("a scaled final state", x, x.final, x.of.scale);
    finds_scaled_results("an error that is small everywhere", x, x.o, 1 + 0x1p-7);
  });
}

TEST_CASE("what linear attention's backward mixes up is found") {
  check<backward_operands>([](backward_operands& x) {
    auto const& c = x.of;
    finds_factor("a gradient left out", x, x.dout, x.row(span_of(c, 1), 64, 0), 1, 1, 0);
    finds_factor("no gradient of the final state", x, x.dfinal, 0, x.dfinal.rows(), 1, 0);
    finds_factor("that gradient scaled", x, x.dfinal, 0, c.d, 1, 1 / c.scale);
    finds_swap("another head's gradient", x, x.dfinal, 0, c.d, c.d);
    finds_swap("another sequence's gradient", x, x.dfinal, 0, c.h * c.d, c.d);
    finds_transposed("a transposed gradient", x, x.dfinal);
    for (auto const* out : {&x.dq, &x.dk, &x.dv}) {
      finds_swapped_results(x, *out, 1);
      finds_swapped_results(x, *out, c.h);
      finds_scaled_results("an error that is small everywhere", x, *out, 1 + 0x1p-7);
    }
    finds_transposed_results(x, x.dinitial);
    finds_swapped_results(x, x.dinitial, c.d);
    finds_scaled_results("a scaled gradient", x, x.dinitial, c.scale);
    for (auto const* out : {&x.dlog_decay, &x.ddecay})
      if (out->in) finds_scaled_results("the other sign", x, *out, -1);
    if (!x.dlog_decay.in) return;
    finds_swapped_results(x, x.dlog_decay, 1);
    finds_unmet_states(x);
  });
}

}  // namespace
}  // namespace tk::test
