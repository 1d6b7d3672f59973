// SPDX-License-Identifier: MIT
// Counters of places that are of another type.
// expect SIGNED: invalid conversion|incompatible|no matching function|cannot convert|no instance
// expect WIDE: cannot convert|incompatible|no matching function|no instance
#include "tests/compile/program.hpp"

namespace tk::test {

struct none {
  template <class Context> TK_DEVICE void operator()(Context&) const {}
};

struct with_counters : program<none> {
  struct scratch {
    unsigned taken;
    int below_zero;
    std::uint64_t wide;
  };
  template <class Context> static TK_DEVICE void compute(Context& c, args const&, task const&) {
    auto& s = c.scratch;
#if defined(SIGNED)
    reserve(&s.below_zero, 1);
#elif defined(WIDE)
    reserve(&s.wide, 1);
#endif
    reserve(&s.taken, 1);
  }
};

void run() { be::launch<with_counters>({}, nullptr); }

}  // namespace tk::test
