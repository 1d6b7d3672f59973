// SPDX-License-Identifier: MIT
// What can be wrong with the options of the backward and with their gradients, alone and with
// packed sequences, and what must be accepted.
#include "tests/ops/attention/option_faults.hpp"

#include "tests/ops/attention/backward_scene.hpp"
#include "tests/support/streams.hpp"

namespace {

using namespace scene;
using s = attention_backward_with_options;
using packed = packed_attention_backward;

std::vector<spoiled<s>> gradient_problems() {
  return {
      {"dbias without bias",
       [](s& x) { x.bias.given = nullptr; },
       TK_BAD_VALUE,
       {"dbias is given", "bias is NULL"}},
      {"dsinks without sinks",
       [](s& x) { x.sinks.given = nullptr; },
       TK_BAD_VALUE,
       {"dsinks is given", "sinks is NULL"}},
      {"dbias of one batch",
       [](s& x) { x.dbias.shape[0] = 1; },
       TK_BAD_SHAPE,
       {"dbias has b = 1", "bias", "2"}},
      {"dbias hq", [](s& x) { x.dbias.shape[1] = 3; }, TK_BAD_SHAPE, {"dbias has hq = 3", "4"}},
      {"dbias nq", [](s& x) { x.dbias.shape[2] = 4; }, TK_BAD_SHAPE, {"dbias has nq = 4", "5"}},
      {"dbias nk", [](s& x) { x.dbias.shape[3] = 5; }, TK_BAD_SHAPE, {"dbias has nk = 5", "7"}},
      {"dbias type",
       [](s& x) { x.dbias.dl.dtype = bf16; },
       TK_BAD_TYPE,
       {"dbias", "fp32 or the type of bias"}},
      {"dbias's heads in one place",
       [](s& x) { x.dbias.strides[1] = 0; },
       TK_BAD_OVERLAP,
       {"dbias", "[2, 4, 5, 7]"}},
      {"dsinks", [](s& x) { x.dsinks.shape[0] = 2; }, TK_BAD_SHAPE, {"dsinks has hq = 2", "4"}},
      {"dsinks type", [](s& x) { x.dsinks.dl.dtype = bf16; }, TK_BAD_TYPE, {"dsinks", "fp32"}},
  };
}

std::vector<spoiled<packed>> packed_problems() {
  return {
      {"dk", [](packed& x) { x.dk.shape[0] = 13; }, TK_BAD_SHAPE, {"dk has total_k = 13", "14"}},
      {"dq", [](packed& x) { x.dq.shape[1] = 2; }, TK_BAD_SHAPE, {"dq has hq = 2", "4"}},
      {"dout", [](packed& x) { x.dout.dl.ndim = 4; }, TK_BAD_RANK, {"dout has 4 dimensions", "3"}},
      {"dbias nq",
       [](packed& x) { x.dbias.shape[2] = 10; },
       TK_BAD_SHAPE,
       {"dbias has max_nq = 10", "5"}},
  };
}

}  // namespace

TEST_CASE("the scenes are correct problems and write their outputs") {
  s x;
  packed y;
  auto const before = x.arena.content(), packed_before = y.arena.content();
  EXPECT_OK(call(x));
  CHECK(x.arena.content() != before);
  EXPECT_OK(call(y));
  CHECK(y.arena.content() != packed_before);
}

TEST_CASE("the backward's refusals of options") {
  try_faults<s>(faults(), 1);
  try_faults<packed>(faults(), 1);
  try_faults<s>(stride_faults(), 3);
  try_all(number_faults<s>());
  try_all(number_faults<packed>());
  try_all(option_faults<s>());
  try_all(packed_faults<packed>());
  try_all(gradient_problems());
  try_all(packed_problems());
  try_overlaps<s>();
  try_overlaps<packed>();
}

TEST_CASE("more packed sequences than can be counted, and more blocks of them") {
  packed x;
  x.bias.given = x.dbias.given = nullptr;
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 1025, block = 256;
  auto const sequences = [&](std::int64_t count) {
    x.q_starts.shape[0] = x.k_starts.shape[0] = count + 1;
    return tk_supports(packed::op, x.get());
  };
  EXPECT_OK(sequences((most - 10) / block));
  CHECK(sequences((most - 10) / block + 1) == TK_UNSUPPORTED);
  CHECK(says(tk_last_error(), "q has 10 rows and 8388604 sequences"));
  for (auto* t : {&x.q, &x.o, &x.dout, &x.dq}) {
    t->shape[1] = 98;
    t->dl.strides = nullptr;
  }
  x.lse.shape[0] = 98;
  x.lse.dl.strides = nullptr;
  EXPECT_OK(sequences(most / 4 / 100));
  CHECK(sequences(most / 4 / 100 + 1) == TK_UNSUPPORTED);
  CHECK(says(tk_last_error(), "q and k have 536870700 blocks"));
}

TEST_CASE("nothing to write: accepted without data, and nothing happens") {
  packed x;
  x.bias.given = x.dbias.given = nullptr;
  x.q_starts.shape[0] = x.k_starts.shape[0] = 1;  // no sequence
  auto const before = x.arena.content();
  EXPECT_OK(packed::call(x.get()));
  CHECK(x.arena.content() == before);
}

TEST_CASE("gradients of a bias and of sinks that no row takes part in are 0") {
  s x;
  for (auto* t : x.halves()) t->shape[0] = 0;
  x.lse.shape[0] = x.alibi.shape[0] = 0;
  x.bias.shape[0] = x.dbias.shape[0] = 1;
  EXPECT_OK(call(x));
  auto const after = x.arena.content();
  std::size_t others = 0;
  for (std::size_t i = 0; i < 4 * 4 * 5 * 7; ++i) others += after[20480 + i] != 0;
  for (std::size_t i = 0; i < 4 * 4; ++i) others += after[21632 + i] != 0;
  CHECK(others == 0);
}

TEST_CASE("queries look at no data of the options and their gradients") {
  s x;
  std::size_t with = 1, without = 2;
  EXPECT_OK(tk_workspace(x.op, x.get(), &with));
  for (auto const& argument : x.arguments()) argument.of->dl.byte_offset = 1;
  EXPECT_OK(tk_workspace(x.op, x.get(), &without));
  CHECK(with == without);
}

TEST_CASE("options that are off are as none, whatever their struct") {
  attention_backward x, y;
  tk_attention_options off{};
  off.size = sizeof off;
  off.seed = 5;
  y.problem.options = &off;
  EXPECT_OK(call(x));
  EXPECT_OK(call(y));
  CHECK(x.arena.content() == y.arena.content());
}

TEST_CASE("a call's work with options is on its stream") {
  s x;
  check_stream(x);
  packed y;
  check_stream(y);
}
