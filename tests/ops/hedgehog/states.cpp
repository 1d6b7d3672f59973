// SPDX-License-Identifier: MIT
// timeout: 600
// Sequences in several calls, each with the keys of its window and the states of the one before:
// prompts in parts, steps of decoding with the states in place. All tokens are right by the oracle
// of the unsplit sequence. And long sequences in segments.
#include "tests/ops/hedgehog/part.hpp"

namespace tk::test {
namespace {

void copy_tokens(tensor& to, hedgehog_case const& of, tensor const& from, hedgehog_case const& all,
                 scan_part const& p) {
  auto part = tokens_of(to, of, {0, 0, p.n, 0, p.h});
  copy_inputs(part, tokens_of(from, all, p));
}

// Tokens [first, last) of the first sequence, which follow what `before` has computed.
std::unique_ptr<hedgehog_operands> run_part(hedgehog_operands& whole, std::int64_t first,
                                            std::int64_t last, hedgehog_operands* before,
                                            bool in_place) {
  auto const window = std::max<std::int64_t>(0, first / 64 - 1) * 64;
  auto c = whole.of;
  c.n = last - window, c.past = first - window;
  auto part = std::make_unique<hedgehog_operands>(c);
  hedgehog_case queries = c, keys = c;
  queries.n = last - first;
  copy_tokens(part->q, queries, whole.q, whole.of, {0, first, last - first, 0, c.h});
  copy_tokens(part->k, keys, whole.k, whole.of, {0, window, last - window, 0, c.h});
  copy_tokens(part->v, keys, whole.v, whole.of, {0, window, last - window, 0, c.h});
  if (before && in_place) part->initial_kv = part->final_kv, part->initial_k = part->final_k;
  if (before) {
    hand_on(part->initial_kv, before->final_kv);
    hand_on(part->initial_k, before->final_k);
  }
  auto const wrong = launch_twice(*part);
  REQUIRE_MESSAGE(wrong == "", wrong);
  copy_results(tokens_of(whole.o, whole.of, {0, first, last - first, 0, c.h}), part->o);
  return part;
}
void check_parts(hedgehog_case c, std::vector<std::int64_t> const& ends, bool in_place) {
  c.states = true;
  c.n = ends.back();
  hedgehog_operands whole(c);
  REQUIRE(launch_twice(whole) == "");
  std::unique_ptr<hedgehog_operands> before;
  std::int64_t first = 0;
  for (auto const last : ends) {
    before = run_part(whole, first, last, before.get(), in_place);
    first = last;
  }
  copy_results(whole.final_kv, before->final_kv);
  copy_results(whole.final_k, before->final_k);
  auto const v = compare(whole);
  CHECK_MESSAGE(v.ok(), describe(c) << "\n  " << v.wrong);
}

TEST_CASE("a sequence in several calls") {
  check_parts({.h = 2}, {64, 200}, false);
  check_parts({.h = 2, .type = dtype::fp16}, {1, 130, 131, 260}, true);
  check_parts({}, {100, 128, 192, 200}, false);
  check_parts({.type = dtype::fp16}, {300, 400}, true);
}
TEST_CASE("token by token, the states in their place") {
  std::vector<std::int64_t> ends{180};
  for (std::int64_t n = 181; n <= 200; ++n) ends.push_back(n);
  check_parts({.h = 2}, ends, true);
}
TEST_CASE("from the first token on") {
  std::vector<std::int64_t> ends;
  for (std::int64_t n = 1; n <= (test_level() == level::quick ? 3 : 200); ++n) ends.push_back(n);
  check_parts({}, ends, true);
}

TEST_CASE("long sequences in segments") {
  std::vector<hedgehog_case> const all{
      {.n = cut_length(), .states = true},
      {.n = cut_length(), .past = 1100, .type = dtype::fp16, .states = true},
      {.states = true, .lengths = {1000, 1088, 0, 1700, 76}},
      {.type = dtype::fp16, .lengths = {0, 1025, 1024, 1751}}};
  for (auto const& c : all) {
    REQUIRE(is_cut(c) == true);
    auto const v = run(c);
    CHECK_MESSAGE(v.ok(), describe(c) << "\n  " << v.wrong);
  }
}

}  // namespace
}  // namespace tk::test
