// SPDX-License-Identifier: MIT
// What this CPU has, and the refusal of a library that needs more.
#include "backends/host/cpu.hpp"

#include <initializer_list>
#include <string>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "core/status.hpp"

namespace tk::be::rt {

#if defined(__x86_64__)
namespace {

enum class in { eax, ebx, ecx, edx };
// Of avx and avx512f the compiler's library is asked as well: it knows whether the system saves
// their registers.
bool has(std::string_view name, unsigned leaf, unsigned subleaf, in where, int bit) {
  if (name == "avx" && !__builtin_cpu_supports("avx")) return false;
  if (name == "avx512f" && !__builtin_cpu_supports("avx512f")) return false;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(leaf, subleaf, &a, &b, &c, &d)) return false;
  unsigned const word = where == in::eax ? a : where == in::ebx ? b : where == in::ecx ? c : d;
  return (word >> bit & 1) != 0;
}

}  // namespace

std::uint64_t cpu_features() {
#define TK_HAS(name, macro, leaf, subleaf, where, bit) has(name, leaf, subleaf, in::where, bit),
  static std::uint64_t const mask = [] {
    std::uint64_t m = 0;
    int i = 0;
    for (bool const there : {TK_CPU_FEATURES(TK_HAS)}) m |= std::uint64_t{there} << i++;
    return m;
  }();
  return mask;
}
#else  // the list is of one family
std::uint64_t cpu_features() { return ~std::uint64_t{0}; }
#endif

void require_cpu(std::uint64_t needs, std::uint64_t has) {
#define TK_NAME(name, ...) name,
  if ((needs & ~has) == 0) return;
  std::string names;
  int i = 0;
  for (char const* const name : {TK_CPU_FEATURES(TK_NAME)})
    if ((needs & ~has) >> i++ & 1) names += (names.empty() ? "" : ", ") + std::string(name);
  throw error(status::wrong_chip, "the library was compiled for a CPU with " + names +
                                      ", which this one lacks; build it with "
                                      "TK_HOST_MARCH=x86-64-v3, or x86-64 for any");
}

}  // namespace tk::be::rt
