// SPDX-License-Identifier: MIT
// Loads of boxes and of contiguous bytes: every rank, element, swizzle and position against the
// definition, multicast, completion as late as it can be, and the rules of alignment and size.
#include "tests/emulator/maps.hpp"

using namespace tk::emulator;
using namespace tk::test;

namespace {

template <class T, int Rank>
void check_load(world<T> const& x, std::vector<int> const& box, int swizzle,
                std::array<int, Rank> const& from, std::uint64_t seed) {
  tensor_map const map = x.map(box, swizzle);
  REQUIRE(is_legal(map));
  int const bytes =
      std::accumulate(box.begin(), box.end(), static_cast<int>(sizeof(T)), std::multiplies<>());
  std::vector<char> got(static_cast<std::size_t>(bytes));
  int corner[Rank];
  std::copy(from.begin(), from.end(), corner);
  REQUIRE(report_of(
              form_of(1, 32, 40 * 1024),
              [&] {
                init_barriers(1);
                if (lane_index() == 0) {
                  mbarrier_expect(bar(), bytes);
                  tensor_load(shared_address(tile_memory()), &map, corner, bar());
                  mbarrier_arrive(bar());
                }
                mbarrier_wait(bar(), 0);
                if (lane_index() == 31) std::memcpy(got.data(), tile_memory(), got.size());
              },
              seed) == "");
  int wrong = 0;
  for_each_in_box(box, [&](std::vector<std::int64_t> index, int n) {
    for (std::size_t i = 0; i < index.size(); ++i) index[i] += from[i];
    T const* const p = x.at(index);
    T const want = p ? *p : T{};
    wrong +=
        std::memcmp(
            &want,
            &got[static_cast<std::size_t>(swizzled_byte(n * static_cast<int>(sizeof(T)), swizzle))],
            sizeof(T)) != 0;
  });
  CHECK(wrong == 0);
}

// One rank: boxes whose rows fill the swizzle's span, at corners inside, astride and outside.
template <class T, int Rank>
void check_rank(std::vector<std::int64_t> const& sizes, std::vector<int> const& outer_box) {
  world<T> const x(sizes);
  for (int swizzle : {0, 32, 64, 128})
    for (int shift : {-1000, -5, 0, 3, 40}) {
      std::vector<int> box{static_cast<int>((swizzle ? swizzle : 48) / sizeof(T))};
      box.insert(box.end(), outer_box.begin(), outer_box.end());
      std::array<int, Rank> from{};
      from[0] = shift;
      for (int i = 1; i < Rank; ++i)
        from[static_cast<std::size_t>(i)] = shift == 40 ? 1 : shift / i;
      check_load<T, Rank>(x, box, swizzle, from, static_cast<std::uint64_t>(shift == 3));
    }
}

// One lane loads a 64 x 8 box of 16-bit elements and then does `body`.
template <class F> std::string with_load(F body, int expected = 1024) {
  world<tk::bf16> const x({64, 8});
  tensor_map const map = x.map({64, 8}, 128);
  return report_of(form_of(1, 32, 8192), [&] {
    init_barriers(1);
    if (lane_index() == 0) {
      mbarrier_expect(bar(), expected);
      tensor_load(shared_address(tile_memory()), &map, {0, 0}, bar());
      mbarrier_arrive(bar());
    }
    sync_warp();
    body();
  });
}
template <class F> std::string refusal(F change, int coordinates = 2) {
  world<tk::bf16> const x({64, 8});
  tensor_map map = x.map({64, 8}, 128);
  std::uint32_t to = 0;
  change(map, to);
  return report_of(form_of(1, 32, 8192), [&] {
    init_barriers(1);
    if (lane_index() != 0) return;
    std::uint32_t const at = shared_address(tile_memory()) + to;
    if (coordinates == 2) tensor_load(at, &map, {0, 0}, bar());
    else tensor_load(at, &map, {0, 0, 0}, bar());
  });
}

}  // namespace

TEST_CASE_TEMPLATE("boxes of 1 to 5 dimensions", T, float, tk::bf16, tk::fp16, tk::fp8_e4m3) {
  check_rank<T, 1>({50}, {});
  check_rank<T, 2>({70, 9}, {16});
  check_rank<T, 3>({33, 5, 4}, {3, 5});
  check_rank<T, 4>({40, 3, 2, 5}, {2, 2, 3});
  check_rank<T, 5>({24, 3, 2, 3, 2}, {2, 2, 2, 2});
}

// ThreadSanitizer calls it a race.
TEST_CASE("what is read before the wait is NaN" * doctest::skip(sanitizer::sees_races)) {
  bool nan = false;
  CHECK(with_load([&] {
          if (lane_index() != 0) return;
          std::uint16_t early;
          std::memcpy(&early, tile_memory(), 2);
          nan = early == 0xffff;
          mbarrier_wait(bar(), 0);
        }) == "");
  CHECK(nan);
}

TEST_CASE("a wrong count of bytes is a deadlock that says so") {
  CHECK(contains(with_load([] { mbarrier_wait(bar(), 0); }, 1040), "16 bytes to come"));
  CHECK(contains(with_load([] { mbarrier_wait(bar(), 0); }, 1000), "-24 bytes to come"));
}

TEST_CASE("a block may not end before its loads") {
  CHECK(contains(with_load([] {}), "the block ended while this copy or product was running"));
}

