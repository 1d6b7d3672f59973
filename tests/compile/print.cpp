// SPDX-License-Identifier: MIT
// print is refused where nothing could be seen of it, and takes no expression that was kept.
// expect PRINT if !can_gather: print is for the host and for emulated chips
// expect KEPT if can_gather: a tile expression is used where it is written
#include "core/print.hpp"
#include "tests/compile/program.hpp"

namespace tk::test {

struct body {
  template <class Context> TK_DEVICE void operator()(Context&) const {
    tile<16> x = 0.f;
#if defined(PRINT)
    print(x, "x");
#elif defined(KEPT)
    auto const y = x * 2.f;
    if constexpr (be::can_gather) print(y);
#endif
    x = x + 1.f;
  }
};
template void compile<body>();

}  // namespace tk::test
