// SPDX-License-Identifier: MIT
// Tensors as checks hand them to launches: every promise verified, sizes in 31 bits, strides in
// elements, `type` says what an untyped tensor holds.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tk {

enum class element : int {
  bf16,
  fp16,
  fp32,
  fp8_e4m3,
  fp8_e5m2,
  int32,
  int64,
  uint64,
  boolean,
  uint8
};

// data[i * strides[0] + j * strides[1] + ...]; dimensions a problem lacks have size 1, stride 0.
struct any_tensor {
  void* data;
  element type;
};
struct matrix : any_tensor {  // [batch, rows, cols]
  std::int64_t batch, rows, cols, batch_stride, row_stride;
};

struct heads : any_tensor {  // [b, n, h, d], d contiguous
  std::int64_t b, n, h, d, b_stride, n_stride, h_stride;
};

// [outer, middle, rows, width], width contiguous.
struct row_tensor_view : any_tensor {
  std::int64_t outer, middle, rows, width;
  std::int64_t outer_stride, middle_stride, row_stride;
};
// Whether the rows of all matrices are row_stride apart.
inline bool lie_evenly(row_tensor_view const& x) {
  auto const apart = [](std::int64_t n, std::int64_t stride, std::int64_t is) {
    return n <= 1 || stride == is;
  };
  return apart(x.middle, x.middle_stride, x.rows * x.row_stride) &&
         apart(x.outer, x.outer_stride, x.middle * x.rows * x.row_stride);
}

// Which columns a row of scores sees: tk_mask of ops/tk_base.h.
enum class mask_kind : int { none, causal };

// tk_activation_kind of ops/tk_base.h.
enum class activation_kind : int { none, relu, silu, gelu_tanh, gelu_erf, sigmoid };

// What results repeat bit for bit: tk_repeat of ops/tk_base.h.
enum class repeat_kind : int { run, row };

// A workspace begins with counters, which are zero before and after every launch.
inline constexpr std::size_t counter_bytes = 4096;

// Where things lie in a workspace; the query and the launch lay it out with the same calls. Without
// any it needs no byte.
class workspace_layout {
 public:
  // The counters, at its beginning.
  void add_counters() {
    if (bytes_ == 0) bytes_ = counter_bytes;
  }
  // The offset of `bytes` bytes behind all that was added before; none, where they are 0.
  std::size_t add(std::size_t bytes) {
    constexpr std::size_t alignment = 128;
    if (bytes == 0) return 0;
    add_counters();
    auto const at = (bytes_ + alignment - 1) / alignment * alignment;
    bytes_ = at + bytes;
    return at;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};
template <class T> T* in_workspace(void* workspace, std::size_t offset) {
  return reinterpret_cast<T*>(static_cast<char*>(workspace) + offset);
}

}  // namespace tk
