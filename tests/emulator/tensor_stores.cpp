// SPDX-License-Identifier: MIT
// Stores of boxes: clipped at the tensor's edges, added to what is there, read as late as they can
// be, and the fence that must stand between a lane's store to shared memory and the copy.
#include "tests/emulator/maps.hpp"

using namespace tk::emulator;
using namespace tk::test;

namespace {

enum class step {
  all,
  no_fence,
  fence_first,
  one_lane_no_fence,
  no_wait,
  early_overwrite,
  no_commit
};

// A warp fills a 64 x 16 box of 16-bit ones in shared memory and one lane stores it at `from`.
std::string store_ones(tensor_map const& map, std::array<int, 2> from, step fault, bool matrices,
                       bool add = false, std::uint64_t seed = 0, int blocks = 1) {
  return report_of(
      form_of(blocks, 32, 8192),
      [&] {
        char* const tile = tile_memory();
        auto const fence = [&] {
          if (fault == step::no_fence || (fault == step::one_lane_no_fence && lane_index() == 9))
            return;
          proxy_fence();
        };
        if (fault == step::fence_first) fence();
        std::uint32_t const one = 0x3f803f80;
        if (matrices)
          for (int i = 0; i < 4; ++i)
            stmatrix(shared_address(tile) + static_cast<unsigned>(i * 512 + lane_index() * 16), one,
                     one, one, one);
        else
          for (int i = lane_index(); i < 512; i += 32) std::memcpy(tile + i * 4, &one, 4);
        if (fault != step::fence_first) fence();
        sync_warp();
        if (lane_index() == 0) {
          int const corner[2] = {from[0], from[1]};
          if (add) tensor_store_add(&map, corner, shared_address(tile));
          else tensor_store(&map, corner, shared_address(tile));
          if (fault == step::no_commit) return;
          store_commit();
          if (fault == step::early_overwrite) tile[100] = 5;
          if (fault != step::no_wait) store_wait(0, false);
        }
      },
      seed);
}

}  // namespace

TEST_CASE("a store writes what lies inside the tensor and nothing else") {
  for (int swizzle : {0, 128})
    for (bool matrices : {false, true})
      for (auto const& from :
           {std::array{0, 0}, {32, 8}, {-8, -3}, {64, 30}, {500, 500}, {-64, 0}}) {
        world<tk::bf16> const x({72, 33});
        REQUIRE(store_ones(x.map({64, 16}, swizzle), from, step::all, matrices, false,
                           static_cast<std::uint64_t>(matrices)) == "");
        int wrong = 0;
        world<tk::bf16> want({72, 33});
        for_each_in_box({64, 16}, [&](std::vector<std::int64_t> index, int) {
          index[0] += from[0], index[1] += from[1];
          if (auto* const p = want.at(index)) p->bits = 0x3f80;
        });
        for (std::size_t i = 0; i < x.storage.size() - 16; ++i)
          wrong += x.data[i].bits != want.data[i].bits;
        CHECK(wrong == 0);
      }
}

TEST_CASE("swizzled rows leave in the tensor's order") {
  for (int swizzle : {0, 32, 64, 128})
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      int const cols = swizzle ? swizzle / 4 : 16;
      world<float> const x({cols, 24});
      tensor_map const map = x.map({cols, 24}, swizzle);
      CHECK(report_of(
                form_of(1, 64, 8192),
                [&] {
                  for (int i = thread_index(); i < cols * 24; i += 64) {
                    float const value = static_cast<float>(1000 + i);
                    std::memcpy(tile_memory() + swizzled_byte(4 * i, swizzle), &value, 4);
                  }
                  proxy_fence();
                  sync_block();
                  if (thread_index() == 0) {
                    tensor_store(&map, {0, 0}, shared_address(tile_memory()));
                    store_commit();
                    store_wait(0, true);
                    if (*x.at({cols - 1, 23}) != static_cast<float>(1000 + cols * 24 - 1))
                      fail("not written when the wait returned");
                  }
                },
                seed) == "");
      int wrong = 0;
      for_each_in_box({cols, 24}, [&](std::vector<std::int64_t> const& index, int n) {
        wrong += *x.at(index) != static_cast<float>(1000 + n);
      });
      CHECK(wrong == 0);
    }
}

