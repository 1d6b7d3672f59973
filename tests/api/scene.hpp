// SPDX-License-Identifier: MIT
// What the tests of the interface share: device memory of known content, and for each op a small
// correct problem in it ("scene") whose every part a test may spoil before it makes the call.
#pragma once
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "backends/runtime.hpp"
#include "ops/tk_ops.h"

// A call that must not be refused.
#define EXPECT_OK(status)            \
  do {                               \
    auto const expect_ok = (status); \
    INFO(tk_last_error());           \
    CHECK(expect_ok == TK_OK);       \
  } while (false)

namespace scene {

namespace rt = tk::be::rt;
using bytes = std::vector<unsigned char>;

constexpr DLDataType bf16{kDLBfloat, 16, 1}, fp16{kDLFloat, 16, 1}, fp32{kDLFloat, 32, 1};

class memory {
 public:
  explicit memory(std::size_t size, int byte = 0) : size_(size), data_(rt::allocate(size)) {
    rt::fill(data_, byte, size);
  }
  ~memory() { rt::release(data_); }
  memory(memory const&) = delete;
  memory& operator=(memory const&) = delete;

  void* at(std::size_t offset = 0) const { return static_cast<char*>(data_) + offset; }
  std::size_t size() const { return size_; }
  void write(bytes const& host) const { rt::copy_in(data_, host.data(), host.size()); }
  bytes content() const {
    rt::synchronize();
    bytes host(size_);
    rt::copy_out(host.data(), data_, size_);
    return host;
  }

 private:
  std::size_t size_;
  void* data_;
};

// Numbers in a host copy of a memory; bf16 only where it holds the number exactly.
inline void put_fp32(bytes& host, std::size_t at, float x) { std::memcpy(&host[at], &x, 4); }
inline void put_bf16(bytes& host, std::size_t at, float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, 4);
  std::uint16_t const top = static_cast<std::uint16_t>(bits >> 16);
  REQUIRE((std::uint32_t(top) << 16) == bits);
  std::memcpy(&host[at], &top, 2);
}
inline float fp32_at(bytes const& host, std::size_t at) {
  float x;
  std::memcpy(&x, &host[at], 4);
  return x;
}

// A DLTensor with room for its sizes and strides, and the pointer that the call is given.
struct tensor {
  std::array<std::int64_t, 8> shape, strides;
  DLTensor dl{};
  DLTensor const* given = &dl;

  tensor(void* data, DLDataType type, std::vector<std::int64_t> const& sizes) {
    shape.fill(1);
    strides.fill(1);
    std::int64_t next = 1;
    for (std::size_t i = sizes.size(); i-- > 0; next *= sizes[i]) {
      shape[i] = sizes[i];
      strides[i] = next;
    }
    dl.data = data;
    dl.device = {static_cast<DLDeviceType>(tk_device_type()), rt::current_device()};
    dl.ndim = static_cast<int>(sizes.size());
    dl.dtype = type;
    dl.shape = shape.data();
    dl.strides = strides.data();
  }
  tensor(tensor const&) = delete;
  tensor& operator=(tensor const&) = delete;

  int last() const { return dl.ndim - 1; }
  void move(std::int64_t by) { dl.data = static_cast<char*>(dl.data) + by; }
  void on_device(int type, int id) {
    std::memcpy(&dl.device.device_type, &type, sizeof type);  // any number, as C would
    dl.device.device_id = id;
  }
};

struct argument {
  char const* name;
  tensor* of;
};

// A number that need not be an enumerator, as C would pass it.
template <class Enum> __attribute__((no_sanitize("enum"))) Enum as(int number) {
  Enum x;
  static_assert(sizeof x == sizeof number);
  std::memcpy(&x, &number, sizeof x);
  return x;
}

inline constexpr std::size_t arena_bytes = 1 << 15;
inline constexpr int arena_byte = 0x3c;  // 0.0115 in every type

