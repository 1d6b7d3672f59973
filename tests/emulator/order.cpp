// SPDX-License-Identifier: MIT
// What lanes store in shared memory reaches the hardware, and other lanes, only through a barrier:
// products, tensor stores and loads that no barrier orders after a store and its proxy fence are
// reported, whichever warp stored; those that any kind of barrier orders are not.
#include "backends/emulator/wgmma.hpp"

#include <functional>

#include "tests/emulator/maps.hpp"

using namespace tk::emulator;
using namespace tk::test;

// The faults are meant, and ThreadSanitizer sees them as well.
#if defined(TK_EMULATOR_TSAN)
extern "C" char const* __tsan_default_options() { return "exitcode=0:log_path=/dev/null"; }
#endif

namespace {

constexpr char const* missing = "without a barrier after the store and its proxy fence";
using steps = std::function<void()>;
void nothing() {}
// mbarrier 0 counts the lanes of a warpgroup.
void init() { init_barriers(1, 128); }

// b[16, 64] lies in matrices of 8 rows of 16 bytes, which the lanes of the warps in `who` store.
void store_b(unsigned who, bool matrices) {
  int const t = thread_index() % 128;
  if (!(who >> t / 32 & 1)) return;
  auto const to = shared_address(tile_memory()) + static_cast<unsigned>(t * 16);
  if (matrices) stmatrix(to, 1, 1, 1, 1);
  else std::memset(shared_pointer<char>(to), 1, 16);
}
void multiply() {
  product_form form;
  form.n = 64, form.keep = false, form.a_in_registers = true;
  form.b = std::uint64_t{256 >> 4} << 32 | std::uint64_t{128 >> 4} << 16 |
           (shared_address(tile_memory()) & 0x3ffff) >> 4;
  float d[32] = {};
  std::uint32_t const a[4] = {};
  wgmma_fence();
  wgmma_issue(form, d, a, location::current());
  wgmma_commit();
  wgmma_wait(0);
}
// One warpgroup stores, fences, and multiplies.
std::string product_after(unsigned who, bool matrices, steps before_fence, steps after_fence,
                          std::uint64_t seed = 0) {
  return report_of(
      form_of(1, 128, 8192),
      [&] {
        init();
        store_b(who, matrices);
        before_fence();
        proxy_fence();
        after_fence();
        multiply();
      },
      seed);
}
void through_mbarrier() {
  mbarrier_arrive(bar(0));
  mbarrier_wait(bar(0), 0);
}
// One lane of each warp arrives for all.
void through_leaders() {
  sync_warp();
  for (int i = 0; i < 32; ++i)
    if (lane_index() == 0) mbarrier_arrive(bar(0));
  mbarrier_wait(bar(0), 0);
}

}  // namespace

TEST_CASE("a product reads what a barrier orders before it") {
  for (bool matrices : {false, true})
    for (unsigned who : {15u, 1u, 2u, 4u, 8u, 6u}) {
      CAPTURE(matrices);
      CAPTURE(who);
      for (std::uint64_t seed = 0; seed < seeds; ++seed)
        for (auto const& sync :
             {steps([] { sync_block(); }), steps([] { sync_cluster(); }),
              steps([] { named_sync(3, 128); }), steps(through_mbarrier), steps(through_leaders)})
          CHECK(product_after(who, matrices, nothing, sync, seed) == "");
      CHECK(contains(product_after(who, matrices, nothing, nothing), missing));
      CHECK(contains(product_after(who, matrices, nothing, [] { sync_warp(); }), missing));
      // The fence is what must come before, not the store alone.
      CHECK(contains(product_after(who, matrices, [] { sync_block(); }, nothing), missing));
      // Half of the warps meet.
      CHECK(contains(product_after(who, matrices, nothing,
                                   [] { named_sync(thread_index() < 64 ? 1 : 2, 64); }),
                     missing));
    }
}

