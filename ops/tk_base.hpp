// SPDX-License-Identifier: MIT
// What the ops of the C++ interface have in common: views of tensors, streams, and how a refusal
// becomes tk::error (core/status.hpp: a status and a sentence).
#pragma once
#if __cplusplus < 202002L
#error "TK's C++ interface needs C++20; its C interface, tk_ops.h, does not"
#endif
#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

#include "core/status.hpp"
#include "ops/tk_op.h"

namespace tk {

inline constexpr DLDataType dl_bf16{kDLBfloat, 16, 1};
inline constexpr DLDataType dl_fp16{kDLFloat, 16, 1};
inline constexpr DLDataType dl_fp32{kDLFloat, 32, 1};
inline constexpr DLDataType dl_fp8_e4m3{TK_DL_FLOAT8_E4M3FN, 8, 1};
inline constexpr DLDataType dl_fp8_e5m2{TK_DL_FLOAT8_E5M2, 8, 1};
inline constexpr DLDataType dl_bool{TK_DL_BOOL, 8, 1};
inline constexpr DLDataType dl_uint8{kDLUInt, 8, 1};
inline constexpr DLDataType dl_int32{kDLInt, 32, 1};
inline constexpr DLDataType dl_int64{kDLInt, 64, 1};
inline constexpr DLDataType dl_uint64{kDLUInt, 64, 1};

// What a foreign array or stream is. A specialisation of foreign_tensor has
//   static tensor_view describe(X const&);   static constexpr bool is_const;
// one of foreign_stream has  static void* handle(X const&).
template <class X> struct foreign_tensor;
template <class X> struct foreign_stream;

class tensor_view;
template <class X>
concept readable_array = requires(X const& x) {
  { foreign_tensor<X>::describe(x) } -> std::same_as<tensor_view>;
};
template <class X>
concept writable_array = readable_array<X> && !foreign_tensor<X>::is_const;

// A tensor that is read: no tensor, a caller's DLTensor (which must live as long as the view), or
// memory described here. Sizes and strides count elements, at most 4 of each; without strides the
// tensor is row-major. `data` lies on device `device_id` of the kind the library was built for.
class tensor_view {
 public:
  using extents = std::span<std::int64_t const>;
  using listed = std::initializer_list<std::int64_t>;

  tensor_view() = default;
  tensor_view(DLTensor const* given) : given_(given) {}
  template <readable_array X>
  tensor_view(X const& x) : tensor_view(foreign_tensor<X>::describe(x)) {}
  tensor_view(void const* data, DLDataType type, extents shape, extents strides = {},
              int device_id = 0)
      : tensor_view(data, type, shape, strides,
                    DLDevice{static_cast<DLDeviceType>(tk_device_type()), device_id}) {}
  tensor_view(void const* data, DLDataType type, extents shape, extents strides, DLDevice device)
      : owned_(true) {
    check_rank(shape.size(), strides.size());
    std::copy(shape.begin(), shape.end(), shape_.begin());
    std::copy(strides.begin(), strides.end(), strides_.begin());
    dl_.data = const_cast<void*>(data);  // DLPack has no const; inputs are only read
    dl_.device = device;
    dl_.ndim = static_cast<int>(shape.size());
    dl_.dtype = type;
    dl_.shape = shape_.data();
    dl_.strides = strides.empty() ? nullptr : strides_.data();
  }
  tensor_view(void const* data, DLDataType type, listed shape, listed strides = {},
              int device_id = 0)
      : tensor_view(data, type, extents(shape.begin(), shape.size()),
                    extents(strides.begin(), strides.size()), device_id) {}

  tensor_view(tensor_view const& x) { *this = x; }
  tensor_view& operator=(tensor_view const& x) {
    given_ = x.given_;
    owned_ = x.owned_;
    shape_ = x.shape_;
    strides_ = x.strides_;
    dl_ = x.dl_;
    dl_.shape = shape_.data();
    if (dl_.strides) dl_.strides = strides_.data();
    return *this;
  }

  // NULL where there is no tensor; valid as long as this view.
  DLTensor const* get() const { return owned_ ? &dl_ : given_; }

 private:
  static void check_rank(std::size_t sizes, std::size_t strides) {
    if (sizes > 4) {
      throw error(status::bad_rank, "tensor_view: a shape of " + std::to_string(sizes) +
                                        " dimensions; at most 4 are taken");
    }
    if (strides != 0 && strides != sizes) {
      throw error(status::bad_stride, "tensor_view: " + std::to_string(strides) + " strides for " +
                                          std::to_string(sizes) + " sizes");
    }
  }

  DLTensor const* given_ = nullptr;
  bool owned_ = false;
  std::array<std::int64_t, 4> shape_{}, strides_{};
  DLTensor dl_{};
};

// A tensor that is written: a view of memory that is not const.
class output_view : public tensor_view {
 public:
  output_view() = default;
  output_view(DLTensor const* given) : tensor_view(given) {}
  template <writable_array X> output_view(X const& x) : tensor_view(x) {}
  output_view(void* data, DLDataType type, extents shape, extents strides = {}, int device_id = 0)
      : tensor_view(data, type, shape, strides, device_id) {}
  output_view(void* data, DLDataType type, listed shape, listed strides = {}, int device_id = 0)
      : tensor_view(data, type, shape, strides, device_id) {}
};

// The queue that a call is enqueued on: a stream of the device's runtime, null for its default.
class stream {
 public:
  stream(void* handle = nullptr) : handle_(handle) {}
  template <class X>
    requires requires(X const& x) { foreign_stream<X>::handle(x); }
  stream(X const& x) : handle_(foreign_stream<X>::handle(x)) {}
  void* handle() const { return handle_; }

 private:
  void* handle_;
};

namespace detail {

inline std::optional<error> refusal(tk_status code) {
  if (code == TK_OK) return std::nullopt;
  return error(static_cast<status>(code), tk_last_error());
}

inline void require(tk_status code) {
  if (auto const refused = refusal(code)) throw *refused;
}

inline std::size_t workspace(tk_op op, void const* problem) {
  std::size_t bytes = 0;
  require(tk_workspace(op, problem, &bytes));
  return bytes;
}

}  // namespace detail
}  // namespace tk
