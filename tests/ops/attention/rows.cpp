// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// Rows of o and lse under TK_REPEAT_ROW: the same bits whatever queries, heads and batches are
// beside them, and whatever keys they do not see. The mask is aligned to the last key, so a small
// problem takes a head's last queries, or its first ones and fewer keys.
#include "tests/ops/attention/attention_forward.hpp"
#include "tests/ops/attention/prefixes.hpp"
#include "tests/support/rows.hpp"

namespace tk::test {
namespace {

// The last nq queries of batches [b0, b0 + b), query heads of key heads [h0, h0 + hk).
struct part {
  std::int64_t nq, b0, b, h0, hk;
};

std::string compare_part(attention_operands const& large, part const& p, std::int64_t& rows) {
  attention_case const& all = large.of;
  std::int64_t const group = all.hq / all.hk, hq = p.hk * group, first = all.nq - p.nq;
  attention_operands few({.b = 0, .hq = 1, .hk = 1, .nq = 0, .nk = 0, .d = 8, .dv = 8});
  few.of = all;
  few.of.b = p.b, few.of.nq = p.nq, few.of.hq = hq, few.of.hk = p.hk;
  auto const cut = [&](tensor x, std::int64_t n0, std::int64_t n, std::int64_t h0, std::int64_t h) {
    x.origin += p.b0 * x.strides[0] + n0 * x.strides[1] + h0 * x.strides[2];
    x.shape[0] = p.b, x.shape[1] = n, x.shape[2] = h;
    return x;
  };
  few.q = cut(large.q, first, p.nq, p.h0 * group, hq);
  few.k = cut(large.k, 0, all.nk, p.h0, p.hk);
  few.v = cut(large.v, 0, all.nk, p.h0, p.hk);
  world outputs(7);
  few.o = place(outputs, all.type, {p.b, p.nq, hq, all.dv}, {}, role::output);
  few.lse =
      outputs.make(dtype::fp32, {p.b, hq, p.nq, 1}, row_major({p.b, hq, p.nq, 1}), role::output);
  tensor const lse = few.lse;  // a row of one number; the op sees three dimensions
  few.lse.shape.pop_back(), few.lse.strides.pop_back();
  if (auto const wrong = launch_by_rows(few, outputs); !wrong.empty()) return wrong;
  tensor all_lse = large.lse;
  all_lse.shape.push_back(1), all_lse.strides.push_back(1);
  row_comparison bits;
  for (std::int64_t b = 0; b < p.b; ++b)
    for (std::int64_t h = 0; h < hq; ++h)
      for (std::int64_t i = 0; i < p.nq; ++i) {
        std::int64_t const from = p.h0 * group + h;
        bits.add(few.o, (b * p.nq + i) * hq + h, large.o,
                 ((p.b0 + b) * all.nq + first + i) * all.hq + from);
        bits.add(lse, (b * hq + h) * p.nq + i, all_lse,
                 ((p.b0 + b) * all.hq + from) * all.nq + first + i);
      }
  rows += bits.compared();
  return bits.wrong();
}

void check_rows(attention_case const& x) {
  attention_operands large(x);
  upload_inputs(large.memories);
  REQUIRE(launch_by_rows(large, large.memories) == "");
  std::int64_t rows = 0, problems = 0, turn = 0;
  for (std::int64_t const nq : row_counts(x.nq)) {
    std::int64_t const b0 = turn % x.b, h0 = turn % x.hk;
    ++turn;
    part const p{nq, b0, 1 + turn % (x.b - b0), h0, 1 + turn % (x.hk - h0)};
    auto const wrong = compare_part(large, p, rows);
    CHECK_MESSAGE(wrong == "", describe(x) << "\n  last " << p.nq << " queries of " << p.b
                                           << " batches, " << p.hk << " key heads: " << wrong);
    ++problems;
  }
  with_other_multiprocessors([&] {
    auto const wrong = compare_part(large, {x.nq, 0, x.b, 0, x.hk}, rows);
    CHECK_MESSAGE(wrong == "", describe(x) << "\n  all queries: " << wrong);
    ++problems;
  });
  std::printf("%s: %lld rows of %lld small problems\n", describe(x).c_str(),
              static_cast<long long>(rows), static_cast<long long>(problems));
}

TEST_CASE("rows of attention do not depend on the other rows") {
  bool const quick = test_level() == level::quick, card = test_level() == level::card;
  for (std::int64_t const d : {64, 128, 256}) {
    attention_case x{
        .b = card ? 4 : 2, .hq = card ? 8 : 4, .hk = 2, .nq = 0, .nk = 0, .d = d, .dv = d};
    x.nq = quick ? 130 : card ? 8192 : 1025;
    x.nk = quick ? 200 : card ? 8192 : 1100;
    x.type = d == 128 ? dtype::fp16 : dtype::bf16;
    check_rows(x);
    x.mask = TK_MASK_CAUSAL;
    if (!quick || d == 64) check_rows(x);
  }
}

std::string compare_prefix(option_operands const& all, std::int64_t nq, row_comparison& bits) {
  option_operands few({});
  take_prefix(few, all, nq);
  tensor lse = all.lse;
  lse.shape.back() = nq;
  tensor o = all.o;
  o.shape[1] = nq;
  world outputs(7);
  few.o = apart(outputs, o), few.lse = apart(outputs, lse);
  auto const wrong = launch_by_rows(few, outputs);
  for (std::int64_t row = 0; row < few.o.rows(); ++row) bits.add(few.o, row, o, row);
  for (std::int64_t head = 0; head < few.lse.rows(); ++head) bits.add(few.lse, head, lse, head);
  return wrong;
}

TEST_CASE("rows of attention do not depend on keys that they do not see") {
  for (auto const& x : cases_of_prefixes()) {
    option_operands all(x);
    check_prefixes(all, compare_prefix);
  }
}

}  // namespace
}  // namespace tk::test
