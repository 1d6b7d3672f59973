// SPDX-License-Identifier: MIT
// Shared memory: it starts as NaN, is surrounded by red zones, has 32-bit addresses, and in a
// cluster every block reaches every other one's.
#include <cmath>
#include <vector>

#include "tests/emulator/report.hpp"

using namespace tk::emulator;
using namespace tk::test;

TEST_CASE("shared memory starts as NaN in every block") {
  int numbers = 0;
  settings how;
  how.os_threads = 1;
  launch(form_of(5, 32, 4096), how, [&] {
    auto* const x = reinterpret_cast<float*>(shared_memory());
    for (int i = lane_index(); i < 1024; i += 32) {
      if (!std::isnan(x[i])) numbers += 1;
      x[i] = 1;
    }
  });
  CHECK(numbers == 0);
}

TEST_CASE("dynamic shared memory is no more aligned than promised") {
  launch(form_of(1, 32, 64), {}, [] {
    auto const at = reinterpret_cast<std::uintptr_t>(shared_memory());
    if (at % 16 != 0 || at % 32 == 0) fail("alignment");
    if (shared_address(shared_memory()) % 1024 != at % 1024) fail("an address unlike its pointer");
    if (shared_pointer<char>(shared_address(shared_memory() + 5)) != shared_memory() + 5)
      fail("a pointer unlike its address");
  });
}

TEST_CASE("an address of other memory is refused") {
  int outside = 0;
  CHECK(contains(report_of(form_of(1, 32, 64), [&] { shared_address(&outside); }),
                 "not into shared memory"));
}

// Under AddressSanitizer such a store stops the program at its line.
TEST_CASE("a store outside shared memory is found" * doctest::skip(sanitizer::sees_addresses)) {
  for (int at : {-1, -1000, 256, 300, 4000})
    CHECK(contains(
        report_of(form_of(3, 32, 256),
                  [&] {
                    if (block_index() == 1 && lane_index() == 7) shared_memory()[at] = 0;
                  }),
        "a store outside shared memory, at byte " + std::to_string(at) + " of 256\n  in block 1"));
  CHECK(report_of(form_of(3, 32, 256), [] { shared_memory()[255 - lane_index()] = 0; }) == "");
}

TEST_CASE("blocks of a cluster run together and read one another's memory") {
  for (int cluster : {2, 4, 8})
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      std::vector<int> out(16 * 32);
      CHECK(report_of(
                form_of(16, 32, 512, cluster),
                [&] {
                  auto* const mine = reinterpret_cast<int*>(shared_memory());
                  mine[lane_index()] = block_index() * 100 + lane_index();
                  sync_cluster();
                  int const peer = (cluster_rank() + 1) % cluster;
                  auto const there = to_rank(shared_address(mine), peer);
                  out[static_cast<std::size_t>(block_index() * 32 + lane_index())] =
                      shared_pointer<int>(there)[lane_index()];
                  sync_cluster();
                },
                seed) == "");
      for (int block = 0; block < 16; ++block)
        for (int l = 0; l < 32; ++l) {
          int const peer = block / cluster * cluster + (block + 1) % cluster;
          CHECK(out[static_cast<std::size_t>(block * 32 + l)] == peer * 100 + l);
        }
    }
}

TEST_CASE("a cluster barrier that a block misses is a deadlock") {
  auto const report = report_of(form_of(2, 32, 16, 2), [] {
    if (block_index() == 0) sync_cluster();
    else named_sync(1, 64);
  });
  CHECK(contains(report, "cluster barrier"));
  CHECK(contains(report, "32 of 64 lanes have come"));
  CHECK(contains(report, "block 1 warp 0 lanes 0-31: named barrier"));
}
