// SPDX-License-Identifier: MIT
// See oracle.hpp. Written from the header, not from the checks.
#include "tests/fuzz/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <utility>

namespace fuzz {
namespace {

constexpr std::int64_t longest =
    (std::int64_t(1) << 31) - 1025;  // sizes and tiles; past it TK_UNSUPPORTED
constexpr std::int64_t longest_of_norm = (std::int64_t(1) << 31) - 65537;
constexpr std::int64_t readable = (std::int64_t(1) << 31) - 1;  // past it TK_BAD_SHAPE

struct expected {
  int least_rank, rank;
  bool halves, fp32;
};

bool is_half(int code, int bits) { return bits == 16 && (code == kDLBfloat || code == kDLFloat); }
bool is_fp32(int code, int bits) { return bits == 32 && code == kDLFloat; }

void look_at_strides(seen_tensor& t, tensor_spec const& x, expected const& is) {
  int const missing = is.rank - x.ndim, last = is.rank - 1;
  if (x.has_strides && t.size[last] > 1 && x.strides[x.ndim - 1] != 1) {
    t.faults |= bit(TK_BAD_STRIDE);
    return;
  }
  t.strided = true;
  if (t.empty()) return;
  wide packed = 1, lowest = 0, highest = 0;
  for (int i = last; i >= missing; --i) {
    wide const stride = x.has_strides ? wide(x.strides[i - missing]) : packed;
    packed *= t.size[i];
    if (t.size[i] == 1) continue;
    wide const reach = stride * (t.size[i] - 1);
    (reach < 0 ? lowest : highest) += reach;
    t.stride[i] = static_cast<std::int64_t>(stride);
  }
  if ((highest - lowest + 1) * t.width > std::numeric_limits<std::int64_t>::max()) {
    t.faults |= bit(x.has_strides ? TK_BAD_STRIDE : TK_BAD_SHAPE);
    t.strided = false;
    return;
  }
  t.address = wide(x.data) + wide(x.byte_offset);
  t.low = t.address + lowest * t.width;
  t.high = t.address + (highest + 1) * t.width;
  if (!x.data) t.data_faults |= bit(TK_NULL_POINTER);
  if (t.low < 0 || t.high > wide(1) << 64) t.data_faults |= bit(TK_BAD_STRIDE);
  if (t.address % t.width) t.data_faults |= bit(TK_BAD_ALIGNMENT);
}

seen_tensor look(tensor_spec const& x, expected const& is) {
  seen_tensor t;
  t.looked_at = true;
  t.rank = is.rank;
  if (!x.given) {
    t.faults = bit(TK_NULL_POINTER);
    return t;
  }
  if (x.device_type != tk_device_type() || x.device_id != 0) t.faults |= bit(TK_BAD_DEVICE);
  int const code = x.code & 0xff, bits = x.bits & 0xff, lanes = x.lanes & 0xffff;
  t.typed = lanes == 1 && ((is.halves && is_half(code, bits)) || (is.fp32 && is_fp32(code, bits)));
  if (!t.typed) t.faults |= bit(TK_BAD_TYPE);
  t.code = code, t.bits = bits, t.width = t.typed ? bits / 8 : 1;
  if (x.ndim < is.least_rank || x.ndim > is.rank) {
    t.faults |= bit(TK_BAD_RANK);
    return t;
  }
  if (!x.has_shape) {
    t.faults |= bit(TK_NULL_POINTER);
    return t;
  }
  for (int i = 0; i < x.ndim; ++i) {
    if (x.shape[i] < 0 || x.shape[i] > readable) {
      t.faults |= bit(TK_BAD_SHAPE);
      return t;
    }
    t.size[is.rank - x.ndim + i] = x.shape[i];
  }
  t.shaped = true;
  look_at_strides(t, x, is);
  return t;
}

// Do two lists of element addresses, both upward, share a byte?
bool meet(std::vector<wide> const& x, wide x_width, std::vector<wide> const& y, wide y_width) {
  std::size_t i = 0, j = 0;
  while (i < x.size() && j < y.size()) {
    if (x[i] + x_width <= y[j]) ++i;
    else if (y[j] + y_width <= x[i]) ++j;
    else return true;
  }
  return false;
}

void expect_apart(faults& to, seen_tensor const& x, seen_tensor const& y) {
  if (!x.strided || !y.strided || x.empty() || y.empty()) return;
  if (x.high <= y.low || y.high <= x.low) return;
  if (!x.countable() || !y.countable()) to.may |= bit(TK_BAD_OVERLAP);
  else to.add(meet(x.elements(), x.width, y.elements(), y.width), TK_BAD_OVERLAP);
}

void expect_distinct(faults& to, seen_tensor const& x) {
  if (!x.strided || x.empty()) return;
  if (!x.countable()) {
    to.may |= bit(TK_BAD_OVERLAP);
    return;
  }
  auto const& at = x.elements();
  for (std::size_t i = 1; i < at.size(); ++i) to.add(at[i] - at[i - 1] < x.width, TK_BAD_OVERLAP);
}

void same_size(faults& to, seen_tensor const& x, int i, seen_tensor const& y, int j) {
  if (x.shaped && y.shaped) to.add(x.size[i] != y.size[j], TK_BAD_SHAPE);
}
void same_type(faults& to, seen_tensor const& x, seen_tensor const& y) {
  if (x.typed && y.typed) to.add(x.code != y.code || x.bits != y.bits, TK_BAD_TYPE);
}

void add_tensors(seen_call& call) {
  for (auto const& t : call.tensors) {
    call.by_query.must |= t.faults;
    call.by_data.must |= t.data_faults;
  }
}

wide tiles(std::int64_t size, int tile) { return (size + tile - 1) / tile; }

void look_at_gemm(seen_call& call) {
  auto const& x = *call.spec;
  auto& [a, b, c, d, bias, none] = call.tensors;
  auto& f = call.by_query;
  bool const transposes = (x.transpose_a | x.transpose_b) >> 1 == 0;
  bool const kind = x.bias_kind >= 0 && x.bias_kind <= 2;
  f.add(!transposes || x.activation < 0 || x.activation > 4 || !kind, TK_BAD_VALUE);
  a = look(x.tensors[0], {2, 3, true, false});
  b = look(x.tensors[1], {2, 3, true, false});
  d = look(x.tensors[3], {2, 3, true, true});
  same_type(f, a, b);
  int const ta = x.transpose_a == 1, tb = x.transpose_b == 1;
  if (transposes) {
    same_size(f, b, 1 + tb, a, 2 - ta);
    same_size(f, d, 1, a, 1 + ta);
    same_size(f, d, 2, b, 2 - tb);
  }
  if (x.beta != 0) {
    c = look(x.tensors[2], {2, 3, true, true});
    same_type(f, c, d);
    same_size(f, c, 1, d, 1);
    same_size(f, c, 2, d, 2);
  }
  for (auto const* t : {&a, &b, &c})
    if (t->looked_at && t->size[0] != 1) same_size(f, *t, 0, d, 0);
  if (x.bias_kind == 0) f.add(x.tensors[4].given, TK_BAD_VALUE);
  if (kind && x.bias_kind != 0) {
    bias = look(x.tensors[4], {1, 1, true, true});
    if (bias.bits != 32) same_type(f, bias, d);
    same_size(f, bias, 0, d, x.bias_kind == 1 ? 2 : 1);
  }
  expect_distinct(f, d);
  call.empty = d.shaped && d.empty();
  if (!call.empty && a.shaped && d.shaped) {
    for (auto const size : {d.size[1], d.size[2], a.size[1], a.size[2]})
      f.add(size > longest, TK_UNSUPPORTED);
    f.add(tiles(d.size[1], 64) * tiles(d.size[2], 64) * d.size[0] > longest, TK_UNSUPPORTED);
  }
  add_tensors(call);
  for (auto const* t : {&a, &b, &c, &bias})
    if (t->looked_at && !(t == &c && call.in_place(2))) expect_apart(call.by_data, d, *t);
}

void look_at_attention(seen_call& call) {
  auto const& x = *call.spec;
  auto& [q, k, v, o, lse, none] = call.tensors;
  auto& f = call.by_query;
  f.add(x.mask < 0 || x.mask > 1 || !std::isfinite(x.scale), TK_BAD_VALUE);
  for (int i = 0; i < 4; ++i) call.tensors[i] = look(x.tensors[i], {4, 4, true, false});
  for (auto const* t : {&k, &v, &o}) {
    same_type(f, *t, q);
    same_size(f, *t, 0, q, 0);
  }
  same_size(f, k, 3, q, 3);
  same_size(f, v, 1, k, 1);
  same_size(f, v, 2, k, 2);
  same_size(f, o, 1, q, 1);
  same_size(f, o, 2, q, 2);
  same_size(f, o, 3, v, 3);
  auto const hq = q.size[2], hk = k.size[2];
  if (q.shaped && k.shaped) f.add(hk == 0 ? hq != 0 : hq % hk != 0, TK_BAD_SHAPE);
  for (auto const* t : {&q, &v}) {
    auto const size = t->size[3];
    f.add(t->shaped && (size < 8 || size > 256 || size % 8), TK_UNSUPPORTED);
  }
  expect_distinct(f, o);
  if (x.tensors[4].given) {
    lse = look(x.tensors[4], {3, 3, false, true});
    same_size(f, lse, 0, q, 0);
    same_size(f, lse, 1, q, 2);
    same_size(f, lse, 2, q, 1);
    expect_distinct(f, lse);
  }
  call.empty = o.shaped && (o.size[0] == 0 || o.size[1] == 0 || o.size[2] == 0);
  if (!call.empty && q.shaped && k.shaped) {
    f.add(q.size[1] + k.size[1] > longest, TK_UNSUPPORTED);
    f.add(tiles(q.size[1], 16) * q.size[2] * q.size[0] > longest, TK_UNSUPPORTED);
  }
  add_tensors(call);
  for (auto const* t : {&q, &k, &v}) {
    expect_apart(call.by_data, o, *t);
    expect_apart(call.by_data, lse, *t);
  }
  expect_apart(call.by_data, o, lse);
}

// The same elements in the same places.
bool is_same(seen_tensor const& x, seen_tensor const& y) {
  return x.looked_at && x.strided && y.strided && x.address == y.address && x.size == y.size &&
         x.stride == y.stride;
}

void look_at_norm(seen_call& call) {
  auto const& x = *call.spec;
  auto& [in, residual, weight, y, r, bias] = call.tensors;
  auto& f = call.by_query;
  f.add(x.kind < 0 || x.kind > 1 || !std::isfinite(x.eps) || x.eps < 0, TK_BAD_VALUE);
  for (std::size_t i : {0, 1, 3, 4}) {
    bool const optional = i == 1 || i == 4;
    if (optional && !x.tensors[i].given) continue;
    auto& t = call.tensors[i] = look(x.tensors[i], {1, 2, true, true});
    same_type(f, t, in);
    same_size(f, t, 0, in, 0);
    same_size(f, t, 1, in, 1);
  }
  for (std::size_t i : {2, 5}) {
    if (!x.tensors[i].given) continue;
    auto& t = call.tensors[i] = look(x.tensors[i], {1, 1, true, true});
    if (t.bits != 32) same_type(f, t, in);
    same_size(f, t, 0, in, 1);
  }
  same_type(f, weight, bias);
  call.empty = in.shaped && in.empty();
  if (!call.empty && in.shaped)
    f.add(in.size[0] > longest_of_norm || in.size[1] > longest_of_norm, TK_UNSUPPORTED);
  add_tensors(call);
  for (auto const* output : {&y, &r}) {
    expect_distinct(f, *output);
    for (auto const* input : {&in, &residual, &weight, &bias}) {
      bool const may_be_same = input == &in || input == &residual;
      if (!may_be_same || !is_same(*input, *output)) expect_apart(call.by_data, *output, *input);
    }
  }
  expect_apart(call.by_data, y, r);
}

}  // namespace

void broken(char const* what) {
  std::fprintf(stderr, "tk_fuzz: %s\n  %s\n", what, tk_last_error());
  __builtin_trap();
}

// Walked from the lowest address, by falling strides: nearly always upward as they come.
std::vector<wide> const& seen_tensor::elements() const {
  if (!elements_.empty() || empty()) return elements_;
  std::array<std::pair<wide, std::int64_t>, 4> axes;
  for (std::size_t i = 0; i < 4; ++i)
    axes[i] = {stride[i] < 0 ? -wide(stride[i]) : stride[i], size[i]};
  std::sort(axes.begin(), axes.end(), std::greater<>());
  auto& at = elements_;
  at.reserve(static_cast<std::size_t>(count()));
  auto const walk = [&](auto const& self, std::size_t axis, wide from) -> void {
    if (axis == 4) return at.push_back(from);
    for (std::int64_t i = 0; i < axes[axis].second; ++i)
      self(self, axis + 1, from + i * axes[axis].first * width);
  };
  walk(walk, 0, low);
  if (!std::is_sorted(at.begin(), at.end())) std::sort(at.begin(), at.end());
  return at;
}

std::array<bool, 6> seen_call::outputs() const {
  return {false, false, false, true, spec->op != TK_OP_GEMM && tensors[4].looked_at, false};
}

bool seen_call::in_place(std::size_t i) const {
  if (spec->op == TK_OP_GEMM) return i == 2 && is_same(tensors[2], tensors[3]);
  if (spec->op != TK_OP_NORM || i > 1) return false;
  return is_same(tensors[i], tensors[3]) ||
         (tensors[4].looked_at && is_same(tensors[i], tensors[4]));
}

bool seen_call::touchable() const {
  for (auto const& t : tensors) {
    if (!t.looked_at || (t.strided && t.empty())) continue;
    if (!t.strided || !t.countable() || !in_arena(t.low, t.high)) return false;
  }
  return true;
}

seen_call look(call_spec const& x) {
  seen_call call;
  call.spec = &x;
  auto const known = x.op == TK_OP_GEMM                ? sizeof(tk_gemm_problem)
                     : x.op == TK_OP_ATTENTION_FORWARD ? sizeof(tk_attention_forward_problem)
                                                       : sizeof(tk_norm_problem);
  if (x.size != known) {
    call.by_query.must = bit(TK_BAD_STRUCT);
    return call;
  }
  if (x.op == TK_OP_GEMM) look_at_gemm(call);
  else if (x.op == TK_OP_ATTENTION_FORWARD) look_at_attention(call);
  else look_at_norm(call);
  return call;
}

faults look_at_workspace(seen_call const& x, void const* at, std::size_t given,
                         std::size_t needed) {
  faults f;
  f.add(!at, TK_NULL_POINTER);
  f.add(given < needed, TK_SMALL_WORKSPACE);
  wide const from = address_of(at), to = from + wide(needed);
  f.add(from % 16 != 0, TK_BAD_ALIGNMENT);
  for (auto const& t : x.tensors) {
    if (!t.looked_at || t.empty() || t.high <= from || to <= t.low) continue;
    if (!t.countable()) {
      f.may |= bit(TK_BAD_OVERLAP);
      continue;
    }
    for (auto const element : t.elements())
      f.add(element < to && element + t.width > from, TK_BAD_OVERLAP);
  }
  return f;
}

}  // namespace fuzz
