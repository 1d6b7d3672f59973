// SPDX-License-Identifier: MIT
// The checks of one DLTensor, in the order device, type, rank, sizes, strides, data, and those of
// two of them. All arithmetic on sizes and strides is in 128 bits, so that nothing wraps unnoticed.
#include "ops/api/view.hpp"

#include <cstring>
#include <limits>
#include <string>

#include "backends/runtime.hpp"
#include "ops/api/refuse.hpp"

namespace tk::api {
namespace {

constexpr std::int64_t largest_size = std::numeric_limits<std::int32_t>::max() - 1024;
constexpr wide largest_bytes = std::numeric_limits<std::int64_t>::max();

struct named_type {
  element type;
  int code, bits;
  char const* name;
};
constexpr named_type named_types[] = {{element::bf16, kDLBfloat, 16, "bf16"},
                                      {element::fp16, kDLFloat, 16, "fp16"},
                                      {element::fp32, kDLFloat, 32, "fp32"},
                                      {element::fp8_e4m3, TK_DL_FLOAT8_E4M3FN, 8, "fp8 e4m3"},
                                      {element::fp8_e5m2, TK_DL_FLOAT8_E5M2, 8, "fp8 e5m2"},
                                      {element::int32, kDLInt, 32, "int32"},
                                      {element::int64, kDLInt, 64, "int64"},
                                      {element::uint64, kDLUInt, 64, "uint64"},
                                      {element::boolean, TK_DL_BOOL, 8, "bool"},
                                      {element::uint8, kDLUInt, 8, "uint8"}};

char const* name_of(element type) { return named_types[static_cast<int>(type)].name; }

std::string names_of(unsigned types) {
  std::string names;
  for (auto const& t : named_types) {
    if (types & only(t.type)) names += (names.empty() ? "" : " or ") + std::string(t.name);
  }
  return names;
}

std::string list(std::int64_t const* values, int count) {
  std::string text = "[";
  for (int i = 0; i < count; ++i) text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "]";
}

void check_device(DLTensor const& t, signature const& is, reading const& how) {
  int type;  // any number may stand here, which an enumeration must not hold
  std::memcpy(&type, &t.device.device_type, sizeof type);
  if (type != be::rt::dl_device_type) {
    refuse(status::bad_device, is.name, " is on a device of DLPack type ", type,
           "; this library takes type ", int(be::rt::dl_device_type));
  }
  if (t.device.device_id != how.device) {
    refuse(status::bad_device, is.name, " is on device ", t.device.device_id,
           " where the current device is ", how.device);
  }
}

element read_type(DLTensor const& t, signature const& is) {
  for (auto const& known : named_types) {
    bool const same = t.dtype.code == known.code && t.dtype.bits == known.bits;
    if (same && t.dtype.lanes == 1 && (is.types & only(known.type))) return known.type;
  }
  for (auto const& known : named_types) {
    if (t.dtype.code == known.code && t.dtype.bits == known.bits && t.dtype.lanes == 1)
      refuse(status::bad_type, is.name, " is ", known.name, "; it must be ", names_of(is.types));
  }
  refuse(status::bad_type, is.name, " has elements of DLPack type code ", int(t.dtype.code),
         ", bits ", int(t.dtype.bits), ", lanes ", int(t.dtype.lanes), "; they must be ",
         names_of(is.types));
}

void read_sizes(view& x, DLTensor const& t) {
  auto const& is = *x.is;
  if (t.ndim < is.least_rank || t.ndim > is.rank) {
    std::string const most =
        is.rank == is.least_rank
            ? ""
            : (is.rank == is.least_rank + 1 ? " or " : " to ") + std::to_string(is.rank);
    refuse(status::bad_rank, is.name, " has ", t.ndim, " dimensions; it must have ", is.least_rank,
           most);
  }
  if (!t.shape && t.ndim > 0) refuse(status::null_pointer, is.name, "'s shape is NULL");
  x.size.fill(1);
  for (int i = 0, axis = is.rank - t.ndim; i < t.ndim; ++i, ++axis) {
    if (t.shape[i] < 0 || t.shape[i] > largest_size) {
      refuse(status::bad_shape, is.name, " has ", is.axes[axis], " = ", t.shape[i],
             "; sizes must be 0 to ", largest_size);
    }
    x.size[axis] = t.shape[i];
  }
}

bool is_empty(view const& x) { return std::find(x.size.begin(), x.size.end(), 0) != x.size.end(); }

// Offsets in elements of the lowest and the highest element.
struct extent {
  wide low = 0, high = 0;
};

extent read_strides(view& x, DLTensor const& t) {
  auto const& is = *x.is;
  int const last = is.rank - 1, missing = is.rank - t.ndim;
  x.stride.fill(0);
  extent reach;
  if (is_empty(x)) return reach;
  if (!is.any_stride && t.strides && x.size[last] > 1 && t.strides[t.ndim - 1] != 1) {
    refuse(status::bad_stride, is.name, " has stride ", t.strides[t.ndim - 1], " in ",
           is.axes[last], ", its last dimension; it must be 1");
  }
  wide row_major = 1;
  for (int axis = last; axis >= missing; --axis) {
    wide const stride = t.strides ? wide(t.strides[axis - missing]) : row_major;
    wide const length = (x.size[axis] - 1) * stride;
    row_major *= x.size[axis];
    (length < 0 ? reach.low : reach.high) += length;
    if (x.size[axis] > 1) x.stride[axis] = static_cast<std::int64_t>(stride);
  }
  if ((reach.high - reach.low + 1) * x.width > largest_bytes) {
    refuse(t.strides ? status::bad_stride : status::bad_shape, is.name, " of sizes ",
           list(t.shape, t.ndim), " and ",
           t.strides ? "strides " + list(t.strides, t.ndim) : "row-major strides",
           " reaches over more than 2^63 - 1 bytes");
  }
  return reach;
}

void read_data(view& x, DLTensor const& t, extent const& reach) {
  auto const* name = x.is->name;
  if (is_empty(x)) return;
  if (!t.data)
    refuse(status::null_pointer, name, "'s data is NULL, its sizes are ", list(t.shape, t.ndim));
  wide const address = wide(reinterpret_cast<std::uintptr_t>(t.data)) + wide(t.byte_offset);
  wide const limit = std::numeric_limits<std::uintptr_t>::max();
  if (address + reach.low * x.width < 0 || address + (reach.high + 1) * x.width - 1 > limit) {
    refuse(status::bad_stride, name, " at data ", t.data, " + ", t.byte_offset, ", of sizes ",
           list(t.shape, t.ndim), " and strides ", list(&x.stride[x.is->rank - t.ndim], t.ndim),
           ", reaches outside the address space of 2^64 bytes");
  }
  if (address % x.width != 0) {
    refuse(status::bad_alignment, name, " at data ", t.data, " + ", t.byte_offset,
           " is not aligned to its elements of ", x.width, " bytes");
  }
  x.address = static_cast<std::uintptr_t>(address);
  x.data = reinterpret_cast<void*>(x.address);
}

}  // namespace

view read(DLTensor const* tensor, signature const& is, reading const& how) {
  if (!tensor) refuse(status::null_pointer, is.name, " is NULL");
  check_device(*tensor, is, how);
  view x;
  x.is = &is;
  x.type = read_type(*tensor, is);
  x.width = named_types[static_cast<int>(x.type)].bits / 8;
  x.rank = tensor->ndim;
  read_sizes(x, *tensor);
  auto const reach = read_strides(x, *tensor);
  if (how.data) read_data(x, *tensor, reach);
  return x;
}

void expect_same_size(view const& x, int i, view const& y, int j) {
  if (x.size[i] == y.size[j]) return;
  refuse(status::bad_shape, x.is->name, " has ", x.is->axes[i], " = ", x.size[i], " where ",
         y.is->name, " has ", y.is->axes[j], " = ", y.size[j]);
}

void expect_same_type(view const& x, view const& y) {
  if (x.type == y.type) return;
  refuse(status::bad_type, x.is->name, " is ", name_of(x.type), " where ", y.is->name, " is ",
         name_of(y.type));
}

void expect_type_or_fp32(view const& x, view const& like) {
  if (x.type == element::fp32 || x.type == like.type) return;
  refuse(status::bad_type, x.is->name, " is ", name_of(x.type), " where ", like.is->name, " is ",
         name_of(like.type), "; it must be that or fp32");
}

void expect_apart(view const& output, view const& other) {
  auto const found = overlap(output, other);
  if (found == verdict::apart) return;
  refuse(status::bad_overlap, output.is->name, " at ", output.data,
         found == verdict::overlap ? " overlaps " : " may overlap ", other.is->name, " at ",
         other.data, found == verdict::overlap ? "" : ": their strides are too intricate to tell");
}

void expect_distinct_elements(view const& output) {
  auto const found = self_overlap(output);
  if (found == verdict::apart) return;
  int const rank = output.rank, missing = output.is->rank - rank;
  refuse(status::bad_overlap, output.is->name, " of sizes ", list(&output.size[missing], rank),
         " and strides ", list(&output.stride[missing], rank),
         found == verdict::overlap ? " has elements that share an address"
                                   : " may have elements that share an address: its strides are "
                                     "too intricate to tell");
}

}  // namespace tk::api
