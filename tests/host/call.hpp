// SPDX-License-Identifier: MIT
// One call of the library: d = a b, a [m, k] and b [k, n] of bf16 ones, so that d is k everywhere.
#pragma once
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "ops/tk_ops.h"

namespace tk::test {

struct product {
  product(std::int64_t rows, std::int64_t cols, std::int64_t terms)
      : m(rows), n(cols), k(terms), a(m * k, 0x3f80), b(k * n, 0x3f80), d(m * n) {}
  explicit product(std::int64_t size) : product(size, size, size) {}

  tk_status call() {
    std::int64_t a_shape[] = {m, k}, b_shape[] = {k, n}, d_shape[] = {m, n};
    DLDevice const here{kDLCPU, 0};
    DLTensor const ta{a.data(), here, 2, {kDLBfloat, 16, 1}, a_shape, nullptr, 0};
    DLTensor const tb{b.data(), here, 2, {kDLBfloat, 16, 1}, b_shape, nullptr, 0};
    DLTensor const td{d.data(), here, 2, {kDLFloat, 32, 1}, d_shape, nullptr, 0};
    tk_gemm_problem p{};
    p.size = sizeof(p);
    p.a = &ta;
    p.b = &tb;
    p.d = &td;
    p.alpha = 1;
    return tk_gemm(&p, nullptr, 0, nullptr);
  }
  // The call, and whether it did what it should.
  bool works() {
    d.assign(d.size(), -1.f);
    if (call() != TK_OK) {
      std::fprintf(stderr, "%s\n", tk_last_error());
      return false;
    }
    for (float const x : d)
      if (x != static_cast<float>(k)) return false;
    return true;
  }

  std::int64_t m, n, k;
  std::vector<std::uint16_t> a, b;
  std::vector<float> d;
};
inline constexpr std::int64_t one_task = 1, many_tasks = 512;

// What hangs is ended, and so fails.
inline void give_up_after(unsigned seconds) { alarm(seconds); }

inline int report(bool good, char const* what) {
  std::printf("%s: %s\n", good ? "ok" : "FAILED", what);
  return good ? 0 : 1;
}

}  // namespace tk::test
