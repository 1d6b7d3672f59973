// SPDX-License-Identifier: MIT
// mbarriers: phases, arrivals of a block and of its cluster, bytes to come, and what is reported
// when the counts are wrong.
#include "backends/emulator/mbarrier.hpp"

#include <atomic>
#include <vector>

#include "tests/emulator/report.hpp"

using namespace tk::emulator;
using namespace tk::test;

namespace {

std::uint32_t bar(int i = 0) {
  return shared_address(shared_memory()) + static_cast<std::uint32_t>(i) * 8;
}

void init(int count, bool fenced = true) {
  if (thread_index() == 0) {
    mbarrier_init(bar(), count);
    mbarrier_init(bar(1), count);
    if (fenced) mbarrier_init_fence();
  }
  sync_cluster();
}
template <class F> std::string in_warp(F body, int cluster = 1) {
  return report_of(form_of(cluster, 32, 256, cluster), body);
}

}  // namespace

TEST_CASE("a ring of two slots hands numbers over in order") {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    std::vector<int> got;
    CHECK(report_of(
              form_of(1, 64, 256),
              [&] {
                // Slot s: full at barrier s, empty at barrier 2 + s, its number at byte 64 + 4 s.
                if (thread_index() == 0) {
                  for (int i = 0; i < 4; ++i) mbarrier_init(bar(i), 1);
                  mbarrier_init_fence();
                }
                sync_block();
                auto* const slots = reinterpret_cast<int*>(shared_memory() + 64);
                for (int i = 0; i < 10; ++i) {
                  int const s = i % 2, phase = i / 2 % 2;
                  if (thread_index() == 0) {
                    mbarrier_wait(bar(2 + s), phase ^ 1);
                    slots[s] = i * i;
                    mbarrier_arrive(bar(s));
                  } else if (thread_index() == 32) {
                    mbarrier_wait(bar(s), phase);
                    got.push_back(slots[s]);
                    mbarrier_arrive(bar(2 + s));
                  }
                }
              },
              seed) == "");
    CHECK(got == std::vector<int>{0, 1, 4, 9, 16, 25, 36, 49, 64, 81});
  }
}

TEST_CASE("a phase ends when arrivals and bytes are complete, in either order") {
  for (int order = 0; order < 2; ++order)
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      std::atomic<int> last = 0;
      CHECK(report_of(
                form_of(1, 64, 256),
                [&] {
                  init(1);
                  if (thread_index() == 0) {
                    mbarrier_expect(bar(), 48);
                    if (order == 0) mbarrier_arrive(bar());
                    last = 1 - order;
                    mbarrier_expect(bar(), -48);  // as a copy does when it completes
                    last = 1;
                    if (order == 1) mbarrier_arrive(bar());
                  } else if (thread_index() == 32) {
                    mbarrier_wait(bar(), 0);
                    if (!last) fail("too early");
                  }
                },
                seed) == "");
    }
}

TEST_CASE("the phase before the first counts as passed") {
  CHECK(in_warp([] {
          init(1);
          mbarrier_wait(bar(), 1);
        }) == "");
}

TEST_CASE("a peer's arrival counts") {
  for (std::uint64_t seed = 0; seed < seeds; ++seed)
    CHECK(report_of(
              form_of(4, 32, 256, 4),
              [] {
                init(4);
                if (lane_index() < 4) mbarrier_arrive(to_rank(bar(), lane_index()));
                mbarrier_wait(bar(), 0);
                sync_cluster();
              },
              seed) == "");
}

TEST_CASE("wrong counts are reported") {
  CHECK(contains(in_warp([] {
                   init(2);
                   if (lane_index() == 0) mbarrier_arrive(bar());
                   mbarrier_wait(bar(), 0);
                 }),
                 "in phase 0: 1 of 2 arrivals and 0 bytes to come"));
  std::string const bytes = in_warp([] {
    init(1);
    if (lane_index() == 0) mbarrier_expect(bar(), 16), mbarrier_arrive(bar());
    mbarrier_wait(bar(), 0);
  });
  CHECK(contains(bytes, "deadlock"));
  CHECK(contains(bytes, "0 of 1 arrivals and 16 bytes to come"));
  CHECK(contains(bytes, "tests/emulator/mbarriers.cpp:"));
  CHECK(contains(in_warp([] {
                   init(1);
                   if (lane_index() == 0) mbarrier_expect(bar(), 16), mbarrier_arrive(bar());
                   sync_warp();
                   if (lane_index() == 1) mbarrier_arrive(bar());
                 }),
                 "too many arrivals: its 1 have come, and 16 bytes are still to come"));
  CHECK(contains(in_warp([] {
                   init(1);
                   if (lane_index() == 0)
                     for (int i = 0; i < 2; ++i) mbarrier_expect(bar(), 1 << 19);
                 }),
                 "expects 1048576 bytes"));
  CHECK(contains(in_warp([] { init(0); }), "for 0 arrivals"));
}

TEST_CASE("a waiter that was left behind is reported") {
  CHECK(contains(in_warp([] {
                   init(1);
                   if (lane_index() == 1) mbarrier_wait(bar(), 0);
                   if (lane_index() == 2) mbarrier_arrive(bar()), mbarrier_arrive(bar());
                 }),
                 "went a phase further"));
}

TEST_CASE("a barrier must have been made, once, and be seen") {
  CHECK(contains(in_warp([] { mbarrier_arrive(bar()); }), "never initialised"));
  CHECK(contains(in_warp([] { mbarrier_wait(bar() + 4, 0); }), "not eight aligned bytes"));
  CHECK(contains(in_warp([] { mbarrier_wait(bar() + 256, 0); }), "of shared memory"));
  CHECK(contains(in_warp([] {
                   init(1);
                   if (lane_index() == 3) mbarrier_init(bar(), 1);
                 }),
                 "initialised twice"));
  CHECK(contains(in_warp(
                     [] {
                       init(2, false);
                       if (lane_index() == 0) mbarrier_arrive(to_rank(bar(), cluster_rank() ^ 1));
                     },
                     2),
                 "without a fence"));
  CHECK(contains(in_warp([] {
                   init(1);
                   if (lane_index() == 0) shared_memory()[3] = 1;
                   sync_warp();
                   if (lane_index() == 5) mbarrier_arrive(bar());
                 }),
                 "overwritten by a store"));
  CHECK(contains(in_warp(
                     [] {
                       init(1);
                       mbarrier_wait(to_rank(bar(), cluster_rank() ^ 1), 1);
                     },
                     2),
                 "awaited from another block"));
  CHECK(contains(in_warp(
                     [] {
                       init(1);
                       if (cluster_rank() == 0) return;
                       sync_warp();
                       if (lane_index() == 0) mbarrier_arrive(to_rank(bar(), 0));
                     },
                     2),
                 "its block has ended"));
}