TEST_CASE("barriers pass on what was ordered before them") {
  // The second warpgroup stores; the first learns of it from a ninth warp.
  for (std::uint64_t seed = 0; seed < seeds; ++seed)
    CHECK(report_of(
              form_of(1, 288, 8192),
              [] {
                int const group = thread_index() / 128;
                if (group == 1) store_b(15, false), proxy_fence();
                if (group == 1) named_arrive(1, 160);
                if (group == 2) named_sync(1, 160), named_arrive(2, 160);
                if (group == 0) named_sync(2, 160), multiply();
              },
              seed) == "");
}

TEST_CASE("a tensor store reads what a barrier orders before it") {
  world<tk::bf16> const x({64, 8});
  tensor_map const map = x.map({64, 8}, 0);
  auto const store = [&](bool matrices, int writer, bool synced, int blocks, std::uint64_t seed) {
    return report_of(
        form_of(blocks, 128, 8192),
        [&] {
          auto const tile = shared_address(tile_memory());
          for (unsigned i = 0; i < 2; ++i) {
            if (thread_index() / 32 == writer) {
              for (unsigned at = static_cast<unsigned>(lane_index()) * 16; at < 1024; at += 512)
                if (matrices) stmatrix(tile + at, i, 1, 1, 1);
                else std::memset(shared_pointer<char>(tile + at), static_cast<int>(i), 16);
              proxy_fence();
            }
            if (synced || i == 0) sync_block();
            if (thread_index() == 64) {
              tensor_store(&map, {0, 0}, tile);
              store_commit();
              store_wait(0, true);
            }
            if (i == 0) sync_block(), sync_block();
          }
        },
        seed);
  };
  int named = 0;
  for (bool matrices : {false, true})
    for (int writer : {0, 1, 3}) {
      for (std::uint64_t seed = 0; seed < seeds; ++seed)
        CHECK(store(matrices, writer, true, 1, seed) == "");
      // The copy may also come first, and then its source changes under it.
      for (int blocks = 1; blocks < 5; ++blocks) {
        auto const report = store(matrices, writer, false, blocks, 0);
        CHECK(report != "");
        named += contains(report, missing);
      }
    }
  CHECK(named > 0);
}

TEST_CASE("a load does not write over what no barrier orders before it") {
  world<tk::bf16> const x({64, 8});
  tensor_map const map = x.map({64, 8}, 0);
  auto const load = [&](bool synced, std::uint64_t seed) {
    return report_of(
        form_of(4, 64, 8192),
        [&] {
          init_barriers(1);
          if (thread_index() >= 32) {
            std::memset(tile_memory() + lane_index() * 16, 1, 16);
            proxy_fence();
          }
          if (synced) sync_block();
          if (thread_index() == 0) {
            mbarrier_expect(bar(), 1024);
            tensor_load(shared_address(tile_memory()), &map, {0, 0}, bar());
            mbarrier_arrive(bar());
          }
          mbarrier_wait(bar(), 0);
        },
        seed);
  };
  for (std::uint64_t seed = 0; seed < seeds; ++seed) CHECK(load(true, seed) == "");
  CHECK(contains(load(false, 0), "is written by the hardware " + std::string(missing)));
}

// Ordinary stores and loads: the schedule shows what no barrier orders.
TEST_CASE("in turn, a store comes after a load of another lane, and before it") {
  for (int writer : {0, 17, 40, 127}) {
    int early = 0, late = 0;
    settings how;
    how.seed = 0, how.os_threads = 1;
    launch(form_of(8, 128, 64), how, [&] {
      int volatile* const x = reinterpret_cast<int*>(shared_memory());
      for (int round = 0; round < 4; ++round) {
        if (thread_index() == writer) x[0] = round;
        else if (thread_index() == 127 - writer) ++(x[0] == round ? late : early);
        sync_block();
      }
    });
    CHECK(early > 0);
    CHECK(late > 0);
  }
}
