// SPDX-License-Identifier: MIT
// Lanes, warps and blocks: who is who, collectives, barriers, polls, and what is reported when they
// go wrong. Every case that should end well does so in turn and in random orders.
#include <atomic>
#include <stdexcept>
#include <vector>

#include "tests/emulator/report.hpp"

using namespace tk::emulator;
using namespace tk::test;

namespace {
std::string here(int line) { return __FILE__ ":" + std::to_string(line); }
}  // namespace

TEST_CASE("every lane of every block runs once") {
  for (int lanes : {32, 64})
    for (int cluster : {1, 2}) {
      std::vector<int> times(6 * 192);
      launch(6, 192, lanes, cluster, 0, [&] {
        if (thread_index() != warp_index() * lanes + lane_index() || block_threads() != 192 ||
            block_count() != 6 || cluster_blocks() != cluster ||
            cluster_rank() != block_index() % cluster)
          fail("a lane is somewhere else");
        ++times[static_cast<std::size_t>(block_index() * 192 + thread_index())];
      });
      CHECK(times == std::vector<int>(6 * 192, 1));
    }
}

TEST_CASE("a launch of no block does nothing") {
  launch(0, 32, 32, 1, 0, [] { fail("ran"); });
}

TEST_CASE("shapes that no device has are refused") {
  auto const nothing = [] {};
  CHECK(contains(report_of(form_of(1, 33, 0), nothing), "a block of 33 threads"));
  CHECK(contains(report_of(form_of(1, 1056, 0), nothing), "a block of 1056 threads"));
  CHECK(contains(report_of(form_of(3, 32, 0, 2), nothing), "3 blocks in clusters of 2"));
  CHECK(contains(report_of(form_of(1, 48, 0, 1, 48), nothing), "warps have 32 or 64 lanes"));
}

TEST_CASE("a collective gives every lane's operand to the last") {
  for (int lanes : {32, 64})
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      std::vector<int> sums(128);
      report_of(
          form_of(1, 128, 0, 1, lanes),
          [&] {
            int x = thread_index();
            for (int step = 1; step < lanes; step *= 2) {
              int y = x;
              collective(
                  y,
                  [&](int* const* all) {
                    int old[64];
                    for (int l = 0; l < lanes; ++l) old[l] = *all[l];
                    for (int l = 0; l < lanes; ++l) *all[l] = old[l ^ step];
                  },
                  "exchange");
              x += y;
            }
            sums[static_cast<std::size_t>(thread_index())] = x;
          },
          seed);
      for (int t = 0; t < 128; ++t) {
        int const first = t / lanes * lanes;
        CHECK(sums[static_cast<std::size_t>(t)] == lanes * first + lanes * (lanes - 1) / 2);
      }
    }
}

TEST_CASE("a divergent warp is reported with both places") {
  std::atomic<int> a, b;
  auto const report = report_of(form_of(1, 32, 0), [&] {
    int x = 0;
    if (lane_index() < 16) a = __LINE__, collective(x, [](int* const*) {}, "shuffle");
    else b = __LINE__, sync_warp();
  });
  CHECK(contains(report, "divergent warp"));
  CHECK(contains(report, here(a)));
  CHECK(contains(report, here(b)));
}

TEST_CASE("a collective without a lane that has ended is reported") {
  for (bool early : {false, true}) {
    auto const report = report_of(form_of(1, 32, 0), [&] {
      int x = 0;
      if (lane_index() != (early ? 0 : 31)) collective(x, [](int* const*) {}, "shuffle");
    });
    CHECK(contains(report, early ? "a lane of the warp has ended" : "a lane ended while others"));
  }
  CHECK(report_of(form_of(1, 32, 0), [] {
          if (lane_index() % 3) sync_warp();
        }) == "");
}

TEST_CASE("a deadlock names every warp's line") {
  std::atomic<int> a, b;
  auto const report = report_of(form_of(1, 96, 0), [&] {
    if (warp_index() == 0) a = __LINE__, named_sync(3, 64);
    else if (warp_index() == 1) b = __LINE__, sync_block();
  });
  CHECK(contains(report, "deadlock"));
  CHECK(contains(report, "warp 0 lanes 0-31: named barrier at " + here(a)));
  CHECK(contains(report, "barrier 3: 32 of 64 lanes have come"));
  CHECK(contains(report, "warp 1 lanes 0-31: block barrier at " + here(b)));
  CHECK(contains(report, "warp 2 lanes 0-31: ended"));
}

TEST_CASE("block barriers order shared memory, and do not wait for lanes that have ended") {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    std::vector<int> out(256);
    auto const report = report_of(
        form_of(1, 256, 1024),
        [&] {
          int* const shared = reinterpret_cast<int*>(shared_memory());
          for (int round = 0; round < 5; ++round) {
            shared[thread_index()] = thread_index() * round;
            sync_block();
            out[static_cast<std::size_t>(thread_index())] = shared[255 - thread_index()];
            sync_block();
          }
          if (thread_index() % 2) return;
          sync_block();
        },
        seed);
    CHECK(report == "");
    for (int t = 0; t < 256; ++t) CHECK(out[static_cast<std::size_t>(t)] == (255 - t) * 4);
  }
}

