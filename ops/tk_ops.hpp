// SPDX-License-Identifier: MIT
// The C++ interface of libtk_ops, header-only over tk_ops.h: views of the caller's memory in place
// of DLTensors, options with defaults in place of structs, and tk::error (core/status.hpp: a status
// and a sentence) in place of return values. Shapes, types and numerics are those of tk_ops.h.
// A call only enqueues work on a stream; memory belongs to the caller and must outlive that work.
//   tk::gemm({a, tk::dl_bf16, {m, k}}, {w, tk::dl_bf16, {n, k}}, {d, tk::dl_fp32, {m, n}},
//            {.transpose_b = true});
// Other libraries' arrays and streams are arguments too, where a header says what they are: Kokkos'
// views and execution spaces with ops/tk_kokkos.hpp.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

#include "core/status.hpp"
#include "ops/tk_ops.h"

namespace tk {

inline constexpr DLDataType dl_bf16{kDLBfloat, 16, 1};
inline constexpr DLDataType dl_fp16{kDLFloat, 16, 1};
inline constexpr DLDataType dl_fp32{kDLFloat, 32, 1};

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

// c is needed where beta is not 0, bias where bias_kind is not TK_BIAS_NONE.
struct gemm_options {
  bool transpose_a = false, transpose_b = false;  // a is [k, m], b is [n, k]
  float alpha = 1, beta = 0;
  tensor_view c{};
  tensor_view bias{};
  tk_bias bias_kind = TK_BIAS_NONE;
  tk_activation activation = TK_ACTIVATION_NONE;
  void* workspace = nullptr;  // gemm_workspace() bytes, aligned to 16; see tk_ops.h
  std::size_t workspace_bytes = 0;
  tk::stream stream{};
};

struct attention_forward_options {
  output_view lse{};  // [b, hq, nq] fp32, natural logarithm; not written where absent
  tk_mask mask = TK_MASK_NONE;
  std::optional<float> scale{};  // 1 / sqrt(d) where absent
  void* workspace = nullptr;     // attention_forward_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk::stream stream{};
};

struct norm_options {
  tensor_view residual{};  // r = x + residual
  tensor_view weight{};    // [width], 1 where absent
  tensor_view bias{};      // [width], 0 where absent
  output_view r{};         // not written where absent
  tk_norm_kind kind = TK_NORM_LAYER;
  float eps = 1e-5f;
  void* workspace = nullptr;  // norm_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk::stream stream{};
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

inline tk_gemm_problem problem(tensor_view const& a, tensor_view const& b, output_view const& d,
                               gemm_options const& o) {
  return {.size = sizeof(tk_gemm_problem),
          .a = a.get(),
          .b = b.get(),
          .c = o.c.get(),
          .bias = o.bias.get(),
          .d = d.get(),
          .transpose_a = o.transpose_a,
          .transpose_b = o.transpose_b,
          .alpha = o.alpha,
          .beta = o.beta,
          .bias_kind = o.bias_kind,
          .activation = o.activation};
}

inline tk_norm_problem problem(tensor_view const& x, output_view const& y, norm_options const& o) {
  return {.size = sizeof(tk_norm_problem),
          .x = x.get(),
          .residual = o.residual.get(),
          .weight = o.weight.get(),
          .bias = o.bias.get(),
          .y = y.get(),
          .r = o.r.get(),
          .kind = o.kind,
          .eps = o.eps};
}

inline float usual_scale(DLTensor const* q) {
  bool const known = q && q->shape && q->ndim > 0 && q->shape[q->ndim - 1] > 0;
  return known ? 1 / std::sqrt(static_cast<float>(q->shape[q->ndim - 1])) : 1;
}

inline tk_attention_forward_problem problem(tensor_view const& q, tensor_view const& k,
                                            tensor_view const& v, output_view const& o,
                                            attention_forward_options const& x) {
  return {.size = sizeof(tk_attention_forward_problem),
          .q = q.get(),
          .k = k.get(),
          .v = v.get(),
          .o = o.get(),
          .lse = x.lse.get(),
          .mask = x.mask,
          .scale = x.scale ? *x.scale : usual_scale(q.get())};
}

}  // namespace detail

// d = activation(alpha op(a) op(b) + beta c + bias); a [m, k], b [k, n], c and d [m, n], each with
// an optional leading batch; last dimension contiguous, other strides free. Sums in fp32, the same
// bit for bit from run to run. Throws tk::error before anything is launched or written.
inline void gemm(tensor_view const& a, tensor_view const& b, output_view const& d,
                 gemm_options const& options = {}) {
  auto const problem = detail::problem(a, b, d, options);
  detail::require(
      tk_gemm(&problem, options.workspace, options.workspace_bytes, options.stream.handle()));
}

// Bytes of device memory that gemm() wants as workspace. Data pointers may be null.
inline std::size_t gemm_workspace(tensor_view const& a, tensor_view const& b, output_view const& d,
                                  gemm_options const& options = {}) {
  auto const problem = detail::problem(a, b, d, options);
  return detail::workspace(TK_OP_GEMM, &problem);
}

// Why gemm() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> gemm_refusal(tensor_view const& a, tensor_view const& b,
                                         output_view const& d, gemm_options const& options = {}) {
  auto const problem = detail::problem(a, b, d, options);
  return detail::refusal(tk_supports(TK_OP_GEMM, &problem));
}

