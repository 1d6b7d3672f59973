// SPDX-License-Identifier: MIT
// The destructor of a static object calls the library, as the program's first call or after others
// (with any argument).
#include <cstdlib>

#include "tests/host/call.hpp"

using namespace tk::test;

struct last_calls {
  product small{one_task}, large{many_tasks};
  ~last_calls() {
    for (int i = 0; i < 3; ++i)
      if (!small.works() || !large.works()) _exit(report(false, "calls of a static's destructor"));
    report(true, "calls of a static's destructor");
  }
};
static last_calls at_exit;

int main(int count, char**) {
  give_up_after(60);
  if (count > 1 && !product(many_tasks).works()) return report(false, "a call of main");
  return 0;
}