TEST_CASE_TEMPLATE("stores of many blocks add up", T, float, tk::bf16, tk::fp16) {
  int const cols = std::is_same_v<T, float> ? 32 : 64;
  world<T> const x({cols, 16});
  for (T& e : const_cast<std::vector<T>&>(x.storage)) e = tk::round_to<T>(3.f);
  tensor_map const map = x.map({cols, 16}, 128);
  CHECK(report_of(form_of(8, 32, 8192), [&] {
          T const half = tk::round_to<T>(0.5f);
          for (int i = lane_index(); i < cols * 16; i += 32)
            std::memcpy(tile_memory() + i * static_cast<int>(sizeof(T)), &half, sizeof(T));
          proxy_fence();
          sync_warp();
          if (lane_index() == 0) {
            tensor_store_add(&map, {0, 4}, shared_address(tile_memory()));
            store_commit();
            store_wait(0, true);
          }
        }) == "");
  CHECK(tk::widen(*x.at({0, 3})) == 3);
  CHECK(tk::widen(*x.at({0, 4})) == 7);
  CHECK(tk::widen(*x.at({cols - 1, 15})) == 7);
}

TEST_CASE("missing steps are reported") {
  world<tk::bf16> const x({64, 16});
  tensor_map const map = x.map({64, 16}, 128);
  for (std::uint64_t seed = 0; seed < seeds; ++seed)
    for (bool matrices : {false, true}) {
      auto const run = [&](step fault) {
        return store_ones(map, {0, 0}, fault, matrices, false, seed);
      };
      CHECK(run(step::all) == "");
      CHECK(contains(run(step::no_fence), "without a proxy fence"));
      CHECK(contains(run(step::fence_first), "without a proxy fence"));
      CHECK(contains(run(step::no_wait), "ended before its bulk store had read"));
      CHECK(contains(run(step::no_commit), "ended before its bulk store had read"));
    }
  CHECK(
      contains(store_ones(map, {0, 0}, step::one_lane_no_fence, true),
               "stored with stmatrix by thread 9, is read by the hardware without a proxy fence"));
  CHECK(contains(store_ones(map, {0, 0}, step::early_overwrite, true),
                 "changed while a bulk store was reading it"));
}

TEST_CASE("waits leave the youngest groups running") {
  world<tk::bf16> const x({64, 64});
  tensor_map const map = x.map({64, 16}, 128);
  for (std::uint64_t seed = 0; seed < seeds; ++seed)
    CHECK(report_of(
              form_of(1, 32, 12 * 1024),
              [&] {
                // Two tiles in turn; each is written again when the store before last has read it.
                for (int part = 0; part < 4; ++part) {
                  char* const tile = tile_memory() + part % 2 * 2048;
                  if (lane_index() == 0) store_wait(1, false);
                  sync_warp();
                  std::memset(tile + lane_index() * 64, part, 64);
                  proxy_fence();
                  sync_warp();
                  if (lane_index() == 0) {
                    tensor_store(&map, {0, part * 16}, shared_address(tile));
                    store_commit();
                  }
                }
                if (lane_index() == 0) store_wait(0, true);
              },
              seed) == "");
  for (int row = 0; row < 64; ++row) CHECK(x.at({5, row})->bits == row / 16 * 0x101);
}

TEST_CASE("matrices go to shared memory and come back") {
  bool same[32] = {};
  CHECK(report_of(form_of(1, 32, 8192), [&] {
          int const l = lane_index();
          auto const at = shared_address(tile_memory()) + static_cast<unsigned>(l) * 16;
          std::uint32_t const a = static_cast<std::uint32_t>(l), b = a + 100, c = a + 200,
                              d = a + 300;
          stmatrix(at, a, b, c, d);
          sync_warp();
          std::uint32_t e, f, g, h, row[4];
          ldmatrix(at, e, f, g, h);
          // Row i of matrix m holds the register m of lanes 4 i to 4 i + 3.
          std::memcpy(row, tile_memory() + l * 16, 16);
          bool ok = e == a && f == b && g == c && h == d;
          // Transposed: of column i, rows 2 j and 2 j + 1, in lane 4 i + j.
          ldmatrix_transposed(at, e, f, g, h);
          auto const half = [](int m, int stored_row, int col) {
            int const lane = stored_row * 4 + col / 2, word = lane + 100 * m;
            return static_cast<std::uint32_t>(col % 2 ? 0 : word);
          };
          std::uint32_t const transposed[] = {e, f, g, h};
          for (int m = 0; m < 4; ++m)
            ok &=
                transposed[m] == (half(m, l % 4 * 2, l / 4) | half(m, l % 4 * 2 + 1, l / 4) << 16);
          for (unsigned i = 0; i < 4; ++i)
            ok &= row[i] == static_cast<unsigned>(l / 8 * 100 + l % 8 * 4) + i;
          same[l] = ok;
        }) == "");
  for (bool const s : same) CHECK(s);
  CHECK(contains(report_of(form_of(1, 32, 8192),
                           [] { stmatrix(shared_address(tile_memory()) + 8, 0, 0, 0, 0); }),
                 "not sixteen aligned bytes"));
}
