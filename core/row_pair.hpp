// SPDX-License-Identifier: MIT
// Two problems of one kernel of core/row_kernel.hpp, whose workers load for themselves, in one
// launch: the tasks of the first, then those of the second, which may have none. Both have as many
// workers.
#pragma once
#include "core/row_kernel.hpp"

namespace tk {

template <class Kernel> struct row_pair : Kernel {
  struct args {
    typename Kernel::args of[2];
  };
  struct task : Kernel::task {
    int which;
  };
  static TK_BOTH int workers_of(args const& a) { return Kernel::workers_of(a.of[0]); }
  static TK_BOTH int tasks(args const& a) {
    return Kernel::tasks(a.of[0]) + Kernel::tasks(a.of[1]);
  }
  static TK_BOTH task task_at(args const& a, int i, int rank) {
    int const first = Kernel::tasks(a.of[0]);
    if (i < first) return {Kernel::task_at(a.of[0], i, rank), 0};
    return {Kernel::task_at(a.of[1], i - first, rank), 1};
  }
  // Each apart: arguments that are chosen when the kernel runs would be copied to memory.
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    if (t.which == 0) Kernel::compute(c, a.of[0], t);
    else Kernel::compute(c, a.of[1], t);
  }
};

}  // namespace tk
