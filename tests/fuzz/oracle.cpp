// SPDX-License-Identifier: MIT
// See oracle.hpp. Tensors, overlap and ranges of options; the rest is each op's.
#include "tests/fuzz/oracle.hpp"

#include <algorithm>
#include <functional>
#include <limits>

namespace fuzz {
namespace {

unsigned type_of(int code, int bits) {
  if (bits == 32 && code == kDLFloat) return takes_fp32;
  if (bits == 32 && code == kDLInt) return takes_int32;
  if (bits == 64 && code == kDLInt) return takes_int64;
  if (bits == 64 && code == kDLUInt) return takes_uint64;
  if (bits == 8 && (code == TK_DL_BOOL || code == kDLUInt)) return takes_booleans;
  if (bits == 8) return code == TK_DL_FLOAT8_E4M3FN || code == TK_DL_FLOAT8_E5M2 ? takes_fp8 : 0u;
  if (bits != 16) return 0;
  return code == kDLBfloat ? takes_bf16 : code == kDLFloat ? takes_fp16 : 0u;
}

void look_at_strides(seen_tensor& t, tensor_spec const& x, expected const& is) {
  int const missing = is.rank - x.ndim, last = is.rank - 1;
  t.strided = t.empty();
  if (t.empty()) return;
  if (!is.any_stride && x.has_strides && t.size[last] > 1 && x.strides[x.ndim - 1] != 1) {
    t.faults |= bit(TK_BAD_STRIDE);
    return;
  }
  t.strided = true;
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

seen_tensor look_at_tensor(tensor_spec const& x, expected const& is) {
  seen_tensor t;
  t.looked_at = true;
  t.rank = is.rank;
  if (x.device_type != tk_device_type() || x.device_id != 0) t.faults |= bit(TK_BAD_DEVICE);
  int const code = x.code & 0xff, bits = x.bits & 0xff, lanes = x.lanes & 0xffff;
  t.typed = lanes == 1 && (type_of(code, bits) & is.types) != 0;
  if (!t.typed) t.faults |= bit(TK_BAD_TYPE);
  t.code = code, t.bits = bits, t.width = t.typed ? bits / 8 : 1;
  if (x.ndim < is.least_rank || x.ndim > is.rank) {
    t.faults |= bit(TK_BAD_RANK);
    return t;
  }
  if (!x.has_shape && x.ndim > 0) {
    t.faults |= bit(TK_NULL_POINTER);
    return t;
  }
  for (int i = 0; i < x.ndim; ++i) {
    if (x.shape[i] < 0 || x.shape[i] > largest_size) {
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

// The same elements in the same places.
bool is_same(seen_tensor const& x, seen_tensor const& y) {
  return x.looked_at && x.strided && y.strided && x.address == y.address && x.size == y.size &&
         x.stride == y.stride && x.bits == y.bits && x.code == y.code;
}

// Each output has elements of its own, and shares none with any other tensor but those that may be
// the output itself.
void look_at_overlap(seen_call& call) {
  for (std::size_t i = 0; i < call.tensors.size(); ++i) {
    if (!call.is_written(i)) continue;
    expect_distinct(call.by_query, call.tensors[i]);
    for (std::size_t j = 0; j < call.tensors.size(); ++j) {
      bool const seen_before = call.is_output(j) && j <= i;
      if (call.tensors[j].looked_at && !seen_before && !call.in_place(j, i))
        expect_apart(call.by_data, call.tensors[i], call.tensors[j]);
    }
  }
}

void look_at_options(seen_call& call) {
  for (auto const& field : call.spec->op->options) {
    int number;
    std::memcpy(&number, call.fields.data() + field.offset, sizeof number);
    if (field.is == option_field::choice)
      call.by_query.add(number < 0 || number >= field.choices, TK_BAD_VALUE);
    if (field.is == option_field::reserved) call.by_query.add(number != 0, TK_BAD_STRUCT);
  }
}

}  // namespace

void same_size(faults& to, seen_tensor const& x, int i, seen_tensor const& y, int j) {
  if (x.shaped && y.shaped) to.add(x.size[i] != y.size[j], TK_BAD_SHAPE);
}

void same_type(faults& to, seen_tensor const& x, seen_tensor const& y) {
  if (x.typed && y.typed) to.add(x.code != y.code || x.bits != y.bits, TK_BAD_TYPE);
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

std::size_t seen_call::index(std::string_view name) const {
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (spec->op->tensors[i].name == name) return i;
  broken("an op's oracle names a tensor that the op lacks");
}

bool seen_call::given(std::string_view name) const {
  auto const i = index(name);
  auto const offset = spec->op->tensors[i].offset;
  return spec->tensors[i].given &&
         (offset < spec->op->struct_bytes ? offset < spec->size : has_part());
}

void seen_call::read(std::string_view name, expected const& is) {
  auto& t = tensors[index(name)];
  if (given(name)) {
    t = look_at_tensor(spec->tensors[index(name)], is);
  } else {
    t.looked_at = true;
    t.faults = bit(TK_NULL_POINTER);
  }
}

bool seen_call::in_place(std::size_t i, std::size_t j) const {
  for (auto const output : spec->op->tensors[i].may_be)
    if (index(output) == j) return is_same(tensors[i], tensors[j]);
  return false;
}

bool seen_call::in_place(std::size_t i) const {
  for (std::size_t j = 0; j < tensors.size(); ++j)
    if (is_written(j) && in_place(i, j)) return true;
  return false;
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
  call.tensors.resize(x.tensors.size());
  bool const wrong_tail = x.tail_at >= x.op->struct_bytes && x.tail_at < x.size && x.tail_byte;
  if (x.size < x.op->first_bytes || x.size > largest_struct || x.size % sizeof(std::size_t) != 0 ||
      wrong_tail) {
    call.by_query.must = bit(TK_BAD_STRUCT);
    return call;
  }
  call.fields = x.fields;  // what an older struct lacks is 0
  auto const clear = [&](std::size_t from, std::size_t to) {
    if (from < to) std::memset(call.fields.data() + from, 0, to - from);
  };
  clear(x.size, x.op->struct_bytes);
  if (!call.has_part()) clear(x.op->struct_bytes, call.fields.size());
  else if (x.part_size < x.op->part_bytes || x.part_size > largest_struct ||
           x.part_size % sizeof(std::size_t) != 0)
    call.by_query.must |= bit(TK_BAD_STRUCT);
  look_at_options(call);
  x.op->look(call);
  for (auto const& t : call.tensors) {
    call.by_query.must |= t.faults;
    call.by_data.must |= t.data_faults;
  }
  look_at_overlap(call);
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
