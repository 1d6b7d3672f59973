// SPDX-License-Identifier: MIT
// fuzz.calls: calls from random bytes, 7000 for each op. TK_FUZZ_SEED is the seed of the first
// call, whose successors follow by one, so that a call that fails can be made alone, as the first
// of its seed.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>

#include "tests/fuzz/fuzz.hpp"

namespace {

constexpr int calls_of_op = 7000;

std::array<std::uint8_t, 512> bytes_of(std::uint64_t seed) {
  std::mt19937_64 next(seed);
  std::array<std::uint8_t, 512> bytes;
  for (auto& x : bytes) x = static_cast<std::uint8_t>(next() >> 32);
  return bytes;
}

struct counts {
  int calls = 0, launches = 0;
  std::map<tk_status, int> refusals;
};

// An op whose calls were never launched, or never refused for what most ops can be refused for,
// has a generator that tries too little.
bool suffice(counts const& x) {
  bool enough = x.launches > x.calls / 20;
  for (int status = TK_NULL_POINTER; status <= TK_BAD_VALUE; ++status)
    enough = enough && x.refusals.contains(static_cast<tk_status>(status));
  return enough;
}

}  // namespace

int main() {
  auto const* const given = std::getenv("TK_FUZZ_SEED");
  std::uint64_t const first = given ? std::strtoull(given, nullptr, 0) : 1;
  int const calls = calls_of_op * static_cast<int>(fuzz::all_ops().size());
  std::printf("%d calls from TK_FUZZ_SEED=%llu on\n", calls,
              static_cast<unsigned long long>(first));
  std::fflush(stdout);
  std::map<fuzz::fuzzed_op const*, counts> seen;
  for (int i = 0; i < calls; ++i) {
    auto const seed = first + static_cast<std::uint64_t>(i);
    fuzz::running_input = "TK_FUZZ_SEED=" + std::to_string(seed) + ": ";
    auto const bytes = bytes_of(seed);
    auto const got = fuzz::try_call(bytes.data(), bytes.size());
    auto& of_op = seen[got.op];
    ++of_op.calls;
    of_op.launches += got.launched;
    if (got.status != TK_OK) ++of_op.refusals[got.status];
  }
  bool enough = true;
  for (auto const* op : fuzz::all_ops()) {
    auto const& x = seen[op];
    std::printf("%s: %d calls, %d launches", op->call, x.calls, x.launches);
    for (auto const& [status, times] : x.refusals)
      std::printf(", %d %s", times, tk_status_name(status));
    std::printf("\n");
    enough = enough && suffice(x);
  }
  if (!enough) std::printf("an op was not launched often, or not refused for each reason\n");
  return enough ? 0 : 1;
}
