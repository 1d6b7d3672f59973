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
TEST_CASE("token by token, the states in other places") {
  check_parts({.h = 2, .type = dtype::fp16}, {180, 181, 182, 183}, false);
}
// Some sequences have keys that go to their states.
TEST_CASE("a step of sequences of different lengths, the states in their place") {
  hedgehog_case const c{
      .b = 5, .n = 128, .h = 2, .past = 127, .states = true, .keys = {128, 65, 0, 127, 300}};
  hedgehog_operands apart(c), in_place(c);
  REQUIRE(launch_twice(apart) == "");
  for (auto const& [initial, final] : handed_on_states<hedgehog_operands>()) {
    in_place.*initial = in_place.*final;
    copy_inputs(in_place.*initial, apart.*initial);
  }
  REQUIRE(launch_twice(in_place) == "");
  row_comparison bits;
  for (auto const& x : results_of(in_place, apart))
    for (std::int64_t r = 0; r < x.all->rows(); ++r) bits.add(*x.few, r, *x.all, r);
  CHECK_MESSAGE(bits.wrong() == "", bits.wrong());
  auto const v = compare(apart);
  CHECK_MESSAGE(v.ok(), describe(c) << "\n  " << v.wrong);
}
// Each of its operands lies otherwise than the rest.
TEST_CASE("a step of which one operand begins at any address") {
  for (int const which : {0, 1, 2, 3, 4}) {
    hedgehog_operands x({.b = 2, .n = 70, .h = 2, .past = 69, .states = true});
    x.of.misalignment = 1;
    if (which == 0) x.k = x.make(70, role::input, 62);
    if (which == 1) x.v = x.make(70, role::input, 63);
    if (which == 2) x.map_q = x.make_map(64);
    if (which == 3) fill(x.initial_kv = x.make_state(role::input), data::reals, 68);
    if (which == 4) x.final_kv = x.make_state(role::output);
    REQUIRE(launch_twice(x) == "");
    auto const v = compare(x);
    CHECK_MESSAGE(v.ok(), "operand " << which << ": " << v.wrong);
  }
}
// One feature of a query is 1, those of the state are others.
TEST_CASE("the least feature counts") {
  for (auto const repeat : {TK_REPEAT_RUN, TK_REPEAT_ROW}) {
    hedgehog_operands x({.n = 1, .states = true});
    x.repeat = repeat;
    for (std::int64_t d = 0; d < hedgehog_width; ++d) {
      set(x.q, 0, d, 1);
      set(x.initial_k, 0, d, d > 0 && d < hedgehog_features ? 1e6 : 0);
      for (std::int64_t f = 0; f < hedgehog_features; ++f) set(x.map_q, d, f, f == 0 ? 1 : 0);
    }
    REQUIRE(launch_twice(x) == "");
    auto const v = compare(x);
    CHECK_MESSAGE(v.ok(), v.wrong);
  }
}
TEST_CASE("states that are not there") {
  check_absent_states<hedgehog_operands>({.b = 2, .n = 70, .h = 2, .past = 69});
  check_absent_states<hedgehog_operands>({.n = 130, .past = 70});
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
