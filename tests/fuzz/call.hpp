// SPDX-License-Identifier: MIT
// A call of the C interface in plain numbers, any of which may be wrong, and the structs made from
// them. Problems, shapes and strides are allocated to the byte, so that AddressSanitizer sees a
// read past what the caller promised.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>

#include "tests/fuzz/op.hpp"

namespace fuzz {

struct tensor_spec {
  bool given = true, has_shape = true, has_strides = true;
  int device_type = tk_device_type(), device_id = 0;
  int code = kDLBfloat, bits = 16, lanes = 1, ndim = 0;
  std::array<std::int64_t, 8> shape{}, strides{};
  std::uint64_t data = 0, byte_offset = 0;
};

enum class workspace_in { nowhere, pool, arena };

constexpr std::size_t largest_struct = 1024;  // of any version

struct call_spec {
  fuzzed_op const* op = nullptr;
  std::vector<tensor_spec> tensors;   // as in op->tensors
  std::vector<unsigned char> fields;  // the problem's struct; `size` and tensors are put in later
  std::size_t size = 0;               // the struct's field
  bool has_part = false;              // the second struct, whose fields follow the first's
  std::size_t part_size = 0;
  // A struct that is longer than this library's has zeros there, but for one byte.
  std::size_t tail_at = 0;
  unsigned char tail_byte = 0;
  workspace_in where = workspace_in::pool;
  std::uint64_t workspace_shift = 0;  // bytes into the arena, or off the pool's alignment
  std::int64_t workspace_more = 0;    // bytes past what is needed
};

// A number that need not be an enumerator, as C would store it.
template <class Enum> void put(Enum& to, int number) { std::memcpy(&to, &number, sizeof number); }
template <class Enum> int number_in(Enum const& from) {
  int number;
  std::memcpy(&number, &from, sizeof number);
  return number;
}

class built {
 public:
  explicit built(call_spec const& x) : tensors_(x.tensors.size()) {
    auto fields = x.fields;
    std::memcpy(fields.data(), &x.size, sizeof x.size);
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      make(tensors_[i], x.tensors[i]);
      DLTensor const* const at = tensors_[i].dl.get();
      std::memcpy(fields.data() + x.op->tensors[i].offset, &at, sizeof at);
    }
    if (x.has_part) {
      std::memcpy(fields.data() + x.op->struct_bytes, &x.part_size, sizeof x.part_size);
      part_ = allocate(x.part_size, fields.data() + x.op->struct_bytes, x.op->part_bytes);
      void const* const at = part_.get();
      std::memcpy(fields.data() + x.op->part_at, &at, sizeof at);
    }
    problem_ = allocate(x.size, fields.data(), x.op->struct_bytes);
    if (x.tail_at >= x.op->struct_bytes && x.tail_at < bytes_of(x.size))
      problem_[x.tail_at] = x.tail_byte;
  }
  void const* problem() const { return problem_.get(); }

 private:
  struct one {
    std::unique_ptr<DLTensor> dl;
    std::unique_ptr<std::int64_t[]> shape, strides;
  };

  // A struct that says it is smaller is smaller.
  static std::size_t bytes_of(std::size_t size) {
    return std::clamp(size, sizeof size, largest_struct);
  }
  static std::unique_ptr<unsigned char[]> allocate(std::size_t size, unsigned char const* from,
                                                   std::size_t known) {
    auto to = std::make_unique<unsigned char[]>(bytes_of(size));
    std::memcpy(to.get(), from, std::min(bytes_of(size), known));
    return to;
  }

  static void make(one& t, tensor_spec const& x) {
    if (!x.given) return;
    auto const rank = static_cast<std::size_t>(x.ndim > 0 && x.ndim <= 8 ? x.ndim : 0);
    auto const copy = [&](auto const& from) {
      auto to = std::make_unique<std::int64_t[]>(rank);
      std::copy_n(from.begin(), rank, to.get());
      return to;
    };
    if (x.has_shape) t.shape = copy(x.shape);
    if (x.has_strides) t.strides = copy(x.strides);
    t.dl = std::make_unique<DLTensor>();
    t.dl->data = reinterpret_cast<void*>(x.data);
    put(t.dl->device.device_type, x.device_type);
    t.dl->device.device_id = x.device_id;
    t.dl->ndim = x.ndim;
    t.dl->dtype = {static_cast<std::uint8_t>(x.code), static_cast<std::uint8_t>(x.bits),
                   static_cast<std::uint16_t>(x.lanes)};
    t.dl->shape = t.shape.get();
    t.dl->strides = t.strides.get();
    t.dl->byte_offset = x.byte_offset;
  }

  std::vector<one> tensors_;
  std::unique_ptr<unsigned char[]> problem_, part_;
};

}  // namespace fuzz