struct gemm {
  using problem_type = tk_gemm_problem;
  static constexpr tk_op op = TK_OP_GEMM;
  static constexpr char const* call_name = "tk_gemm";
  memory arena{arena_bytes, arena_byte};
  tensor a{arena.at(0), bf16, {2, 8, 16}};
  tensor b{arena.at(4096), bf16, {2, 16, 24}};
  tensor c{arena.at(8192), fp32, {2, 8, 24}};
  tensor d{arena.at(12288), fp32, {2, 8, 24}};
  tensor bias{arena.at(16384), fp32, {24}};
  problem_type problem{
      sizeof(problem_type), nullptr,           nullptr, nullptr, nullptr, nullptr, 0, 0, 1, 1,
      TK_BIAS_ROW,          TK_ACTIVATION_NONE};

  std::vector<argument> arguments() {
    return {{"a", &a}, {"b", &b}, {"c", &c}, {"d", &d}, {"bias", &bias}};
  }
  problem_type const* get() {
    problem.a = a.given;
    problem.b = b.given;
    problem.c = c.given;
    problem.d = d.given;
    problem.bias = bias.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0) {
    return tk_gemm(x, workspace, size, nullptr);
  }
};

struct attention {
  using problem_type = tk_attention_forward_problem;
  static constexpr tk_op op = TK_OP_ATTENTION_FORWARD;
  static constexpr char const* call_name = "tk_attention_forward";
  memory arena{arena_bytes, arena_byte};
  tensor q{arena.at(0), bf16, {2, 5, 4, 16}};
  tensor k{arena.at(4096), bf16, {2, 7, 2, 16}};
  tensor v{arena.at(8192), bf16, {2, 7, 2, 24}};
  tensor o{arena.at(12288), bf16, {2, 5, 4, 24}};
  tensor lse{arena.at(16384), fp32, {2, 4, 5}};
  problem_type problem{sizeof(problem_type), nullptr, nullptr, nullptr, nullptr, nullptr,
                       TK_MASK_CAUSAL,       0.25f};

  std::vector<argument> arguments() {
    return {{"q", &q}, {"k", &k}, {"v", &v}, {"o", &o}, {"lse", &lse}};
  }
  problem_type const* get() {
    problem.q = q.given;
    problem.k = k.given;
    problem.v = v.given;
    problem.o = o.given;
    problem.lse = lse.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0) {
    return tk_attention_forward(x, workspace, size, nullptr);
  }
};

struct norm {
  using problem_type = tk_norm_problem;
  static constexpr tk_op op = TK_OP_NORM;
  static constexpr char const* call_name = "tk_norm";
  memory arena{arena_bytes, arena_byte};
  tensor x{arena.at(0), fp32, {2, 20}};
  tensor residual{arena.at(4096), fp32, {2, 20}};
  tensor weight{arena.at(8192), fp32, {20}};
  tensor bias{arena.at(12288), fp32, {20}};
  tensor y{arena.at(16384), fp32, {2, 20}};
  tensor r{arena.at(20480), fp32, {2, 20}};
  problem_type problem{sizeof(problem_type), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                       TK_NORM_LAYER,        0.25f};

  std::vector<argument> arguments() {
    return {{"x", &x}, {"residual", &residual}, {"weight", &weight}, {"bias", &bias}, {"y", &y},
            {"r", &r}};
  }
  problem_type const* get() {
    problem.x = x.given;
    problem.residual = residual.given;
    problem.weight = weight.given;
    problem.bias = bias.given;
    problem.y = y.given;
    problem.r = r.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0) {
    return tk_norm(x, workspace, size, nullptr);
  }
};

// One batch, no c, no bias.
inline void make_plain(gemm& s) {
  for (auto* t : {&s.a, &s.b, &s.d}) t->shape[0] = 1;
  s.problem.beta = 0;
  s.c.given = s.bias.given = nullptr;
  s.problem.bias_kind = TK_BIAS_NONE;
}

// Calls with as much workspace as the problem asks for.
template <class Scene> tk_status call(Scene& s) {
  auto const* problem = s.get();
  std::size_t needed = 0;
  if (auto const refused = tk_workspace(Scene::op, problem, &needed)) return refused;
  memory workspace(needed + 1);
  auto const result = Scene::call(problem, needed ? workspace.at() : nullptr, needed);
  rt::synchronize();
  return result;
}

inline bool says(std::string const& sentence, std::string const& part) {
  return sentence.find(part) != std::string::npos;
}

}  // namespace scene
