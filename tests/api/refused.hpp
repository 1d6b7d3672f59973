// SPDX-License-Identifier: MIT
// What can be wrong with the problem of one op: shapes, types, values and overlaps, each with the
// status and the parts of the sentence that a caller must get. Faults of single tensors, which all
// ops share, are in refusals.cpp.
#pragma once
#include <functional>
#include <limits>

#include "tests/api/scene.hpp"

namespace scene {

// tk_supports and tk_workspace do not look at data pointers.
enum class seen { by_all, by_launch_only };

// What is done to a scene, and the refusal it must meet.
template <class Scene> struct spoiled {
  char const* what;
  std::function<void(Scene&)> spoil;
  tk_status expected;
  std::vector<std::string> parts;
  seen by = seen::by_all;
};

inline constexpr auto launch_only = seen::by_launch_only;

inline std::vector<spoiled<gemm>> gemm_shapes() {
  using s = gemm;
  return {
      {"k", [](s& x) { x.b.shape[1] = 15; }, TK_BAD_SHAPE, {"b has rows = 15", "a", "16"}},
      {"m", [](s& x) { x.d.shape[1] = 9; }, TK_BAD_SHAPE, {"d has rows = 9", "a", "8"}},
      {"n", [](s& x) { x.d.shape[2] = 23; }, TK_BAD_SHAPE, {"d has columns = 23", "b", "24"}},
      {"a transposed",
       [](s& x) { x.problem.transpose_a = 1; },
       TK_BAD_SHAPE,
       {"b has rows = 16", "a has rows = 8"}},
      {"b transposed",
       [](s& x) { x.problem.transpose_b = 1; },
       TK_BAD_SHAPE,
       {"b has columns = 24", "a has columns = 16"}},
      {"batch of a", [](s& x) { x.a.shape[0] = 3; }, TK_BAD_SHAPE, {"a has batch = 3", "d", "2"}},
      {"batch of b", [](s& x) { x.b.shape[0] = 0; }, TK_BAD_SHAPE, {"b has batch = 0", "d", "2"}},
      {"batch of d", [](s& x) { x.d.shape[0] = 1; }, TK_BAD_SHAPE, {"a has batch = 2", "d", "1"}},
      {"batch of c", [](s& x) { x.c.shape[0] = 3; }, TK_BAD_SHAPE, {"c has batch = 3", "d", "2"}},
      {"rows of c", [](s& x) { x.c.shape[1] = 7; }, TK_BAD_SHAPE, {"c has rows = 7", "d", "8"}},
      {"columns of c", [](s& x) { x.c.shape[2] = 1; }, TK_BAD_SHAPE, {"c has columns = 1", "24"}},
      {"bias, row", [](s& x) { x.bias.shape[0] = 8; }, TK_BAD_SHAPE, {"bias", "8", "d", "24"}},
      {"bias, column",
       [](s& x) { x.problem.bias_kind = TK_BIAS_COLUMN; },
       TK_BAD_SHAPE,
       {"bias", "24", "d has rows = 8"}},
      {"rank 1", [](s& x) { x.b.dl.ndim = 1; }, TK_BAD_RANK, {"b has 1 dimensions", "2 or 3"}},
      {"bias of rank 2", [](s& x) { x.bias.dl.ndim = 2; }, TK_BAD_RANK, {"bias has 2", "1"}},
  };
}

inline std::vector<spoiled<gemm>> gemm_types_and_values() {
  using s = gemm;
  return {
      {"fp32 a", [](s& x) { x.a.dl.dtype = fp32; }, TK_BAD_TYPE, {"a", "bf16 or fp16"}},
      {"a, b", [](s& x) { x.b.dl.dtype = fp16; }, TK_BAD_TYPE, {"b is fp16", "a is bf16"}},
      {"c, d", [](s& x) { x.c.dl.dtype = bf16; }, TK_BAD_TYPE, {"c is bf16", "d is fp32"}},
      {"bias, d", [](s& x) { x.bias.dl.dtype = fp16; }, TK_BAD_TYPE, {"bias is fp16", "d is fp32"}},
      {"transpose_a", [](s& x) { x.problem.transpose_a = 2; }, TK_BAD_VALUE, {"transpose_a is 2"}},
      {"transpose_b",
       [](s& x) { x.problem.transpose_b = -1; },
       TK_BAD_VALUE,
       {"transpose_b is -1", "0 to 1"}},
      {"activation",
       [](s& x) { x.problem.activation = as<tk_activation>(5); },
       TK_BAD_VALUE,
       {"activation is 5", "0 to 4"}},
      {"bias_kind",
       [](s& x) { x.problem.bias_kind = as<tk_bias>(-7); },
       TK_BAD_VALUE,
       {"bias_kind is -7", "0 to 2"}},
      {"bias of no kind",
       [](s& x) { x.problem.bias_kind = TK_BIAS_NONE; },
       TK_BAD_VALUE,
       {"bias", "bias_kind is 0"}},
      {"size 0",
       [](s& x) { x.problem.size = 0; },
       TK_BAD_STRUCT,
       {"size is 0", std::to_string(sizeof(tk_gemm_problem))}},
      {"size + 8",
       [](s& x) { x.problem.size += 8; },
       TK_BAD_STRUCT,
       {std::to_string(sizeof(tk_gemm_problem) + 8)}},
  };
}

inline std::vector<spoiled<gemm>> gemm_overlaps() {
  using s = gemm;
  return {
      {"d on a",
       [](s& x) { x.d.dl.data = x.a.dl.data; },
       TK_BAD_OVERLAP,
       {"d at", "a at"},
       launch_only},
      {"last of a",
       [](s& x) {
         x.d.dl.data = x.a.dl.data;
         x.d.move(2 * 8 * 16 * 2 - 4);
       },
       TK_BAD_OVERLAP,
       {"d at", "a at"},
       launch_only},
      {"last of d on b",
       [](s& x) {
         x.d.dl.data = x.b.dl.data;
         x.d.move(-2 * 8 * 24 * 4 + 4);
       },
       TK_BAD_OVERLAP,
       {"d at", "b at"},
       launch_only},
      {"d one row into c",
       [](s& x) {
         x.d.dl.data = x.c.dl.data;
         x.d.move(24 * 4);
       },
       TK_BAD_OVERLAP,
       {"d at", "c at"},
       launch_only},
      {"d is c, other strides",
       [](s& x) {
         x.d.dl.data = x.c.dl.data;
         x.c.strides[0] = 0;
       },
       TK_BAD_OVERLAP,
       {"d at", "c at"},
       launch_only},
      {"d on the bias",
       [](s& x) { x.bias.dl.data = x.d.dl.data; },
       TK_BAD_OVERLAP,
       {"d at", "bias at"},
       launch_only},
      {"rows of d in one place",
       [](s& x) { x.d.strides[1] = 0; },
       TK_BAD_OVERLAP,
       {"d", "[2, 8, 24]", "[192, 0, 1]"}},
      {"rows of d overlap", [](s& x) { x.d.strides[1] = 23; }, TK_BAD_OVERLAP, {"d", "23"}},
      {"rows of d overlap downward", [](s& x) { x.d.strides[1] = -23; }, TK_BAD_OVERLAP, {"-23"}},
      {"batches of d in one place",
       [](s& x) { x.d.strides[0] = 0; },
       TK_BAD_OVERLAP,
       {"[0, 24, 1]"}},
      {"batches of d meet", [](s& x) { x.d.strides[0] = 7 * 24 + 23; }, TK_BAD_OVERLAP, {"191"}},
  };
}

// 2^20 batches, 8 rows, 1 column each, at addresses that nobody follows. All steps are multiples of
// 3, and one tensor starts 3 elements later; no quick way tells whether they meet.
inline void make_intricate(gemm& s, std::int64_t d_row_stride) {
  s.problem.beta = 0;
  s.c.given = s.bias.given = nullptr;
  s.problem.bias_kind = TK_BIAS_NONE;
  s.d.dl.dtype = bf16;
  s.d.dl.data = s.a.dl.data;
  s.d.move(6);
  s.a.shape = s.d.shape = {1 << 20, 8, 1};
  s.b.shape = {1, 1, 1};
  s.a.strides = {3 * 1000003, 3 * 999983, 1};
  s.d.strides = {3 * 999979, d_row_stride, 1};
}

inline std::vector<spoiled<gemm>> gemm_intricate() {
  using s = gemm;
  return {
      {"two tensors",
       [](s& x) { make_intricate(x, 3 * 999961); },
       TK_BAD_OVERLAP,
       {"d at", "may overlap a at", "intricate"},
       launch_only},
      {"one tensor",
       [](s& x) {
         make_intricate(x, 3 * 999961);
         x.a.shape[1] = x.d.shape[1] = 1 << 19;
         x.a.shape[0] = x.d.shape[0] = 1 << 19;
       },
       TK_BAD_OVERLAP,
       {"d of sizes [524288, 524288, 1]", "may have", "intricate"}},
  };
}

inline std::vector<spoiled<attention>> attention_problems() {
  using s = attention;
  constexpr auto inf = std::numeric_limits<float>::infinity();
  return {
      {"batch", [](s& x) { x.k.shape[0] = 1; }, TK_BAD_SHAPE, {"k has b = 1", "q", "2"}},
      {"batch of o", [](s& x) { x.o.shape[0] = 1; }, TK_BAD_SHAPE, {"o has b = 1", "q", "2"}},
      {"keys", [](s& x) { x.v.shape[1] = 6; }, TK_BAD_SHAPE, {"v has nk = 6", "k", "7"}},
      {"key heads", [](s& x) { x.v.shape[2] = 1; }, TK_BAD_SHAPE, {"v has hk = 1", "k", "2"}},
      {"d", [](s& x) { x.k.shape[3] = 8; }, TK_BAD_SHAPE, {"k has d = 8", "q", "16"}},
      {"dv", [](s& x) { x.o.shape[3] = 16; }, TK_BAD_SHAPE, {"o has dv = 16", "v", "24"}},
      {"queries", [](s& x) { x.o.shape[1] = 4; }, TK_BAD_SHAPE, {"o has nq = 4", "q", "5"}},
      {"query heads", [](s& x) { x.o.shape[2] = 3; }, TK_BAD_SHAPE, {"o has hq = 3", "q", "4"}},
      {"groups", [](s& x) { x.k.shape[2] = x.v.shape[2] = 3; }, TK_BAD_SHAPE, {"hq = 4", "hk = 3"}},
      {"no key heads",
       [](s& x) { x.k.shape[2] = x.v.shape[2] = 0; },
       TK_BAD_SHAPE,
       {"hq = 4", "hk = 0"}},
      {"lse b", [](s& x) { x.lse.shape[0] = 3; }, TK_BAD_SHAPE, {"lse has b = 3", "q", "2"}},
      {"lse hq", [](s& x) { x.lse.shape[1] = 2; }, TK_BAD_SHAPE, {"lse has hq = 2", "q", "4"}},
      {"lse nq", [](s& x) { x.lse.shape[2] = 7; }, TK_BAD_SHAPE, {"lse has nq = 7", "q", "5"}},
      {"rank 3", [](s& x) { x.v.dl.ndim = 3; }, TK_BAD_RANK, {"v has 3 dimensions", "4"}},
      {"types", [](s& x) { x.v.dl.dtype = fp16; }, TK_BAD_TYPE, {"v is fp16", "q is bf16"}},
      {"bf16 lse", [](s& x) { x.lse.dl.dtype = bf16; }, TK_BAD_TYPE, {"lse", "fp32"}},
      {"fp32 o", [](s& x) { x.o.dl.dtype = fp32; }, TK_BAD_TYPE, {"o", "bf16 or fp16"}},
      {"d 12",
       [](s& x) { x.q.shape[3] = x.k.shape[3] = 12; },
       TK_UNSUPPORTED,
       {"q has d = 12", "8"}},
      {"d 0", [](s& x) { x.q.shape[3] = x.k.shape[3] = 0; }, TK_UNSUPPORTED, {"q has d = 0", "8"}},
      {"d 264", [](s& x) { x.q.shape[3] = x.k.shape[3] = 264; }, TK_UNSUPPORTED, {"264", "256"}},
      {"dv 4", [](s& x) { x.v.shape[3] = x.o.shape[3] = 4; }, TK_UNSUPPORTED, {"v has dv = 4"}},
      {"mask",
       [](s& x) { x.problem.mask = as<tk_mask>(2); },
       TK_BAD_VALUE,
       {"mask is 2", "0 to 1"}},
      {"scale nan", [](s& x) { x.problem.scale = inf - inf; }, TK_BAD_VALUE, {"scale is", "nan"}},
      {"scale inf", [](s& x) { x.problem.scale = -inf; }, TK_BAD_VALUE, {"scale is -inf"}},
      {"size",
       [](s& x) { x.problem.size -= 1; },
       TK_BAD_STRUCT,
       {std::to_string(sizeof(tk_attention_forward_problem))}},
      {"o on q",
       [](s& x) { x.o.dl.data = x.q.dl.data; },
       TK_BAD_OVERLAP,
       {"o at", "q at"},
       launch_only},
      {"o on k",
       [](s& x) { x.k.dl.data = x.o.dl.data; },
       TK_BAD_OVERLAP,
       {"o at", "k at"},
       launch_only},
      {"o on v",
       [](s& x) {
         x.v.dl.data = x.o.dl.data;
         x.v.move(2);
       },
       TK_BAD_OVERLAP,
       {"o at", "v at"},
       launch_only},
      {"lse on v",
       [](s& x) { x.lse.dl.data = x.v.dl.data; },
       TK_BAD_OVERLAP,
       {"lse at", "v at"},
       launch_only},
      {"lse on o",
       [](s& x) { x.lse.dl.data = x.o.dl.data; },
       TK_BAD_OVERLAP,
       {"o at", "lse at"},
       launch_only},
      {"heads of o in one place",
       [](s& x) { x.o.strides[2] = 0; },
       TK_BAD_OVERLAP,
       {"o", "[2, 5, 4, 24]", "[480, 96, 0, 1]"}},
      {"heads of lse overlap",
       [](s& x) { x.lse.strides[1] = 4; },
       TK_BAD_OVERLAP,
       {"lse", "[20, 4, 1]"}},
  };
}

inline std::vector<spoiled<norm>> norm_problems() {
  using s = norm;
  constexpr auto inf = std::numeric_limits<float>::infinity();
  return {
      {"rows of y", [](s& x) { x.y.shape[0] = 5; }, TK_BAD_SHAPE, {"y has rows = 5", "x", "2"}},
      {"width of y", [](s& x) { x.y.shape[1] = 21; }, TK_BAD_SHAPE, {"y has width = 21", "20"}},
      {"rows of r", [](s& x) { x.r.shape[0] = 7; }, TK_BAD_SHAPE, {"r has rows = 7", "x", "2"}},
      {"residual",
       [](s& x) { x.residual.shape[1] = 19; },
       TK_BAD_SHAPE,
       {"residual has width = 19", "x", "20"}},
      {"weight", [](s& x) { x.weight.shape[0] = 6; }, TK_BAD_SHAPE, {"weight has width = 6"}},
      {"bias", [](s& x) { x.bias.shape[0] = 21; }, TK_BAD_SHAPE, {"bias has width = 21", "20"}},
      {"rank 3", [](s& x) { x.x.dl.ndim = 3; }, TK_BAD_RANK, {"x has 3 dimensions", "1 or 2"}},
      {"bias of rank 2", [](s& x) { x.bias.dl.ndim = 2; }, TK_BAD_RANK, {"bias has 2", "1"}},
      {"y, x", [](s& x) { x.y.dl.dtype = bf16; }, TK_BAD_TYPE, {"y is bf16", "x is fp32"}},
      {"residual, x",
       [](s& x) { x.residual.dl.dtype = fp16; },
       TK_BAD_TYPE,
       {"residual is fp16", "x is fp32"}},
      {"weight, x",
       [](s& x) { x.weight.dl.dtype = fp16; },
       TK_BAD_TYPE,
       {"weight is fp16", "x is fp32"}},
      {"bias, weight",
       [](s& x) {
         for (auto* t : {&x.x, &x.residual, &x.y, &x.r, &x.weight}) t->dl.dtype = bf16;
       },
       TK_BAD_TYPE,
       {"bias is fp32", "weight is bf16"}},
      {"kind",
       [](s& x) { x.problem.kind = as<tk_norm_kind>(2); },
       TK_BAD_VALUE,
       {"kind is 2", "0 to 1"}},
      {"eps nan", [](s& x) { x.problem.eps = inf - inf; }, TK_BAD_VALUE, {"eps is", "nan"}},
      {"eps inf", [](s& x) { x.problem.eps = inf; }, TK_BAD_VALUE, {"eps is inf"}},
      {"eps -1", [](s& x) { x.problem.eps = -1; }, TK_BAD_VALUE, {"eps is -1"}},
      {"size",
       [](s& x) { x.problem.size += 8; },
       TK_BAD_STRUCT,
       {std::to_string(sizeof(tk_norm_problem))}},
      {"y on x, moved",
       [](s& x) {
         x.y.dl.data = x.x.dl.data;
         x.y.move(4);
       },
       TK_BAD_OVERLAP,
       {"y at", "x at"},
       launch_only},
      {"r on x, other strides",
       [](s& x) {
         x.r.dl.data = x.x.dl.data;
         x.r.strides[0] = 24;
       },
       TK_BAD_OVERLAP,
       {"r at", "x at"},
       launch_only},
      {"r on residual, moved",
       [](s& x) {
         x.r.dl.data = x.residual.dl.data;
         x.r.move(80);
       },
       TK_BAD_OVERLAP,
       {"r at", "residual at"},
       launch_only},
      {"y on weight",
       [](s& x) { x.weight.dl.data = x.y.dl.data; },
       TK_BAD_OVERLAP,
       {"y at", "weight at"},
       launch_only},
      {"r on bias",
       [](s& x) {
         x.bias.dl.data = x.r.dl.data;
         x.bias.move(4 * 39);
       },
       TK_BAD_OVERLAP,
       {"r at", "bias at"},
       launch_only},
      {"r on y",
       [](s& x) { x.r.dl.data = x.y.dl.data; },
       TK_BAD_OVERLAP,
       {"y at", "r at"},
       launch_only},
      {"rows of y overlap",
       [](s& x) { x.y.strides[0] = 19; },
       TK_BAD_OVERLAP,
       {"y", "[2, 20]", "[19, 1]"}},
      {"rows of r in one place", [](s& x) { x.r.strides[0] = 0; }, TK_BAD_OVERLAP, {"r", "[0, 1]"}},
  };
}

}  // namespace scene
