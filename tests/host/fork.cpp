// SPDX-License-Identifier: MIT
// A forked child has none of the threads of its parent: its calls are refused in words where the
// parent had called before, and work where it had not.
#include <sys/wait.h>

#include <cstring>

#include "tests/host/call.hpp"

using namespace tk::test;

namespace {

template <class Body> bool child(Body body) {
  pid_t const id = fork();
  if (id == 0) {
    give_up_after(60);
    _exit(body() ? 0 : 1);
  }
  int status = 1;
  return id > 0 && waitpid(id, &status, 0) == id && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
bool refused(product& s) {
  return s.call() == TK_RUNTIME_ERROR && std::strstr(tk_last_error(), "forked") != nullptr;
}

}  // namespace

int main() {
  give_up_after(120);
  product small(one_task), large(many_tasks);
  int failed = report(child([&] { return large.works() && small.works(); }),
                      "a child forked before the first call");
  failed += report(large.works(), "the parent's first call");
  failed +=
      report(child([&] { return refused(large) && refused(small); }), "a child forked after it");
  failed += report(child([&] { return refused(large) && child([&] { return refused(large); }); }),
                   "a child's child");
  failed += report(large.works(), "the parent again");
  return failed;
}
