// SPDX-License-Identifier: MIT
// What the tests of the interface share: device memory of known content, in which each op has a
// small correct problem ("scene", tests/ops/<folder>/scene.hpp) whose every part a test may spoil
// before it makes the call.
#pragma once
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "backends/runtime.hpp"
#include "core/status.hpp"
#include "ops/tk_op.h"

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

constexpr DLDataType bf16{kDLBfloat, 16, 1}, fp16{kDLFloat, 16, 1}, fp32{kDLFloat, 32, 1},
    int32{kDLInt, 32, 1}, int64{kDLInt, 64, 1}, uint64{kDLUInt, 64, 1},
    fp8_e4m3{TK_DL_FLOAT8_E4M3FN, 8, 1}, fp8_e5m2{TK_DL_FLOAT8_E5M2, 8, 1},
    boolean{TK_DL_BOOL, 8, 1}, uint8{kDLUInt, 8, 1};

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
inline void put_int32(bytes& host, std::size_t at, std::int32_t x) {
  std::memcpy(&host[at], &x, 4);
}
inline void put_int64(bytes& host, std::size_t at, std::int64_t x) {
  std::memcpy(&host[at], &x, 8);
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
  bool optional = false;    // NULL is no fault
  bool any_stride = false;  // in the last dimension, too
  bool takes_fp8 = false;   // among other types
  bool is_fp8 = false;      // of either format, which is aligned anywhere
  bool is_boolean = false;  // which is aligned anywhere
};

// An output that may be an input itself: a scene's `in_place` lists these.
struct in_place_pair {
  char const *output, *input;
};

// A number that need not be an enumerator, as C would pass it.
template <class Enum> __attribute__((no_sanitize("enum"))) Enum as(int number) {
  Enum x;
  static_assert(sizeof x == sizeof number);
  std::memcpy(&x, &number, sizeof x);
  return x;
}

inline constexpr std::size_t arena_bytes = 1 << 17;
inline constexpr int arena_byte = 0x3c;  // 0.0115 in every type

// Calls with as much workspace as the problem asks for.
template <class Scene> tk_status call(Scene& s) {
  auto const* problem = s.get();
  std::size_t needed = 0;
  if (auto const refused = tk_workspace(Scene::op, problem, &needed)) return refused;
  memory workspace(needed + 1, 0xff);  // NaN
  auto const result = Scene::call(problem, needed ? workspace.at() : nullptr, needed);
  rt::synchronize();
  return result;
}

inline bool says(std::string const& sentence, std::string const& part) {
  return sentence.find(part) != std::string::npos;
}

// All ones in bf16, up to byte `until`; zeros behind.
inline bytes ones(std::size_t until) {
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < until; i += 2) put_bf16(host, i, 1);
  return host;
}

// Of the C++ interface: `body` throws.
template <class Body> void expect_error(tk::status code, std::string const& part, Body&& body) {
  try {
    body();
    FAIL_CHECK("no exception");
  } catch (tk::error const& e) {
    INFO(e.what());
    CHECK(e.code() == code);
    CHECK(says(e.what(), part));
  }
}

}  // namespace scene
