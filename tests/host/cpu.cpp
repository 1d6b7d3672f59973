// SPDX-License-Identifier: MIT
// A CPU that lacks what kernels were compiled for: a sentence that names it, from every function
// that checks a problem. This program's kernels claim to need everything there is, and no CPU has
// that: its cpu_needs stands before the archive's.
#include "backends/host/cpu.hpp"

#include <cstring>
#include <string>

#include "core/status.hpp"
#include "tests/host/call.hpp"

using namespace tk::test;
namespace rt = tk::be::rt;

extern constinit std::uint64_t const rt::cpu_needs = ~std::uint64_t{0};

namespace {

std::string refusal(std::uint64_t needs, std::uint64_t has) {
  try {
    rt::require_cpu(needs, has);
  } catch (tk::error const& e) {
    return e.code() == tk::status::wrong_chip ? e.what() : "another status";
  }
  return "";
}

bool each_is_named() {
#define TK_NAME(name, ...) name,
  int i = 0;
  for (std::string const name : {TK_CPU_FEATURES(TK_NAME)}) {
    std::uint64_t const bit = std::uint64_t{1} << i++;
    if (refusal(bit, ~bit).find("with " + name + ", which") == std::string::npos) return false;
    if (!refusal(bit, bit).empty() || !refusal(0, ~bit).empty()) return false;
  }
  return i > 20;
}

}  // namespace

int main() {
  int failed = report(each_is_named(), "what a CPU lacks is named, what it has is not refused");
#if defined(__x86_64__)
  product s(one_task);
  failed += report(s.call() == TK_WRONG_CHIP && std::strstr(tk_last_error(), "lacks"),
                   "every call is refused");
  failed += report(s.d[0] == 0.f, "nothing is written");
#endif
  return failed;
}
