// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// Rows of dq under TK_REPEAT_ROW: the same bits whatever queries, heads and batches are beside
// them, and whatever keys they do not see. The mask is aligned to the last key, so a small problem
// takes a head's last queries, or its first ones and fewer keys.
#include "tests/ops/attention/backward_options_oracle.hpp"
#include "tests/ops/attention/backward_oracle.hpp"
#include "tests/ops/attention/prefixes.hpp"
#include "tests/support/rows.hpp"

namespace tk::test {
namespace {

// The last nq queries of batches [b0, b0 + b), query heads of key heads [h0, h0 + hk).
struct part {
  std::int64_t nq, b0, b, h0, hk;
};

std::string compare_part(attention_backward_operands const& large, part const& p,
                         std::int64_t& rows) {
  attention_case const& all = large.of;
  std::int64_t const group = all.hq / all.hk, hq = p.hk * group, first = all.nq - p.nq;
  attention_backward_operands few({{.b = 0, .hq = 1, .hk = 1, .nq = 0, .nk = 0, .d = 8, .dv = 8}});
  few.of = all;
  few.of.b = p.b, few.of.nq = p.nq, few.of.hq = hq, few.of.hk = p.hk;
  auto const cut = [&](tensor x, std::int64_t n0, std::int64_t n, std::int64_t h0, std::int64_t h) {
    x.origin += p.b0 * x.strides[0] + n0 * x.strides[1] + h0 * x.strides[2];
    x.shape[0] = p.b, x.shape[1] = n, x.shape[2] = h;
    return x;
  };
  auto const queries = [&](tensor const& x) { return cut(x, first, p.nq, p.h0 * group, hq); };
  auto const keys = [&](tensor const& x) { return cut(x, 0, all.nk, p.h0, p.hk); };
  few.q = queries(large.q), few.o = queries(large.o), few.dout = queries(large.dout);
  few.k = keys(large.k), few.v = keys(large.v);
  few.lse = large.lse;
  few.lse.origin += p.b0 * large.lse.strides[0] + p.h0 * group * large.lse.strides[1] + first;
  few.lse.shape = {p.b, hq, p.nq};
  few.lse.null_strides = false;
  world outputs(7);
  few.dq = place(outputs, all.type, {p.b, p.nq, hq, all.d}, {}, role::output);
  few.dk = place(outputs, all.type, {p.b, all.nk, p.hk, all.d}, {}, role::output);
  few.dv = place(outputs, all.type, {p.b, all.nk, p.hk, all.dv}, {}, role::output);
  if (auto const wrong = launch_by_rows(few, outputs); !wrong.empty()) return wrong;
  row_comparison bits;
  for (std::int64_t b = 0; b < p.b; ++b)
    for (std::int64_t h = 0; h < hq; ++h)
      for (std::int64_t i = 0; i < p.nq; ++i)
        bits.add(few.dq, row_of_head(few.dq, b, h, i), large.dq,
                 row_of_head(large.dq, p.b0 + b, p.h0 * group + h, first + i));
  rows += bits.compared();
  return bits.wrong();
}

void check_rows(attention_case const& x) {
  attention_backward_operands large({x});
  upload_inputs(large.memories);
  REQUIRE(launch_by_rows(large, large.memories) == "");
  std::int64_t rows = 0, problems = 0, turn = 0;
  for (std::int64_t const nq : row_counts(x.nq)) {
    std::int64_t const b0 = turn % x.b, h0 = turn % x.hk;
    ++turn;
    part const p{nq, b0, 1 + turn % (x.b - b0), h0, 1 + turn % (x.hk - h0)};
    auto const wrong = compare_part(large, p, rows);
    CHECK_MESSAGE(wrong == "", describe(large.all)
                                   << "\n  last " << p.nq << " queries of " << p.b << " batches, "
                                   << p.hk << " key heads: " << wrong);
    ++problems;
  }
  with_other_multiprocessors([&] {
    auto const wrong = compare_part(large, {x.nq, 0, x.b, 0, x.hk}, rows);
    CHECK_MESSAGE(wrong == "", describe(large.all) << "\n  all queries: " << wrong);
    ++problems;
  });
  std::printf("%s: %lld rows of %lld small problems\n", describe(large.all).c_str(),
              static_cast<long long>(rows), static_cast<long long>(problems));
}

TEST_CASE("rows of dq do not depend on the other rows") {
  bool const quick = test_level() == level::quick, card = test_level() == level::card;
  for (std::int64_t const d : {64, 128, 256}) {
    attention_case x{
        .b = card ? 4 : 2, .hq = card ? 8 : 4, .hk = 2, .nq = 0, .nk = 0, .d = d, .dv = d};
    x.nq = quick ? 130 : card ? 4096 : 513;
    x.nk = quick ? 300 : card ? 4096 : 700;
    x.type = d == 128 ? dtype::fp16 : dtype::bf16;
    x.sampled_rows = card ? 16 : 0;
    check_rows(x);
    x.mask = TK_MASK_CAUSAL;
    if (!quick || d == 64) check_rows(x);
  }
}

std::string compare_prefix(backward_option_operands const& all, std::int64_t nq,
                           row_comparison& bits) {
  backward_option_operands few({});
  take_prefix(few, all, nq);
  auto const first = [&](tensor x) {
    x.shape[1] = nq;
    return x;
  };
  few.o = first(all.o), few.dout = first(all.dout);
  few.lse = all.lse;
  few.lse.shape.back() = nq;
  tensor const dq = first(all.dq);
  world outputs(7);
  few.dq = apart(outputs, dq), few.dk = apart(outputs, few.k), few.dv = apart(outputs, few.v);
  auto const wrong = launch_by_rows(few, outputs);
  for (std::int64_t row = 0; row < few.dq.rows(); ++row) bits.add(few.dq, row, dq, row);
  return wrong;
}

TEST_CASE("rows of dq do not depend on keys that they do not see") {
  for (auto const& x : cases_of_prefixes()) {
    backward_option_operands all({x});
    check_prefixes(all, compare_prefix);
  }
}

}  // namespace
}  // namespace tk::test
