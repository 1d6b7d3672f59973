// SPDX-License-Identifier: MIT
// An op's problem as the arguments of a call say it is (binding.cpp).
#pragma once
#include <tvm/ffi/c_api.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "python/binding.hpp"

namespace tk::python {

inline int raise(char const* kind, std::string const& message) {
  TVMFFIErrorSetRaisedFromCStr(kind, message.c_str());
  return -1;
}

inline DLTensor const* tensor_of(TVMFFIAny const& x) {
  if (x.type_index == kTVMFFIDLTensorPtr) return static_cast<DLTensor const*>(x.v_ptr);
  if (x.type_index == kTVMFFITensor) return TVMFFITensorGetDLTensorPtr(x.v_obj);
  return nullptr;
}

inline std::int64_t elements_of(DLTensor const& x) {
  std::int64_t count = 1;
  for (int i = 0; i < x.ndim; ++i) count *= x.shape[i];
  return count;
}
inline bool is_contiguous(DLTensor const& x) {
  if (!x.strides || elements_of(x) == 0) return true;
  std::int64_t step = 1;
  for (int i = x.ndim; i-- > 0; step *= x.shape[i])
    if (x.shape[i] != 1 && x.strides[i] != step) return false;
  return true;
}

// A problem as the arguments say it is.
class filled_problem {
 public:
  DLTensor const* first = nullptr;  // of its tensors

  explicit filled_problem(op const& of) : of_(of) {
    put(problem_, 0, of.size);
    put(options_, 0, of.options_size);
  }
  void* data() {
    if (has_options_) put(problem_, of_.options_at, static_cast<void const*>(options_));
    return problem_;
  }
  // All fields; 0 is every option's "off", and so is None. False: an exception is set.
  bool take(TVMFFIAny const* args) {
    for (int i = 0; i < of_.count; ++i)
      if (args[i].type_index != kTVMFFINone && !take(of_.fields[i], args[i])) return false;
    return true;
  }
  // One of them. With `rows` a contiguous tensor of three or more dimensions is a matrix, and one
  // without elements has a matrix's strides.
  bool take(field const& f, TVMFFIAny const& x, bool rows = false) {
    if (x.type_index == kTVMFFINone && f.is == field::tensor) return true;
    char* const to = f.of_options ? options_ : problem_;
    bool const whole = x.type_index == kTVMFFIInt || x.type_index == kTVMFFIBool;
    if (f.is == field::tensor) {
      auto const* tensor = tensor_of(x);
      if (!tensor) return refuse(f, "a tensor or None");
      if (rows && (tensor->ndim > 2 || (tensor->ndim == 2 && elements_of(*tensor) == 0)) &&
          !(tensor = matrix_of(*tensor)))
        return refuse(f, "contiguous", "ValueError");
      if (!first) first = tensor;
      put(to, f.offset, tensor);
    } else if (f.is == field::number) {
      if (!whole && x.type_index != kTVMFFIFloat) return refuse(f, "a number");
      put(to, f.offset, static_cast<float>(whole ? static_cast<double>(x.v_int64) : x.v_float64));
    } else if (!whole) {
      return refuse(f, "a whole number");
    } else if (f.is == field::of_64_bits) {
      put(to, f.offset, x.v_int64);
    } else {
      using limits = std::numeric_limits<std::int32_t>;
      if (x.v_int64 < limits::min() || x.v_int64 > limits::max())
        return refuse(f, "a number of 32 bits", "OverflowError");
      put(to, f.offset, static_cast<std::int32_t>(x.v_int64));
    }
    has_options_ = has_options_ || (f.of_options && (f.is == field::tensor || x.v_int64 != 0));
    return true;
  }

 private:
  struct matrix {
    DLTensor tensor;
    std::int64_t shape[2], strides[2];
  };

  template <class T> static void put(char* to, std::size_t at, T x) {
    std::memcpy(to + at, &x, sizeof x);
  }
  bool refuse(field const& f, char const* what, char const* kind = "TypeError") {
    raise(kind, std::string(of_.name) + ": " + f.name + " must be " + what);
    return false;
  }
  // The tensor as a matrix of its last dimension; null where it is not contiguous.
  DLTensor const* matrix_of(DLTensor const& x) {
    if (matrix_count_ == matrices_.size() || !is_contiguous(x)) return nullptr;
    matrix& y = matrices_[matrix_count_++];
    std::int64_t const width = x.shape[x.ndim - 1];
    std::int64_t rows = 1;
    for (int i = 0; i < x.ndim - 1; ++i) rows *= x.shape[i];
    y = {x, {rows, width}, {width, 1}};
    y.tensor.ndim = 2, y.tensor.shape = y.shape, y.tensor.strides = y.strides;
    return &y.tensor;
  }

  op const& of_;
  bool has_options_ = false;
  std::size_t matrix_count_ = 0;
  std::array<matrix, 8> matrices_;  // more than any op of rows has
  alignas(16) char problem_[largest_problem] = {}, options_[largest_problem] = {};
};

}  // namespace tk::python
