// SPDX-License-Identifier: MIT
// What can be wrong with a problem: shapes, types, values and overlaps, each with the status and
// the parts of the sentence that a caller must get.
#include "tests/support/refusals.hpp"

#include "tests/ops/rotary/scene.hpp"

namespace {

using namespace scene;

std::vector<spoiled<rotary>> problems() {
  using s = rotary;
  auto const give = [](tensor s::* t) { return [=](s& x) { (x.*t).given = &(x.*t).dl; }; };
  auto const set = [](tensor s::* t, std::size_t axis, std::int64_t size) {
    return [=](s& x) { (x.*t).shape[axis] = size; };
  };
  return {
      {"b of k", set(&s::k, 0, 1), TK_BAD_SHAPE, {"k has b = 1", "2"}},
      {"n of k", set(&s::k, 1, 4), TK_BAD_SHAPE, {"k has n = 4", "3"}},
      {"d of k", set(&s::k, 3, 8), TK_BAD_SHAPE, {"k has d = 8", "10"}},
      {"heads of q_out", set(&s::q_out, 2, 1), TK_BAD_SHAPE, {"q_out has h = 1", "2"}},
      {"heads of k_out", set(&s::k_out, 2, 2), TK_BAD_SHAPE, {"k_out has h = 2", "1"}},
      {"w of sin", set(&s::sin, 1, 3), TK_BAD_SHAPE, {"sin has w = 3", "4"}},
      {"m of sin", set(&s::sin, 0, 6), TK_BAD_SHAPE, {"sin has m = 6", "5"}},
      {"pairs",
       [](s& x) { x.cos.shape[1] = x.sin.shape[1] = 6; },
       TK_BAD_SHAPE,
       {"w = 6", "d = 10", "twice"}},
      {"rows of the tables",
       [](s& x) { x.cos.shape[0] = x.sin.shape[0] = 2; },
       TK_BAD_SHAPE,
       {"m = 2", "n = 3", "positions"}},
      {"q of rank 2", [](s& x) { x.q.dl.ndim = 2; }, TK_BAD_RANK, {"q has 2", "3 or 4"}},
      {"k of rank 3", [](s& x) { x.k.dl.ndim = 3; }, TK_BAD_RANK, {"k has 3", "q has 4"}},
      {"k_out of rank 3", [](s& x) { x.k_out.dl.ndim = 3; }, TK_BAD_RANK, {"k_out has 3", "4"}},
      {"cos of rank 3", [](s& x) { x.cos.dl.ndim = 3; }, TK_BAD_RANK, {"cos has 3", "2"}},
      {"k, q", [](s& x) { x.k.dl.dtype = bf16; }, TK_BAD_TYPE, {"k is bf16", "q is fp32"}},
      {"q_out, q", [](s& x) { x.q_out.dl.dtype = fp16; }, TK_BAD_TYPE, {"q_out is fp16", "fp32"}},
      {"cos, q", [](s& x) { x.cos.dl.dtype = bf16; }, TK_BAD_TYPE, {"cos is bf16", "q is fp32"}},
      {"sin, cos", [](s& x) { x.sin.dl.dtype = bf16; }, TK_BAD_TYPE, {"sin is bf16", "cos"}},
      {"k alone", [](s& x) { x.k_out.given = nullptr; }, TK_NULL_POINTER, {"k_out is NULL", "k"}},
      {"k_out alone", [](s& x) { x.k.given = nullptr; }, TK_NULL_POINTER, {"k is NULL", "k_out"}},
      {"both numbers",
       [=](s& x) {
         give (&s::positions)(x);
         give (&s::offsets)(x);
       },
       TK_BAD_VALUE,
       {"positions and offsets"}},
      {"interleaved 2",
       [](s& x) { x.problem.interleaved = 2; },
       TK_BAD_VALUE,
       {"interleaved is 2", "0 or 1"}},
      {"inverse -1", [](s& x) { x.problem.inverse = -1; }, TK_BAD_VALUE, {"inverse is -1"}},
      {"heads of q_out overlap",
       [](s& x) { x.q_out.strides[2] = 9; },
       TK_BAD_OVERLAP,
       {"q_out", "[2, 3, 2, 10]", "[60, 20, 9, 1]"}},
  };
}

std::vector<spoiled<rotary_at_positions>> positions_problems() {
  using s = rotary_at_positions;
  return {
      {"n", [](s& x) { x.positions.shape[1] = 4; }, TK_BAD_SHAPE, {"positions has n = 4", "3"}},
      {"b", [](s& x) { x.positions.shape[0] = 1; }, TK_BAD_SHAPE, {"positions has b = 1", "2"}},
      {"rank 1", [](s& x) { x.positions.dl.ndim = 1; }, TK_BAD_RANK, {"positions has 1", "2"}},
      {"fp32", [](s& x) { x.positions.dl.dtype = fp32; }, TK_BAD_TYPE, {"positions is fp32"}},
      {"unsigned",
       [](s& x) { x.positions.dl.dtype = uint64; },
       TK_BAD_TYPE,
       {"positions is uint64", "int32 or int64"}},
  };
}
std::vector<spoiled<rotary_at_offsets>> offsets_problems() {
  using s = rotary_at_offsets;
  return {
      {"b", [](s& x) { x.offsets.shape[0] = 3; }, TK_BAD_SHAPE, {"offsets has b = 3", "2"}},
      {"rank 2", [](s& x) { x.offsets.dl.ndim = 2; }, TK_BAD_RANK, {"offsets has 2", "1"}},
      {"bf16", [](s& x) { x.offsets.dl.dtype = bf16; }, TK_BAD_TYPE, {"offsets is bf16"}},
  };
}

}  // namespace

TEST_CASE("the scenes are correct problems and write their outputs") {
  check_scene<rotary>();
  check_scene<rotary_at_positions>();
  check_scene<rotary_at_offsets>();
}

TEST_CASE("refusals") {
  std::vector<std::int64_t> const q{2, 64, 16, 128}, k{2, 64, 4, 128}, table{64, 64};
  try_faults<rotary_at_positions>(faults(), 1);
  try_faults<rotary_at_offsets>(faults(), 1);
  check_refusals<rotary>(3, {q, k, table, table, q, k}, {}, [] {
    try_all(problems());
    try_all(positions_problems());
    try_all(offsets_problems());
    try_overlaps<rotary_at_positions>();
    try_overlaps<rotary_at_offsets>();
  });
}
