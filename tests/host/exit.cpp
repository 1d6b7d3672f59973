// SPDX-License-Identifier: MIT
// A program ends while another of its threads is inside a call.
#include <atomic>

#include "tests/host/call.hpp"

using namespace tk::test;

int main() {
  give_up_after(60);
  static std::atomic<int> calls{0};  // what the thread uses outlives main
  static bool good = true;
  std::thread([] {
    auto& s = *new product(2048);
    for (good = s.works();; ++calls) s.call();
  }).detach();
  while (calls < 2) std::this_thread::yield();
  return report(good, "exit during a call");
}