TEST_CASE("named barriers count arrivals and syncs") {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    int got = 0;
    auto const report = report_of(
        form_of(1, 128, 16),
        [&] {
          int* const shared = reinterpret_cast<int*>(shared_memory());
          // Warps 0 and 1 fill, warps 2 and 3 take, in turns.
          for (int i = 0; i < 4; ++i) {
            if (warp_index() < 2) {
              if (thread_index() == 0) *shared = i * i;
              named_arrive(1, 128);
              named_sync(2, 128);
            } else {
              named_sync(1, 128);
              if (thread_index() == 64) got += *shared;
              named_arrive(2, 128);
            }
          }
        },
        seed);
    CHECK(report == "");
    CHECK(got == 0 + 1 + 4 + 9);
  }
}

TEST_CASE("wrong uses of named barriers are reported") {
  CHECK(contains(report_of(form_of(1, 64, 0), [] { named_sync(1, warp_index() ? 64 : 96); }),
                 "for 64 lanes here, for 96 at"));
  CHECK(contains(report_of(form_of(1, 64, 0), [] { named_sync(1, 40); }), "not whole warps"));
  CHECK(contains(report_of(form_of(1, 64, 0), [] { named_sync(16, 64); }), "there are 0 to 15"));
  CHECK(contains(report_of(form_of(1, 64, 0),
                           [] {
                             named_arrive(1, 64);
                             named_arrive(1, 64);
                           }),
                 "comes twice"));
  CHECK(contains(report_of(form_of(1, 64, 0),
                           [] {
                             if (warp_index()) sync_block();
                             else named_sync(0, 32 * 2);
                           }),
                 "named barrier 0"));
}

TEST_CASE("blocks that poll for one another run side by side") {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    unsigned turn = 0;
    std::vector<int> order;
    CHECK(report_of(
              form_of(9, 64, 0),
              [&] {
                if (thread_index() == 0) {
                  while (poll(&turn) != static_cast<unsigned>(8 - block_index())) {}
                  order.push_back(block_index());
                  __atomic_fetch_add(&turn, 1u, __ATOMIC_RELEASE);
                }
                sync_block();
              },
              seed) == "");
    CHECK(order == std::vector<int>{8, 7, 6, 5, 4, 3, 2, 1, 0});
  }
}

TEST_CASE("a poll that nothing ends is a deadlock") {
  for (int os_threads : {1, 2}) {
    unsigned flag = 3;
    settings how;
    how.os_threads = os_threads;
    std::string report;
    std::atomic<int> line;
    try {
      launch(form_of(4, 32, 0), how, [&] {
        if (thread_index() == 0)
          while (line = __LINE__, poll(&flag) != 4) {}
      });
    } catch (tk::error const& e) { report = e.what(); }
    CHECK(contains(report, "deadlock"));
    CHECK(contains(report, "poll at " + here(line)));
    CHECK(contains(report, "is 3"));
  }
}

TEST_CASE("a poll that is repeated without need goes on") {
  unsigned flag = 3, sum = 0;
  CHECK(report_of(form_of(1, 32, 0), [&] {
          if (thread_index() == 0)
            for (int i = 0; i < 10; ++i) sum += poll(&flag);
        }) == "");
  CHECK(sum == 30);
}

TEST_CASE("a seed repeats its schedule, and other seeds differ") {
  auto const order_of = [](std::uint64_t seed) {
    std::vector<std::atomic<int>> order(256);
    std::atomic<std::size_t> next = 0;
    report_of(
        form_of(1, 128, 0),
        [&] {
          order[next++] = thread_index();
          sync_warp();
          order[next++] = thread_index();
        },
        seed);
    return std::vector<int>(order.begin(), order.end());
  };
  CHECK(order_of(0) == order_of(0));
  CHECK(order_of(7) == order_of(7));
  CHECK(order_of(7) != order_of(0));
  CHECK(order_of(7) != order_of(8));
}

TEST_CASE("work that finishes late is done in order, when it is waited for or at the end") {
  std::vector<int> done;
  int early = -1;
  report_of(form_of(1, 32, 0), [&] {
    if (thread_index() != 0) return;
    auto* const list = &done;
    for (int i = 0; i < 5; ++i) later([list, i] { list->push_back(i); });
    early = static_cast<int>(done.size());
    wait_later(2);
    if (done != std::vector<int>{0, 1, 2}) fail("not in order");
  });
  CHECK(early == 0);
  CHECK(done == std::vector<int>{0, 1, 2, 3, 4});
}

TEST_CASE("atomics add from many blocks at once") {
  float sum = 0;
  std::uint32_t count = 0;
  tk::bf16 half[2] = {};
  tk::fp16 other{};
  launch(16, 64, 32, 1, 0, [&] {
    atomic_add(&sum, 0.5f);
    atomic_add(&count, 2u);
    if (thread_index() < 8) {
      atomic_add(half + 1, tk::round_to<tk::bf16>(1));
      atomic_add(&other, tk::round_to<tk::fp16>(-1));
    }
  });
  CHECK(sum == 512);
  CHECK(count == 2048);
  CHECK(widen(half[0]) == 0);
  CHECK(widen(half[1]) == 128);
  CHECK(widen(other) == -128);
}

TEST_CASE("an exception of device code comes out of the launch") {
  CHECK_THROWS_WITH_AS(launch(4, 64, 32, 1, 0,
                              [] {
                                if (thread_index() == 40) throw std::runtime_error("thrown");
                                sync_block();
                              }),
                       "thrown", std::runtime_error);
}
