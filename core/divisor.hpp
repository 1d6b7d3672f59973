// SPDX-License-Identifier: MIT
// Division by what the host knows: a lane has a dozen instructions less to wait for, which tasks
// feel that begin with several of them.
#pragma once
#include <cstdint>

#include "backends/select.hpp"

#include TK_CHIP(arch.hpp)

namespace tk {

// n / d and n % d of 0 <= n < 2^31 by a product (Granlund and Montgomery, "Division by invariant
// integers using multiplication", 1994).
class divisor {
 public:
  constexpr divisor() = default;
  constexpr explicit divisor(std::uint32_t d) : d_(d) {
    while (std::uint64_t{1} << shift_ < d) ++shift_;
    factor_ = static_cast<std::uint32_t>((((std::uint64_t{1} << shift_) - d) << 32) / d + 1);
  }
  struct parts {
    int quotient, rest;
  };
  TK_BOTH constexpr parts of(int n) const {
    auto const u = static_cast<std::uint32_t>(n);
    auto const high = static_cast<std::uint32_t>((std::uint64_t{u} * factor_) >> 32);
    std::uint32_t const q = (high + u) >> shift_;
    return {static_cast<int>(q), static_cast<int>(u - q * d_)};
  }

 private:
  std::uint32_t d_ = 1, factor_ = 1, shift_ = 0;
};

}  // namespace tk
