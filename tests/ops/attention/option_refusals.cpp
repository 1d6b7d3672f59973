// SPDX-License-Identifier: MIT
// What can be wrong with the options, alone and with packed sequences, and what must be accepted.
#include "tests/ops/attention/option_faults.hpp"

#include "tests/ops/attention/scene.hpp"
#include "tests/support/streams.hpp"

using namespace scene;

TEST_CASE("the scenes are correct problems and write their outputs") {
  attention_with_options x;
  packed_attention y;
  auto const before = x.arena.content(), packed_before = y.arena.content();
  EXPECT_OK(call(x));
  CHECK(x.arena.content() != before);
  EXPECT_OK(call(y));
  CHECK(y.arena.content() != packed_before);
}

TEST_CASE("options' refusals") {
  try_faults<attention_with_options>(faults(), 1);
  try_faults<packed_attention>(faults(), 1);
  try_faults<attention_with_options>(stride_faults(), 3);
  try_all(number_faults<attention_with_options>());
  try_all(number_faults<packed_attention>());
  try_all(option_faults<attention_with_options>());
  try_all(packed_faults<packed_attention>());
  try_overlaps<attention_with_options>();
  try_overlaps<packed_attention>();
}

TEST_CASE("more sequences than can be counted") {
  packed_attention x;
  x.bias.given = nullptr;
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 1025;
  auto const sequences = [&](std::int64_t count) {
    x.q_starts.shape[0] = x.k_starts.shape[0] = count + 1;
    return tk_supports(packed_attention::op, x.get());
  };
  EXPECT_OK(sequences(most / 4));
  CHECK(sequences(most / 4 + 1) == TK_UNSUPPORTED);
  CHECK(says(tk_last_error(), "q has 4 times 536870656 blocks"));
}

TEST_CASE("nothing to write: accepted without data, and nothing happens") {
  packed_attention x;
  x.bias.given = nullptr;
  x.q_starts.shape[0] = x.k_starts.shape[0] = 1;  // no sequence
  for (auto* t : {&x.o, &x.lse})
    for (int axis = 0; axis < 2; ++axis) t->dl.strides = nullptr;
  auto const before = x.arena.content();
  EXPECT_OK(packed_attention::call(x.get()));
  CHECK(x.arena.content() == before);
}

TEST_CASE("queries look at no data of the options") {
  attention_with_options x;
  std::size_t with = 1, without = 2;
  EXPECT_OK(tk_workspace(x.op, x.get(), &with));
  for (auto const& argument : x.arguments()) argument.of->dl.byte_offset = 1;
  EXPECT_OK(tk_workspace(x.op, x.get(), &without));
  CHECK(with == without);
}

TEST_CASE("options that are off are as none, whatever their struct") {
  attention x, y;
  tk_attention_options off{};
  off.size = sizeof off;
  off.seed = 5;
  y.problem.options = &off;
  EXPECT_OK(call(x));
  EXPECT_OK(call(y));
  CHECK(x.arena.content() == y.arena.content());
}

TEST_CASE("a call's work with options is on its stream") {
  attention_with_options s;
  check_stream(s);
}
