// SPDX-License-Identifier: MIT
// The device's part of the library, in place of the compiled kernels: holds the problem that a
// launch is given against what the caller said, then reads every input, and turns over every bit of
// each output element and of the workspace's rim. An element written twice, or written as an input
// is read, would show.
#include "ops/gemm/plan.hpp"

#include <bit>
#include <type_traits>
#include <utility>

#include "core/element.hpp"
#include "tests/fuzz/oracle.hpp"

namespace fuzz {
namespace {

constexpr std::size_t rim = 64;  // bytes at each end of the workspace that a launch here writes

bool is_type(tk::element type, seen_tensor const& t) {
  auto const [code, bits] = type == tk::element::bf16   ? std::pair{int(kDLBfloat), 16}
                            : type == tk::element::fp16 ? std::pair{int(kDLFloat), 16}
                                                        : std::pair{int(kDLFloat), 32};
  return t.code == code && t.bits == bits;
}

void agree(tk::any_tensor const& x, seen_tensor const& t) {
  require(t.strided, "a launch of a tensor that cannot be read");
  require(address_of(x.data) == (t.empty() ? 0 : t.address), "a tensor's data moved");
  require(is_type(x.type, t), "a tensor's type changed");
}

void agree(tk::matrix const& x, seen_tensor const& t) {
  agree(static_cast<tk::any_tensor const&>(x), t);
  require(x.batch == (t.stride[0] == 0 ? 1 : t.size[0]), "a matrix's batch is another");
  require(x.rows == t.size[1] && x.cols == t.size[2], "a matrix's sizes changed");
  require(x.batch_stride == t.stride[0] && x.row_stride == t.stride[1],
          "a matrix's strides changed");
  require(t.stride[2] == (t.size[2] > 1 && !t.empty()), "columns are not contiguous");
}

void agree(tk::heads const& x, seen_tensor const& t) {
  agree(static_cast<tk::any_tensor const&>(x), t);
  require(x.b == t.size[0] && x.n == t.size[1] && x.h == t.size[2] && x.d == t.size[3],
          "sizes of heads changed");
  require(x.b_stride == t.stride[0] && x.n_stride == t.stride[1] && x.h_stride == t.stride[2],
          "strides of heads changed");
}

void agree_rows(tk::matrix const& x, seen_tensor const& t) {
  require((x.data != nullptr) == t.looked_at, "rows appeared or went");
  if (!t.looked_at) return;
  agree(static_cast<tk::any_tensor const&>(x), t);
  require(x.batch == 1 && x.rows == t.size[0] && x.cols == t.size[1], "sizes of rows changed");
  require(x.row_stride == t.stride[0], "the stride of rows changed");
}

void agree_scale(tk::any_tensor const& x, seen_tensor const& t) {
  require((x.data != nullptr) == t.looked_at, "a scale appeared or went");
  if (t.looked_at) agree(x, t);
}

void turn(unsigned char* at, wide bytes) {
  for (wide i = 0; i < bytes; ++i) at[i] = static_cast<unsigned char>(~at[i]);
}
unsigned char* pointer(wide address) {
  return reinterpret_cast<unsigned char*>(static_cast<std::uintptr_t>(address));
}

void turn_workspace() {
  auto const from = address_of(running.workspace), to = from + wide(running.needed);
  if (running.needed == 0 || !(in_pool(from, to) || in_arena(from, to))) return;
  auto* const at = static_cast<unsigned char*>(running.workspace);
  for (std::size_t i = 0; i < tk::counter_bytes; ++i)
    require(at[i] == 0, "a counter is not zero before a launch");
  if (running.needed < tk::counter_bytes + 2 * rim) return;
  turn(at + tk::counter_bytes, rim);
  turn(at + running.needed - rim, rim);
}

unsigned sum_of_inputs(seen_call const& call) {
  unsigned sum = 0;
  auto const written = call.outputs();
  for (std::size_t i = 0; i < written.size(); ++i) {
    auto const& t = call.tensors[i];
    if (!t.looked_at || t.empty() || written[i] || call.in_place(i)) continue;
    for (auto const at : t.elements())
      for (int byte = 0; byte < t.width; ++byte) sum = std::rotl(sum, 1) + pointer(at)[byte];
  }
  return sum;
}

void touch() {
  auto const& call = *running.seen;
  if (!call.touchable()) return;
  auto const before = sum_of_inputs(call);
  turn_workspace();
  auto const written = call.outputs();
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (!written[i]) continue;
    for (auto const at : call.tensors[i].elements()) turn(pointer(at), call.tensors[i].width);
  }
  require(sum_of_inputs(call) == before, "an input overlaps what is written");
}

void begin(tk_op op, void* workspace) {
  auto const& call = *running.seen;
  ++running.launches;
  require(call.spec->op == op, "a launch of another op");
  require(call.by_launch().must == 0, "a launch of a problem with faults");
  require(!call.empty, "a launch without an output element");
  require(workspace == running.workspace, "a launch with another workspace");
}

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
  wide end = tk::counter_bytes + wide(sizeof(float)) * plan.cut.shares * plan.cluster *
                                     tune.workers() * tune.M * tune.N;
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

void check_gemm(tk::gemm_problem const& x, tk::gemm_plan const& plan, void* workspace) {
  begin(TK_OP_GEMM, workspace);
  auto const& call = *running.seen;
  auto const& spec = *call.spec;
  auto const& [a, b, c, d, bias, none] = call.tensors;
  agree(plan, x);
  agree(original(x.a, plan.a), a);
  agree(original(x.b, plan.b), b);
  repacked_count = 0;
  agree(x.d, d);
  require((x.c.data != nullptr) == (spec.beta != 0), "c is read where beta is 0, or the reverse");
  if (x.c.data) agree(x.c, c);
  require((x.bias.data != nullptr) == (spec.bias_kind != 0), "bias without a kind, or the reverse");
  if (x.bias.data) agree(x.bias, bias);
  require(x.batch == d.size[0] && x.m == d.size[1] && x.n == d.size[2], "d has other sizes");
  require(x.k == (spec.transpose_a ? a.size[1] : a.size[2]), "k is another");
  require(x.transpose_a == (spec.transpose_a == 1) && x.transpose_b == (spec.transpose_b == 1) &&
              int(x.bias_along) == spec.bias_kind && int(x.activation) == spec.activation,
          "a choice changed");
  using word = std::uint32_t;
  require(std::bit_cast<word>(x.alpha) == std::bit_cast<word>(spec.alpha) &&
              std::bit_cast<word>(x.beta) == std::bit_cast<word>(spec.beta),
          "a factor changed");
  touch();
}

void check_attention(tk::attention_forward_problem const& x, void* workspace) {
  begin(TK_OP_ATTENTION_FORWARD, workspace);
  auto const& call = *running.seen;
  auto const& [q, k, v, o, lse, none] = call.tensors;
  agree(x.q, q);
  agree(x.k, k);
  agree(x.v, v);
  agree(x.o, o);
  require((x.lse != nullptr) == lse.looked_at, "lse appeared or went");
  if (x.lse) {
    require(address_of(x.lse) == lse.address, "lse moved");
    require(x.lse_b_stride == lse.stride[0] && x.lse_h_stride == lse.stride[1],
            "lse's strides changed");
  }
  require(int(x.mask) == call.spec->mask && x.scale == call.spec->scale, "mask or scale changed");
  require(x.k.h > 0 && x.q.h % x.k.h == 0, "heads without a group");
  touch();
}

void check_norm(tk::norm_problem const& x, void* workspace) {
  require(running.needed > 0 || !workspace, "a workspace that norm did not ask for");
  begin(TK_OP_NORM, running.needed > 0 ? workspace : running.workspace);
  auto const& call = *running.seen;
  auto const& [in, residual, weight, y, r, bias] = call.tensors;
  require(running.needed == (x.x.rows * x.x.cols < 1 << 16 ? 0 : tk::counter_bytes),
          "the workspace of norm");
  agree_rows(x.x, in);
  agree_rows(x.residual, residual);
  agree_rows(x.y, y);
  agree_rows(x.r, r);
  agree_scale(x.weight, weight);
  agree_scale(x.bias, bias);
  require(int(x.kind) == call.spec->kind && x.eps == call.spec->eps, "kind or eps changed");
  touch();
}

}  // namespace
}  // namespace fuzz

