// SPDX-License-Identifier: MIT
// See launch.hpp.
#include "tests/fuzz/launch.hpp"

#include <bit>

namespace fuzz {
namespace {

constexpr std::size_t rim = 64;  // bytes at each end of the workspace that a launch here writes

bool is_type(tk::element type, seen_tensor const& t) {
  auto const [code, bits] = type == tk::element::bf16       ? std::pair{int(kDLBfloat), 16}
                            : type == tk::element::fp16     ? std::pair{int(kDLFloat), 16}
                            : type == tk::element::fp32     ? std::pair{int(kDLFloat), 32}
                            : type == tk::element::fp8_e4m3 ? std::pair{TK_DL_FLOAT8_E4M3FN, 8}
                            : type == tk::element::fp8_e5m2 ? std::pair{TK_DL_FLOAT8_E5M2, 8}
                            : type == tk::element::int32    ? std::pair{int(kDLInt), 32}
                            : type == tk::element::int64    ? std::pair{int(kDLInt), 64}
                            : type == tk::element::boolean  ? std::pair{TK_DL_BOOL, 8}
                            : type == tk::element::uint8    ? std::pair{int(kDLUInt), 8}
                                                            : std::pair{0, 0};
  return t.code == code && t.bits == bits;
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
  for (std::size_t i = 0; i < call.tensors.size(); ++i) {
    auto const& t = call.tensors[i];
    if (!t.looked_at || t.empty() || call.is_output(i) || call.in_place(i)) continue;
    for (auto const at : t.elements())
      for (int byte = 0; byte < t.width; ++byte) sum = std::rotl(sum, 1) + pointer(at)[byte];
  }
  return sum;
}

}  // namespace

void touch() {
  auto const& call = *running.seen;
  if (!call.touchable()) return;
  auto const before = sum_of_inputs(call);
  turn_workspace();
  for (std::size_t i = 0; i < call.tensors.size(); ++i) {
    if (!call.is_written(i)) continue;
    for (auto const at : call.tensors[i].elements()) turn(pointer(at), call.tensors[i].width);
  }
  require(sum_of_inputs(call) == before, "an input overlaps what is written");
}

seen_call const& begin(tk_op op, void* workspace, void* stream) {
  auto const& call = *running.seen;
  ++running.launches;
  require(call.spec->op->number == op, "a launch of another op");
  require(call.by_launch().must == 0, "a launch of a problem with faults");
  require(!call.empty, "a launch without an output element");
  require(workspace == running.workspace || (!workspace && running.needed == 0),
          "a launch with another workspace");
  require(stream == running.stream, "a launch on another stream");
  return call;
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

template <> bool is_of<tk::bf16>(tk::any_tensor const& x) { return x.type == tk::element::bf16; }
template <> bool is_of<tk::fp16>(tk::any_tensor const& x) { return x.type == tk::element::fp16; }
template <> bool is_of<float>(tk::any_tensor const& x) { return x.type == tk::element::fp32; }

}  // namespace fuzz