// o = softmax(scale q k^T + mask) v, and lse where given; q [b, nq, hq, d], k [b, nk, hk, d],
// v [b, nk, hk, dv], o [b, nq, hq, dv]; hq a multiple of hk, d and dv multiples of 8 up to 256; the
// last dimension contiguous, other strides free. A row that sees no key gives o = 0, lse = -inf.
// The same bit for bit from run to run. Throws tk::error before anything is launched or written.
inline void attention_forward(tensor_view const& q, tensor_view const& k, tensor_view const& v,
                              output_view const& o, attention_forward_options const& options = {}) {
  auto const problem = detail::problem(q, k, v, o, options);
  detail::require(tk_attention_forward(&problem, options.workspace, options.workspace_bytes,
                                       options.stream.handle()));
}

// Bytes of device memory that attention_forward() wants as workspace. Data pointers may be null.
inline std::size_t attention_forward_workspace(tensor_view const& q, tensor_view const& k,
                                               tensor_view const& v, output_view const& o,
                                               attention_forward_options const& options = {}) {
  auto const problem = detail::problem(q, k, v, o, options);
  return detail::workspace(TK_OP_ATTENTION_FORWARD, &problem);
}

// Why attention_forward() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> attention_forward_refusal(
    tensor_view const& q, tensor_view const& k, tensor_view const& v, output_view const& o,
    attention_forward_options const& options = {}) {
  auto const problem = detail::problem(q, k, v, o, options);
  return detail::refusal(tk_supports(TK_OP_ATTENTION_FORWARD, &problem));
}

// r = x + residual, and y = r normalised row by row, times weight, plus bias; x, residual, y, r
// [rows, width] of one type (bf16, fp16, fp32), weight and bias [width] of that type or fp32; the
// last dimension contiguous. Statistics, and y, from the fp32 sum r. y and r may be x or residual
// themselves. Throws tk::error before anything is launched or written.
inline void norm(tensor_view const& x, output_view const& y, norm_options const& options = {}) {
  auto const problem = detail::problem(x, y, options);
  detail::require(
      tk_norm(&problem, options.workspace, options.workspace_bytes, options.stream.handle()));
}

// Bytes of device memory that norm() wants as workspace. Data pointers may be null.
inline std::size_t norm_workspace(tensor_view const& x, output_view const& y,
                                  norm_options const& options = {}) {
  auto const problem = detail::problem(x, y, options);
  return detail::workspace(TK_OP_NORM, &problem);
}

// Why norm() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> norm_refusal(tensor_view const& x, output_view const& y,
                                         norm_options const& options = {}) {
  auto const problem = detail::problem(x, y, options);
  return detail::refusal(tk_supports(TK_OP_NORM, &problem));
}

}  // namespace tk