namespace tk {

template <class T, bool TransposeA, bool TransposeB> struct gemm_run {
  static void launch(gemm_problem const& x, gemm_plan const& plan, void* workspace, void*) {
    fuzz::require(x.transpose_a == TransposeA && x.transpose_b == TransposeB &&
                      (x.a.type == element::bf16) == std::is_same_v<T, bf16>,
                  "another instance was chosen");
    fuzz::check_gemm(x, plan, workspace);
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
  static void launch(matrix const& dst, matrix const& src, void*) {
    fuzz::require(fuzz::repacked_count < 2, "more than two copies");
    fuzz::repacked[fuzz::repacked_count++] = {dst, src};
    fuzz::require(dst.rows == src.rows && dst.cols == src.cols && dst.batch == src.batch,
                  "a copy of another size");
  }
};
template struct repack_run<bf16>;

template <class T, int D> struct attention_forward_run {
  static void launch(attention_forward_problem const& x, void* workspace, void*) {
    fuzz::require(
        x.q.d <= D && x.v.d <= D && (x.q.type == element::bf16) == std::is_same_v<T, bf16>,
        "another instance was chosen");
    fuzz::check_attention(x, workspace);
  }
};
template struct attention_forward_run<bf16, 64>;
template struct attention_forward_run<bf16, 128>;
template struct attention_forward_run<bf16, 256>;
template struct attention_forward_run<fp16, 64>;
template struct attention_forward_run<fp16, 128>;
template struct attention_forward_run<fp16, 256>;

template <class T> struct norm_run {
  static void launch(norm_problem const& x, void* workspace, void*) {
    fuzz::require(x.x.type == (std::is_same_v<T, bf16>   ? element::bf16
                               : std::is_same_v<T, fp16> ? element::fp16
                                                         : element::fp32),
                  "another instance was chosen");
    fuzz::check_norm(x, workspace);
  }
};
template struct norm_run<bf16>;
template struct norm_run<fp16>;
template struct norm_run<float>;

}  // namespace tk
