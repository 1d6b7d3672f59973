// SPDX-License-Identifier: MIT
// What stands in for gemm's kernels in the fuzzer: the plan's parts of the workspace, and the
// problem, whose a and b may be copies.
#include <bit>

#include "ops/gemm/gemm.h"
#include "ops/gemm/plan.hpp"
#include "tests/fuzz/launch.hpp"

namespace fuzz {
namespace {

// Copies of a and b in the workspace.
struct copies {
  tk::matrix dst, src;
};
copies repacked[2];
int repacked_count = 0;

wide bytes_of(tk::matrix const& x) { return wide(x.batch) * x.rows * x.row_stride * 2; }

// What is copied is a or b as given; what the launch reads in its place is the copy.
tk::matrix original(tk::matrix const& x, tk::matrix const& planned) {
  if (!planned.data) return x;
  for (int i = 0; i < repacked_count; ++i)
    if (repacked[i].dst.data == x.data) return repacked[i].src;
  broken("a launch reads a copy that nobody made");
}

void agree(tk::gemm_plan const& plan, tk::gemm_problem const& x) {
  auto const tune = tk::be::tune_gemm(plan.size);
  wide const partials =
      wide(sizeof(float)) * plan.cut.splits * plan.cluster * tune.workers() * tune.M * tune.N;
  wide end = tk::counter_bytes;
  if (partials > 0) {
    require(wide(plan.partials) >= end, "partial sums lie on the counters");
    end = wide(plan.partials) + partials;
  }
  auto const base = address_of(running.workspace);
  for (auto const& [used, planned] : {std::pair{&x.a, &plan.a}, std::pair{&x.b, &plan.b}}) {
    if (!planned->data) continue;
    require(address_of(used->data) == base + address_of(planned->data), "a copy is elsewhere");
    require(address_of(planned->data) >= end, "parts of the workspace overlap");
    require(used->row_stride >= used->cols, "rows of a copy overlap");
    require(used->batch == 1 || used->batch_stride >= used->rows * used->row_stride,
            "batches of a copy overlap");
    end = address_of(planned->data) + bytes_of(*used);
  }
  bool const uses = plan.cut.tiles > 0 || plan.a.data || plan.b.data;
  require(!uses || wide(running.needed) >= end, "a launch needs more than tk_workspace says");
}

void check(tk::gemm_problem const& x, tk::gemm_plan const& plan, void* workspace, void* stream) {
  auto const& call = begin(TK_OP_GEMM, workspace, stream);
  auto const p = call.problem<tk_gemm_problem>();
  auto const [a, b, c, bias, d] = call.all<5>();
  agree(plan, x);
  agree(original(x.a, plan.a), a);
  agree(original(x.b, plan.b), b);
  repacked_count = 0;
  agree(x.d, d);
  require((x.c.data != nullptr) == (p.beta != 0), "c is read where beta is 0, or the reverse");
  if (x.c.data) agree(x.c, c);
  require((x.bias.data != nullptr) == bias.looked_at, "bias without a kind, or the reverse");
  if (x.bias.data) agree(x.bias, bias);
  require(x.batch == d.size[0] && x.m == d.size[1] && x.n == d.size[2], "d has other sizes");
  require(x.k == (p.transpose_a ? a.size[1] : a.size[2]), "k is another");
  require(x.transpose_a == (p.transpose_a == 1) && x.transpose_b == (p.transpose_b == 1) &&
              int(x.bias_along) == int(p.bias_kind) && int(x.activation) == int(p.activation) &&
              int(x.repeat) == int(p.repeat),
          "a choice changed");
  require(plan.cut.tiles == 0 || p.repeat == TK_REPEAT_RUN, "a sum depends on other rows");
  using word = std::uint32_t;
  require(std::bit_cast<word>(x.alpha) == std::bit_cast<word>(p.alpha) &&
              std::bit_cast<word>(x.beta) == std::bit_cast<word>(p.beta),
          "a factor changed");
  touch();
}

}  // namespace
}  // namespace fuzz

namespace tk {

template <class T, bool TransposeA, bool TransposeB> struct gemm_run {
  static void launch(gemm_problem const& x, gemm_plan const& plan, void* workspace, void* stream) {
    fuzz::require(x.transpose_a == TransposeA && x.transpose_b == TransposeB && fuzz::is_of<T>(x.a),
                  "another instance was chosen");
    fuzz::check(x, plan, workspace, stream);
  }
};
template struct gemm_run<bf16, false, false>;
template struct gemm_run<bf16, false, true>;
template struct gemm_run<bf16, true, false>;
template struct gemm_run<bf16, true, true>;
template struct gemm_run<fp16, false, false>;
template struct gemm_run<fp16, false, true>;
template struct gemm_run<fp16, true, false>;
template struct gemm_run<fp16, true, true>;

template <class T> struct repack_run {
  static void launch(matrix const& dst, matrix const& src, void* stream) {
    fuzz::require(stream == fuzz::running.stream, "a copy on another stream");
    fuzz::require(fuzz::repacked_count < 2, "more than two copies");
    fuzz::repacked[fuzz::repacked_count++] = {dst, src};
    fuzz::require(dst.rows == src.rows && dst.cols == src.cols && dst.batch == src.batch,
                  "a copy of another size");
  }
};
template struct repack_run<bf16>;

}  // namespace tk
