// SPDX-License-Identifier: MIT
// Faults that leave the numbers right in one order of events: some other order shows them, and
// ThreadSanitizer reports them in any, because lanes and copies are threads to it. Its reports are
// counted here instead of failing the program; a correct kernel must cause none. It reports a
// place, and an address, once, so every case uses its own.
#include <atomic>

#include "tests/emulator/maps.hpp"

using namespace tk::emulator;
using namespace tk::test;

namespace {
std::atomic<int> races = 0;

template <class F> int races_in(int threads, F body) {
  races = 0;
  REQUIRE(report_of(form_of(1, threads, 8192), body) == "");
  return races;
}

// Lanes mirror what their block stored; `synced`: with the barrier that this needs.
template <class Sync> std::vector<int> mirror(std::uint64_t seed, Sync sync) {
  std::vector<int> out(64);
  REQUIRE(report_of(
              form_of(1, 64, 256),
              [&] {
                auto* const x = reinterpret_cast<int*>(shared_memory());
                x[thread_index()] = thread_index();
                sync();
                out[static_cast<std::size_t>(thread_index())] = x[63 - thread_index()];
              },
              seed) == "");
  return out;
}
}  // namespace

#if defined(TK_EMULATOR_TSAN)
extern "C" void __tsan_on_report(void*) { ++races; }
extern "C" char const* __tsan_default_options() { return "exitcode=0:log_path=/dev/null"; }
#endif

TEST_CASE("a removed barrier shows in some order") {
  std::vector<int> want(64);
  for (int i = 0; i < 64; ++i) want[static_cast<std::size_t>(i)] = 63 - i;
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CHECK(mirror(seed, [] { sync_block(); }) == want);
    wrong += mirror(seed, [] {}) != want;
  }
  CHECK(wrong > 0);
}

TEST_CASE("ThreadSanitizer reports what is not ordered" * doctest::skip(!sanitizer::sees_races)) {
  // A warp barrier where two warps meet: in this order the numbers are right.
  auto const exchange = [](auto sync) {
    return [sync] {
      int volatile* const x = reinterpret_cast<int*>(shared_memory() + 512);
      if (thread_index() == 0) x[0] = 1;
      sync();
      if (thread_index() == 40 && x[0] != 1) fail("not stored yet");
    };
  };
  CHECK(races_in(64, exchange([] { sync_block(); })) == 0);
  CHECK(races_in(64, exchange([] { named_sync(4, 64); })) == 0);
  CHECK(races_in(64, exchange([] { sync_warp(); })) > 0);
}

TEST_CASE("copies are ordered by their mbarrier" * doctest::skip(!sanitizer::sees_races)) {
  world<tk::bf16> const x({64, 8});
  tensor_map const map = x.map({64, 8}, 128);
  // Two warps; the first loads a tile and, once both have read it, loads it again.
  auto const reload = [&](bool wait, bool release) {
    return [&map, wait, release] {
      init_barriers(2);
      char volatile* const tile = tile_memory();
      for (int turn = 0; turn < 2; ++turn) {
        if (thread_index() == 0) {
          if (turn && release) mbarrier_wait(bar(1), 0);
          mbarrier_expect(bar(), 1024);
          tensor_load(shared_address(tile_memory()), &map, {0, 0}, bar());
          mbarrier_arrive(bar());
        }
        if (thread_index() == 32) {
          mbarrier_wait(bar(), turn);
          if (wait) static_cast<void>(tile[5]);
          if (turn == 0) mbarrier_arrive(bar(1));
          if (!wait) static_cast<void>(tile[5]);
        }
      }
      sync_block();
      if (thread_index() == 0) mbarrier_wait(bar(), 1);
    };
  };
  CHECK(races_in(64, reload(true, true)) == 0);
  CHECK(races_in(64, reload(false, true)) > 0);
}

TEST_CASE("late work is over when it is waited for" * doctest::skip(!sanitizer::sees_races)) {
  for (bool waits : {true, false}) {
    races = 0;
    for (std::uint64_t seed = 0; seed < 6; ++seed)
      CHECK(report_of(
                form_of(1, 64, 8192),
                [waits] {
                  char* const x = shared_memory() + 4096;
                  later([to = x + 8 * thread_index()] { *to = 1; });
                  if (waits) wait_later(0);
                  sync_block();
                  static_cast<void>(*static_cast<char volatile*>(x + 8 * (63 - thread_index())));
                },
                seed) == "");
    CHECK((races == 0) == waits);
  }
}

TEST_CASE("a barrier must be made before others use it" * doctest::skip(!sanitizer::sees_races)) {
  auto const use = [](auto sync) {
    return [sync] {
      if (thread_index() == 0) mbarrier_init(bar(4), 1), mbarrier_init_fence();
      sync();
      if (thread_index() == 32) mbarrier_arrive(bar(4));
    };
  };
  CHECK(races_in(64, use([] { sync_block(); })) == 0);
  CHECK(races_in(64, use([] { sync_warp(); })) > 0);
}

// A random schedule runs blocks side by side; in turn one would follow the other. The polls must
// not share eight bytes with what is looked at: ThreadSanitizer remembers few accesses for each.
TEST_CASE("blocks are ordered by acquire and release" * doctest::skip(!sanitizer::sees_races)) {
  for (bool ordered : {true, false}) {
    alignas(64) int data = 0;
    alignas(64) unsigned flag = 0;
    races = 0;
    CHECK(report_of(
              form_of(2, 32, 64),
              [&] {
                if (lane_index() != block_index()) return;
                if (block_index() == 0) {
                  data = 1;
                  if (ordered) __atomic_store_n(&flag, 1u, __ATOMIC_RELEASE);
                  else __atomic_store_n(&flag, 1u, __ATOMIC_RELAXED);
                } else {
                  while (poll(&flag) != 1) {}
                  if (data != 1) fail("not stored yet");
                }
              },
              1) == "");
    CHECK((races == 0) == ordered);
  }
}
