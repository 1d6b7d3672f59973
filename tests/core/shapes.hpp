// SPDX-License-Identifier: MIT
// for_each_int<1, 2, 3>(f) calls f with std::integral_constant<int, 1>, and so on: constants that a
// generic lambda can use as template arguments.
#pragma once
#include <type_traits>

namespace tk::test {

template <int... N, class F> void for_each_int(F f) { (f(std::integral_constant<int, N>{}), ...); }

}  // namespace tk::test