TEST_CASE("what the driver refuses is no legal map") {
  world<tk::bf16> const x({64, 8, 4});
  auto const legal = [&](auto change) {
    tensor_map m = x.map({64, 8, 1}, 128);
    change(m);
    return is_legal(m);
  };
  CHECK(legal([](tensor_map&) {}));
  CHECK(!legal([](tensor_map& m) { m.base += 8; }));
  CHECK(!legal([](tensor_map& m) { m.base = nullptr; }));
  CHECK(!legal([](tensor_map& m) { m.strides[0] += 8; }));
  CHECK(!legal([](tensor_map& m) { m.strides[1] = std::uint64_t{1} << 40; }));
  CHECK(!legal([](tensor_map& m) { m.sizes[1] = 0; }));
  CHECK(!legal([](tensor_map& m) { m.sizes[1] = (std::uint64_t{1} << 32) + 1; }));
  CHECK(!legal([](tensor_map& m) { m.box[1] = 0; }));
  CHECK(!legal([](tensor_map& m) { m.box[1] = 257; }));
  CHECK(!legal([](tensor_map& m) { m.box[0] = 72; }));
  CHECK(!legal([](tensor_map& m) { m.box[0] = 60; }));
  CHECK(!legal([](tensor_map& m) { m.swizzle_bytes = 64; }));
  CHECK(!legal([](tensor_map& m) { m.rank = 0; }));
  CHECK(!legal([](tensor_map& m) { m.rank = 6; }));
}

TEST_CASE("a load that hardware would not do is reported") {
  CHECK(
      contains(refusal([](tensor_map&, std::uint32_t& to) { to = 64; }), "not a multiple of 128"));
  CHECK(
      contains(refusal([](tensor_map&, std::uint32_t& to) { to = 8192; }), "leave shared memory"));
  CHECK(contains(refusal([](tensor_map& m, std::uint32_t&) { m.magic = 0; }), "not a tensor map"));
  CHECK(contains(refusal([](tensor_map& m, std::uint32_t&) { m.box[0] = 32; }), "not modelled"));
  CHECK(contains(refusal([](tensor_map&, std::uint32_t&) {}, 3), "3 coordinates for a map of 2"));
}

TEST_CASE("contiguous bytes") {
  alignas(16) static char const data[2064] = "from the first byte";
  for (int bytes : {16, 1024, 1040, 2064}) {
    bool same = false;
    CHECK(report_of(form_of(1, 32, 8192), [&] {
            init_barriers(1);
            if (lane_index() == 0) {
              mbarrier_expect(bar(), bytes);
              bulk_load(shared_address(tile_memory()) + 16, data, bytes, bar());
              mbarrier_arrive(bar());
              mbarrier_wait(bar(), 0);
              same = std::memcmp(tile_memory() + 16, data, static_cast<std::size_t>(bytes)) == 0 &&
                     tile_memory()[16 + bytes] == static_cast<char>(0xff);
            }
          }) == "");
    CHECK(same);
  }
  for (auto const& [to, from, bytes] : {std::array{8, 0, 16}, {0, 8, 16}, {0, 0, 24}, {0, 0, 0}})
    CHECK(contains(report_of(form_of(1, 32, 8192),
                             [&, to = to, from = from, bytes = bytes] {
                               init_barriers(1);
                               if (lane_index() == 0)
                                 bulk_load(
                                     shared_address(tile_memory()) + static_cast<unsigned>(to),
                                     data + from, bytes, bar());
                             }),
                   "not whole units of 16 bytes"));
}

TEST_CASE("each block of a cluster loads its share for all") {
  world<tk::bf16> const x({64, 32});
  for (int cluster : {2, 4})
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      int const share = 32 / cluster;
      tensor_map const map = x.map({64, share}, 128);
      std::vector<std::vector<char>> got(static_cast<std::size_t>(cluster),
                                         std::vector<char>(4096));
      CHECK(report_of(
                form_of(cluster, 32, 8192, cluster),
                [&] {
                  init_barriers(1);
                  if (lane_index() == 0) {
                    mbarrier_expect(bar(), 4096);
                    int const mine = cluster_rank() * share;
                    tensor_load_to_all(
                        shared_address(tile_memory()) + static_cast<unsigned>(mine) * 128, &map,
                        {0, mine}, bar(), (1u << cluster) - 1);
                    mbarrier_arrive(bar());
                  }
                  mbarrier_wait(bar(), 0);
                  if (lane_index() == 1)
                    std::memcpy(got[static_cast<std::size_t>(block_index())].data(), tile_memory(),
                                4096);
                  sync_cluster();
                },
                seed) == "");
      for (auto const& block : got) {
        int wrong = 0;
        for_each_in_box({64, 32}, [&](std::vector<std::int64_t> const& index, int n) {
          wrong += std::memcmp(x.at(index),
                               &block[static_cast<std::size_t>(swizzled_byte(2 * n, 128))], 2) != 0;
        });
        CHECK(wrong == 0);
      }
    }
  tensor_map const map = x.map({64, 8}, 128);
  CHECK(contains(report_of(form_of(2, 32, 8192, 2),
                           [&] {
                             init_barriers(1);
                             if (lane_index() == 0)
                               tensor_load_to_all(shared_address(tile_memory()), &map, {0, 0},
                                                  bar(), 5);
                           }),
                 "to the blocks 0x5 of a cluster of 2"));
}
