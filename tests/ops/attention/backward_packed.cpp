// SPDX-License-Identifier: MIT
// timeout: 900
// Packed sequences in the backward: of every length, with options, each the same bit for bit as
// alone; offsets that are wrong end and write nothing outside, and what is in one sequence stays
// there.
#include "tests/ops/attention/backward_options_oracle.hpp"
#include "tests/ops/attention/option_cases.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

std::vector<backward_option_case> cases_of(std::vector<option_case> const& forward) {
  std::vector<backward_option_case> cases;
  for (auto const& x : forward) {
    auto const turn = cases.size();
    cases.push_back({x, turn % 2 == 1, turn % 5 != 4});
  }
  return cases;
}

TEST_CASE("packed sequences of every length, backward") {
  run_table("lengths", cases_of(packed_lengths()));
}
TEST_CASE("packed sequences with lengths at most, backward") {
  run_table("limits", cases_of(packed_limits()));
}

void copy_rows(tensor& to, tensor const& from, std::int64_t first) {
  for (std::int64_t r = 0; r < to.rows(); ++r)
    std::memcpy(to.image_row(r), from.image_row(first + r),
                static_cast<std::size_t>(to.cols() * bytes_of(to.type)));
}
std::int64_t different_rows(tensor const& one, tensor const& all, std::int64_t first) {
  std::int64_t different = 0;
  for (std::int64_t r = 0; r < one.rows(); ++r)
    different += std::memcmp(one.result_row(r), all.result_row(first + r),
                             static_cast<std::size_t>(one.cols() * bytes_of(one.type))) != 0;
  return different;
}

// Random bytes follow a sequence's number, which is another one alone.
TEST_CASE("a packed sequence's gradients have the bits that they have alone") {
  lengths const nq{33, 130, 1, 0, 77}, nk{45, 200, 300, 20, 77};
  std::int64_t rows = 0, different = 0;
  for (std::int64_t const d : {64, 128, 256}) {
    auto c = packed(nq, nk);
    c.d = c.dv = d;
    if (d == 64) c.mask = TK_MASK_CAUSAL;
    if (d == 128) c.left = 50, c.right = 20;
    if (d == 256) c.softcap = 5, c.alibi = alibi_use::by_head;
    backward_option_operands all({c});
    REQUIRE(launch_twice(all) == "");
    for (std::int64_t s = 0; s < c.b; ++s) {
      auto const i = static_cast<std::size_t>(s);
      auto one = c;
      one.b = 1, one.nq = nq[i], one.nk = nk[i];
      one.q_starts = starts_of({nq[i]}), one.k_starts = starts_of({nk[i]});
      backward_option_operands alone({one});
      auto const of = span_of(c, s);
      for (auto const& [to, from] :
           {std::pair{&alone.q, &all.q}, {&alone.o, &all.o}, {&alone.dout, &all.dout}})
        copy_rows(*to, *from, of.q * c.hq);
      for (auto const& [to, from] : {std::pair{&alone.k, &all.k}, {&alone.v, &all.v}})
        copy_rows(*to, *from, of.k * c.hk);
      for (std::int64_t h = 0; h < c.hq; ++h)
        std::memcpy(alone.lse.image_row(h), all.lse.image_row(h) + 4 * of.q,
                    static_cast<std::size_t>(4 * of.nq));
      REQUIRE(launch_twice(alone) == "");
      different += different_rows(alone.dq, all.dq, of.q * c.hq);
      different += different_rows(alone.dk, all.dk, of.k * c.hk);
      different += different_rows(alone.dv, all.dv, of.k * c.hk);
      rows += alone.dq.rows() + alone.dk.rows();
    }
  }
  CHECK(rows == 3 * (2 * (33 + 130 + 1 + 77) + 45 + 200 + 300 + 20 + 77));
  CHECK(different == 0);
}

TEST_CASE("NaN in one packed sequence stays there, backward") {
  for (std::int64_t const d : {64, 128, 256})
    for (auto const mask : {TK_MASK_NONE, TK_MASK_CAUSAL}) {
      auto c = packed({20, 70, 31}, {37, 70, 90});
      c.d = c.dv = d, c.mask = mask;
      backward_option_operands x({c});
      auto const bad = span_of(c, 1);
      auto const spoil = [&](tensor& t, std::int64_t first, std::int64_t count) {
        for (std::int64_t r = first; r < first + count; ++r)
          for (std::int64_t col = 0; col < t.cols(); ++col) set(t, r, col, std::nan(""));
      };
      for (auto* const t : {&x.k, &x.v}) spoil(*t, bad.k * c.hk, bad.nk * c.hk);
      for (auto* const t : {&x.q, &x.o, &x.dout}) spoil(*t, bad.q * c.hq, bad.nq * c.hq);
      REQUIRE(launch_twice(x) == "");
      for (auto const* const t : {&x.dq, &x.dk, &x.dv}) {
        bool const of_q = t == &x.dq;
        std::int64_t const heads = of_q ? c.hq : c.hk, first = (of_q ? bad.q : bad.k) * heads,
                           count = (of_q ? bad.nq : bad.nk) * heads;
        std::int64_t wrong = 0, reached = 0;
        for (std::int64_t r = 0; r < t->rows(); ++r) {
          bool const inside = r >= first && r < first + count;
          (inside ? reached : wrong) += !std::isfinite(decode(c.type, t->result_row(r)));
        }
        CHECK(wrong == 0);
        CHECK(reached == count);
      }
    }
}

// Sequences whose rows and blocks would lie on one another.
TEST_CASE("offsets that fall count as the largest before them, backward") {
  auto c = packed({500, 0, 100}, {500, 0, 100});
  c.hq = 1;
  backward_option_operands right({c});
  c.q_starts[2] = c.k_starts[2] = 20;
  backward_option_operands wrong({c});
  for (auto const& [to, from] : {std::pair{&wrong.o, &right.o}, {&wrong.lse, &right.lse}})
    copy_rows(*to, *from, 0);
  REQUIRE(launch_twice(right) == "");
  REQUIRE(launch_twice(wrong) == "");
  CHECK(different_rows(wrong.dq, right.dq, 0) == 0);
  CHECK(different_rows(wrong.dk, right.dk, 0) == 0);
  CHECK(different_rows(wrong.dv, right.dv, 0) == 0);
}

// Whatever the offsets, only elements of outputs are written, and the launches end.
TEST_CASE("wrong offsets touch nothing outside, backward") {
  for (auto const& x : packed_wrongly()) {
    INFO(describe(x));
    backward_option_operands operands({x});
    REQUIRE(launch_wrongly(operands) == "");
    std::vector<tensor> written{operands.dq, operands.dk, operands.dv};
    for (auto const* t : {&operands.dbias, &operands.dsinks})
      if (t->in) written.push_back(*t);
    REQUIRE(check_untouched(operands.memories, written) == "");
  }
}

}  // namespace
}  // namespace tk::test
