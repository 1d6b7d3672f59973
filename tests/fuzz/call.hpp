// SPDX-License-Identifier: MIT
// A call of the C interface in plain numbers, any of which may be wrong, and the structs made from
// them. Problems, shapes and strides are allocated to the byte, so that AddressSanitizer sees a
// read past what the caller promised.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "ops/tk_ops.h"

namespace fuzz {

struct tensor_spec {
  bool given = true, has_shape = true, has_strides = true;
  int device_type = tk_device_type(), device_id = 0;
  int code = kDLBfloat, bits = 16, lanes = 1, ndim = 0;
  std::array<std::int64_t, 8> shape{}, strides{};
  std::uint64_t data = 0, byte_offset = 0;
};

enum class workspace_in { nowhere, pool, arena };

struct call_spec {
  tk_op op = TK_OP_GEMM;
  // a, b, c, d, bias, or q, k, v, o, lse, or x, residual, weight, y, r, bias
  std::array<tensor_spec, 6> tensors;
  std::size_t size = 0;  // the struct's field
  int transpose_a = 0, transpose_b = 0, bias_kind = 0, activation = 0, mask = 0, kind = 0;
  float alpha = 1, beta = 0, scale = 1, eps = 0;
  workspace_in where = workspace_in::pool;
  std::uint64_t workspace_shift = 0;  // bytes into the arena, or off the pool's alignment
  std::int64_t workspace_more = 0;    // bytes past what is needed
};

// A number that need not be an enumerator, as C would store it.
template <class Enum> void put(Enum& to, int number) { std::memcpy(&to, &number, sizeof number); }

class built {
 public:
  explicit built(call_spec const& x) {
    for (std::size_t i = 0; i < tensors_.size(); ++i) make(i, x.tensors[i]);
    if (x.op == TK_OP_GEMM) {
      tk_gemm_problem p{};
      p.a = tensor(0), p.b = tensor(1), p.c = tensor(2), p.d = tensor(3), p.bias = tensor(4);
      p.size = x.size;
      p.transpose_a = x.transpose_a, p.transpose_b = x.transpose_b;
      p.alpha = x.alpha, p.beta = x.beta;
      put(p.bias_kind, x.bias_kind);
      put(p.activation, x.activation);
      keep(p);
    } else if (x.op == TK_OP_ATTENTION_FORWARD) {
      tk_attention_forward_problem p{};
      p.q = tensor(0), p.k = tensor(1), p.v = tensor(2), p.o = tensor(3), p.lse = tensor(4);
      p.size = x.size;
      put(p.mask, x.mask);
      p.scale = x.scale;
      keep(p);
    } else {
      tk_norm_problem p{};
      p.x = tensor(0), p.residual = tensor(1), p.weight = tensor(2);
      p.y = tensor(3), p.r = tensor(4), p.bias = tensor(5);
      p.size = x.size;
      put(p.kind, x.kind);
      p.eps = x.eps;
      keep(p);
    }
  }
  void const* problem() const { return problem_.get(); }

 private:
  struct one {
    std::unique_ptr<DLTensor> dl;
    std::unique_ptr<std::int64_t[]> shape, strides;
  };

  DLTensor const* tensor(std::size_t i) const { return tensors_[i].dl.get(); }

  void make(std::size_t i, tensor_spec const& x) {
    if (!x.given) return;
    auto& t = tensors_[i];
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

  // A struct that says it is smaller is smaller.
  template <class Problem> void keep(Problem const& p) {
    auto const bytes = std::min(std::max(p.size, sizeof p.size), sizeof p);
    problem_ = std::make_unique<unsigned char[]>(bytes);
    std::memcpy(problem_.get(), &p, bytes);
  }

  std::array<one, 6> tensors_;
  std::unique_ptr<unsigned char[]> problem_;
};

}  // namespace fuzz
