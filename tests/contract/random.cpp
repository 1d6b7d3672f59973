// SPDX-License-Identifier: MIT
// Random bytes by coordinates: both orientations, every share, and corners anywhere, against the
// definition in core/random.hpp, also where two tiles meet one mask; Philox against its paper's
// numbers.
#include "core/random.hpp"
#include "tests/contract/support.hpp"

namespace tk::test {

inline constexpr unsigned shares[] = {1, 64, 200, 255};
inline constexpr int places = 6, share_count = 4;
inline constexpr int rows_at[places] = {0, 16, 48, 4096, 16 * 12345, 1 << 30},
                     cols_at[places] = {0, 16, 96, 8192, 16 * 777, 1 << 30};

enum class by { tile, mask };  // keep_random, or draw and keep

template <class T, int R, int C, bool Transposed, by By> struct random_op : simple_op {
  struct args {
    int cases;  // tasks: place index / share_count, share index % share_count
    std::uint64_t seed, offset;
    float const* x;
    float* out;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    constexpr unsigned below[] = {1, 64, 200, 255};
    constexpr int row[] = {0, 16, 48, 4096, 16 * 12345, 1 << 30},
                  col[] = {0, 16, 96, 8192, 16 * 777, 1 << 30};
    int const place = t.index / 4, share = t.index % 4;
    auto const plane = random_plane_of(a.seed, a.offset, static_cast<std::uint32_t>(place));
    reg_tile<float, R, C> from;
    read_tile(from, a.x, 0);
    reg_tile<T, R, C> x;
    if constexpr (sizeof(T) == 4) x = from;
    else x = cast<T>(from);
    if constexpr (By == by::mask) {
      random_mask<R, C, Transposed> kept;
      draw(kept, plane, below[share], row[place], col[place]);
      keep(x, kept);
      from = from * 2.f;
      keep(from, kept);
      write_tile(a.out, t.index, from - x * 1.f);  // x again, if both lost the same
    } else {
      if constexpr (Transposed)
        keep_random_transposed(x, plane, below[share], row[place], col[place]);
      else keep_random(x, plane, below[share], row[place], col[place]);
      write_tile(a.out, t.index, x * 1.f);
    }
    report(k, a, t.index);
  }
};

// The definition, in other words than the device's.
unsigned byte_at(std::uint64_t seed, std::uint64_t offset, std::uint32_t index, int row, int col) {
  auto const low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  int const block_row = row / 16, block_col = col / 16, r = row % 16, c = col % 16;
  auto const drawn =
      philox({{static_cast<std::uint32_t>(block_row * 4 + r % 8 / 2),
               static_cast<std::uint32_t>(block_col * 4 + c % 8 / 2), index, low(offset)}},
             low(seed), low(seed >> 32) ^ low(offset >> 32));
  int const byte = r % 2 * 8 + c % 2 * 4 + r / 8 * 2 + c / 8;
  return drawn.w[byte / 4] >> 8 * (byte % 4) & 255;
}

template <class T, int R, int C, bool Transposed, by By> void check_random(std::uint64_t seed) {
  constexpr int size = R * C, tasks = places * share_count;
  std::uint64_t const offset = seed * 0x100000007;
  auto x = wholes(size, 5, 50);
  for (float& e : x) e += 80;  // none is 0
  device_array<float> const dx(x), out(untouched<float>(at(tasks * size)));
  run<random_op<T, R, C, Transposed, By>>({tasks, seed, offset, dx.data(), out.data(), nullptr});
  std::vector<float> expected;
  for (int task = 0; task < tasks; ++task)
    for (int i = 0; i < size; ++i) {
      int const place = task / share_count;
      int const down = Transposed ? i % C : i / C, along = Transposed ? i / C : i % C;
      auto const byte = byte_at(seed, offset, static_cast<std::uint32_t>(place),
                                rows_at[place] + down, cols_at[place] + along);
      expected.push_back(byte < shares[task % share_count] ? 0.f : x[at(i)]);
    }
  check_same(out.read(), expected);
}

template <class T, int R, int C, by By> void check_both(std::uint64_t seed) {
  check_random<T, R, C, false, By>(seed);
  check_random<T, R, C, true, By>(seed);
}
template <by By> void check_shapes() {
  expect_cases const counted(7 * 2 * places * share_count);
  check_both<float, M, 16, By>(1);
  check_both<float, M, 32, By>(0x123456789abcdef0);
  check_both<float, M, 80, By>(3);
  check_both<float, tall, 128, By>(0xffffffffffffffff);
  check_both<float, 2 * M, 48, By>(5);
  check_both<bf16, M, 80, By>(6);
  check_both<fp16, tall, 64, By>(7);
}

TEST_CASE("random bytes are those of their coordinates, whatever the tile") {
  check_shapes<by::tile>();
}
TEST_CASE("a mask has the same bytes, for one tile after another") { check_shapes<by::mask>(); }

TEST_CASE("bytes of a word are compared one by one") {
  expect_cases const counted(0);
  std::uint32_t wrong = 0;
  for (unsigned below = 1; below < 256; ++below)
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      std::uint32_t const others[] = {0, 255, below - 1, below};
      for (std::uint32_t const other : others) {
        std::uint32_t const x = byte | other << 8 | (255 - byte) << 16 | byte << 24;
        for (int k = 0; k < 4; ++k) {
          std::uint32_t const expected = (x >> 8 * k & 255) >= below ? 0x80 : 0;
          wrong += (bytes_not_below(x, below) >> 8 * k & 255) != expected;
        }
      }
    }
  CHECK(wrong == 0);
}

TEST_CASE("Philox4x32-10") {
  expect_cases const counted(0);
  auto const is = [](random_words x, random_words y) { return std::equal(x.w, x.w + 4, y.w); };
  std::uint32_t const all = ~std::uint32_t{0};
  CHECK(is(philox({{0, 0, 0, 0}}, 0, 0), {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}));
  CHECK(is(philox({{all, all, all, all}}, all, all),
           {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}));
  CHECK(is(philox({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0),
           {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}));
}

}  // namespace tk::test
