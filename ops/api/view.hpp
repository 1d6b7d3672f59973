// SPDX-License-Identifier: MIT
// Reads a DLTensor as what an op expects of it: read() refuses device, type, rank, sizes, strides,
// data and alignment. In the view that it returns every axis is there (one left out has size 1), an
// axis of size 1 has stride 0, and a tensor without elements has strides 0 and no data.
#pragma once
#include "ops/api/overlap.hpp"
#include "ops/tensors.hpp"
#include "ops/tk_base.h"

namespace tk::api {

constexpr unsigned only(element type) { return 1u << static_cast<int>(type); }
constexpr unsigned fp32_only = only(element::fp32);
constexpr unsigned halves = only(element::bf16) | only(element::fp16);
constexpr unsigned any_type = halves | fp32_only;
constexpr unsigned booleans = only(element::boolean) | only(element::uint8);
constexpr unsigned fp8 = only(element::fp8_e4m3) | only(element::fp8_e5m2);
constexpr unsigned integers = only(element::int32) | only(element::int64);
constexpr unsigned integers64 = only(element::int64) | only(element::uint64);

// What an argument is called, and what it may be. Leading axes past `least_rank` may be left out.
// any_stride: the last axis need not be contiguous.
struct signature {
  char const* name;
  unsigned types;
  int rank, least_rank;
  std::array<char const*, 4> axes;
  bool any_stride = false;
};

struct reading {
  bool data;   // look at data pointers, as a launch does
  int device;  // the current device's number
};

struct view : footprint {
  signature const* is = nullptr;
  element type = element::bf16;
  int rank = 0;  // as the caller gave it; leading axes that were left out are not counted
  void* data = nullptr;
};

view read(DLTensor const* tensor, signature const& is, reading const& how);

// Size of axis i of x is that of axis j of y; the types of both are the same.
void expect_same_size(view const& x, int i, view const& y, int j);
void expect_same_type(view const& x, view const& y);
void expect_type_or_fp32(view const& x, view const& like);

// The same elements in the same places.
inline bool is_same(view const& x, view const& y) {
  return x.data == y.data && x.stride == y.stride && x.type == y.type;
}

// `output` shares no byte with `other`; no two of its elements share an address.
void expect_apart(view const& output, view const& other);
void expect_distinct_elements(view const& output);

}  // namespace tk::api
