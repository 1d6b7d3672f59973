// SPDX-License-Identifier: MIT
// A number, and no code: what the compiler may use where kernels are compiled, with whose flags
// this file is compiled, too. A macro that is not defined stays its name, which does not begin
// with 1.
#include "backends/host/cpu.hpp"

#include <initializer_list>

namespace tk::be::rt {

constexpr std::uint64_t compiled_for() {
#define TK_TEXT_AS_IS(x) #x
#define TK_TEXT(x) TK_TEXT_AS_IS(x)
#define TK_USED(name, macro, ...) TK_TEXT(macro)[0] == '1',
  std::uint64_t mask = 0;
  int i = 0;
  for (bool const used : {TK_CPU_FEATURES(TK_USED)}) mask |= std::uint64_t{used} << i++;
  return mask;
}
extern constinit std::uint64_t const cpu_needs = compiled_for();

}  // namespace tk::be::rt
