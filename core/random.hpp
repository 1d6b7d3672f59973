// SPDX-License-Identifier: MIT
// Random bytes by coordinates, the same on every backend and whatever tiles ask for them.
// A plane of bytes has as many rows and columns as one likes. A block of 16 rows and 32 columns is
// 32 calls of Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1,
// 2, 3", SC 2011); a call's 16 bytes lie in rows {r, r + 8} and columns 2 t + {0, 1} + 8 j, j 0 to
// 3, of the block, because that is what a lane holds of it in many fragments:
//   key      word 0: seed, low; word 1: seed, high, xor offset, high
//   counter  word 0: row / 16 8 + row % 8         word 1: col / 32 4 + col % 8 / 2
//            word 2: which plane of the launch    word 3: offset, low
//   byte     row / 8 % 2 8 + col / 8 % 4 2 + col % 2, of four words, the lowest byte first
// keep_random(x, plane, below, row, col): elements whose byte is less than `below` become 0, of a
// tile of fp32 or of 16 bits; x's first is at (row, col) of the plane. In keep_random_transposed
// x's rows are the plane's columns. `row` is a multiple of 16, and `col` of 32, or of 16 where x
// does not have a multiple of 32 of the plane's columns.
// Tiles at one place share what is drawn once: draw(mask, plane, below, row, col), or
// draw_transposed, then keep(x, mask) for each.
// Long rows, of which a lane has runs of 8 neighbours, have a spread of their own, in which a
// call's 16 bytes are neighbours (draw_run; core/row_random.hpp):
//   counter  word 0: row    word 1: col / 16    word 2: random_rows    word 3: offset, low
//   byte     col % 16
#pragma once
#include "core/tile.hpp"

namespace tk {

struct random_words {
  std::uint32_t w[4];
};

TK_BOTH constexpr random_words philox(random_words counter, std::uint32_t key0,
                                      std::uint32_t key1) {
  auto& c = counter.w;
  TK_UNROLL
  for (int round = 0; round < 10; ++round) {
    std::uint64_t const a = std::uint64_t{0xd2511f53u} * c[0],
                        b = std::uint64_t{0xcd9e8d57u} * c[2];
    c[0] = static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ key0;
    c[1] = static_cast<std::uint32_t>(b);
    c[2] = static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ key1;
    c[3] = static_cast<std::uint32_t>(a);
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  return counter;
}

struct random_plane {
  std::uint32_t key0, key1, index, offset;
  TK_BOTH constexpr random_words call(std::uint32_t row, std::uint32_t col) const {
    return philox({{row, col, index, offset}}, key0, key1);
  }
};
TK_BOTH constexpr random_plane random_plane_of(std::uint64_t seed, std::uint64_t offset,
                                               std::uint32_t index) {
  return {static_cast<std::uint32_t>(seed),
          static_cast<std::uint32_t>(seed >> 32) ^ static_cast<std::uint32_t>(offset >> 32), index,
          static_cast<std::uint32_t>(offset)};
}
// The same from two words of device memory, where there are such, so that a captured graph draws
// anew.
TK_BOTH constexpr random_plane random_plane_of(std::uint64_t const* state, std::uint64_t seed,
                                               std::uint64_t offset, std::uint32_t index) {
  return random_plane_of(state ? state[0] : seed, state ? state[1] : offset, index);
}
// What elements are multiplied by that are kept where `below` of 256 bytes are not.
TK_BOTH constexpr float kept_inverse(int below) { return 256.f / static_cast<float>(256 - below); }

// ---- rows of their own
inline constexpr std::uint32_t random_rows = ~std::uint32_t{0};  // their plane

// The bytes of eight columns of a row, the lowest byte first.
struct random_run {
  std::uint32_t w[2];
};
// From any column, or from a multiple of 8. What is drawn for columns below 0 is nobody's.
template <bool Aligned>
TK_BOTH constexpr random_run draw_run(random_plane const& plane, int row, int col) {
  auto const call = [&](int block) {
    return plane.call(static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(block));
  };
  auto const low = call(col >> 4);
  if constexpr (Aligned) {
    bool const second = (col & 8) != 0;
    return {{second ? low.w[2] : low.w[0], second ? low.w[3] : low.w[1]}};
  } else {
    int const begin = col & 15, bits = (begin & 3) * 8;
    random_words high{};
    if (begin > 8) high = call((col >> 4) + 1);
    std::uint32_t all[] = {low.w[0], low.w[1], low.w[2], low.w[3], high.w[0], high.w[1]};
    TK_UNROLL
    for (int k = 0; k < 4; ++k) all[k] = begin & 8 ? all[k + 2] : all[k];
    TK_UNROLL
    for (int k = 0; k < 3; ++k) all[k] = begin & 4 ? all[k + 1] : all[k];
    auto const word = [&](int k) {
      return static_cast<std::uint32_t>((std::uint64_t{all[k + 1]} << 32 | all[k]) >> bits);
    };
    return {{word(0), word(1)}};
  }
}

// ---- tiles
// Where a byte is; sums of coordinates that have no bit of the block in common may be taken apart.
TK_BOTH constexpr int random_call_row(int row) { return (row >> 4 << 3) + (row & 7); }
TK_BOTH constexpr int random_call_col(int col) { return (col >> 5 << 2) + (col >> 1 & 3); }
TK_BOTH constexpr int random_byte_of(int row, int col) {
  return (row >> 3 & 1) * 8 + (col >> 3 & 3) * 2 + (col & 1);
}

// The rows, or the columns, of which a lane has elements: at(k) more than of_lane(lane), each a sum
// over the bits of its argument.
template <class Map, bool Rows> struct lane_coordinates {
  static constexpr int count = Rows ? Map::rows_per_lane : Map::count / Map::rows_per_lane;
  static constexpr int size = Rows ? Map::rows : Map::cols;
  static TK_BOTH constexpr int at(int k) {
    return Rows ? Map::row(k) : Map::col(Map::element(0, k));
  }
  static TK_BOTH constexpr int of_lane(int lane) {
    return Rows ? Map::lane_row(lane) : Map::lane_col(lane);
  }
  static constexpr bool is_bitwise() {
    for (int k = 1; k < count; ++k)
      if (at(k) != at(k & (k - 1)) + at(k & -k)) return false;
    int lanes = 0, own = 0;
    for (int lane = 0; lane < Map::lanes; ++lane) lanes |= of_lane(lane);
    for (int k = 0; k < count; ++k) own |= at(k);
    return at(0) == 0 && (lanes & own) == 0;
  }
  // The bits of k that lead to another call, where `mask` is what of a coordinate says which byte.
  static constexpr int call_bits(int mask) {
    int bits = 0;
    for (int bit = 1; bit < count; bit *= 2)
      if (at(bit) & ~mask) bits |= bit;
    return bits;
  }
  static constexpr int all_bits() {
    int bits = 1;
    while (bits < count) bits *= 2;
    return bits - 1;
  }
};
// The n-th of the numbers made of the bits of `mask`, and how many there are.
TK_BOTH constexpr int number_of_bits(int n, int mask) {
  int result = 0;
  for (int bit = 1; bit <= mask; bit *= 2) {
    if (!(mask & bit)) continue;
    if (n & 1) result |= bit;
    n >>= 1;
  }
  return result;
}
TK_BOTH constexpr int numbers_of_bits(int mask) {
  int count = 1;
  for (; mask; mask &= mask - 1) count *= 2;
  return count;
}

// Byte i becomes byte i ^ by, where `by` has bits of Possible alone.
template <int Possible> TK_DEVICE random_words exchange_bytes(random_words x, int by) {
  random_words y = x;
  TK_UNROLL
  for (int i = 0; i < 4; ++i)
    if (Possible & 4) y.w[i] = by & 4 ? x.w[i ^ 1] : x.w[i];
  x = y;
  TK_UNROLL
  for (int i = 0; i < 4; ++i)
    if (Possible & 8) y.w[i] = by & 8 ? x.w[i ^ 2] : x.w[i];
  TK_UNROLL
  for (auto& w : y.w) {
    if (Possible & 1) w = by & 1 ? (w & 0x00ff00ffu) << 8 | (w >> 8 & 0x00ff00ffu) : w;
    if (Possible & 2) w = by & 2 ? w << 16 | w >> 16 : w;
  }
  return y;
}

// Which elements are kept: a bit for each of a lane's; a byte where one lane has all of the tile.
template <int R, int C> struct random_mask {
  static_assert(!is_flat<R>, "random bytes meet tiles of 16 rows and more");
  static constexpr int count = be::fragment_map<R, C>::count,
                       in_word = be::worker_lanes == 1 ? 1 : 32;
  std::conditional_t<in_word == 1, std::uint8_t, std::uint32_t> w[(count + in_word - 1) / in_word];
  TK_DEVICE bool kept(int i) const {
    if constexpr (in_word == 1) return w[i] != 0;
    else return w[i / in_word] >> i % in_word & 1;
  }
};

// Element i becomes 0 unless it is kept.
template <class T, int R, int C> TK_DEVICE void keep_if(reg_tile<T, R, C>& x, int i, bool kept) {
  static_assert(sizeof(T) >= 2, "random bytes meet tiles of fp32 and of 16 bits");
  if constexpr (sizeof(T) == 4) {
    x.e[i] = kept ? x.e[i] : 0.f;
  } else if constexpr (be::worker_lanes == 1) {
    T e;
    __builtin_memcpy(&e, reinterpret_cast<T*>(x.e) + i, sizeof e);
    e.bits = kept ? e.bits : 0;
    __builtin_memcpy(reinterpret_cast<T*>(x.e) + i, &e, sizeof e);
  } else {
    x.e[i / 2] = kept ? x.e[i / 2] : x.e[i / 2] & (i % 2 ? 0x0000ffffu : 0xffff0000u);
  }
}

// body(i, byte), for the i-th of a lane's elements. One lane has all of the tile.
template <bool Transposed, int R, int C, class Body>
void for_each_byte_whole(random_plane const& plane, int row, int col, Body body) {
  constexpr int height = Transposed ? C : R, width = Transposed ? R : C;
  for (int top = 0; top < height; top += 16)
    for (int left = -(col & 31); left < width; left += 32)
      for (int call = 0; call < 32; ++call) {
        int const r = top + (call & 7), c = left + 2 * (call >> 3);
        auto const words = plane.call(static_cast<std::uint32_t>(random_call_row(row + r)),
                                      static_cast<std::uint32_t>(random_call_col(col + c)));
        for (int byte = 0; byte < 16; ++byte) {
          int const i = r + (byte & 8), j = c + (byte >> 1 & 3) * 8 + (byte & 1);
          if (j < 0 || j >= width) continue;
          body(Transposed ? j * C + i : i * C + j, words.w[byte / 4] >> byte % 4 * 8 & 255);
        }
      }
}

template <bool Transposed, int R, int C, class Body>
TK_DEVICE void for_each_byte_of_lane(random_plane const& plane, int row, int col, Body body) {
  using map = be::fragment_map<R, C>;
  using down = lane_coordinates<map, !Transposed>;
  using along = lane_coordinates<map, Transposed>;
  static_assert(down::is_bitwise() && along::is_bitwise());
  constexpr bool whole = along::size % 32 == 0;  // blocks; else columns are taken by sixteen
  constexpr int row_calls = down::call_bits(8), col_calls = along::call_bits(whole ? 25 : 9);
  constexpr int row_bytes = down::all_bits() & ~row_calls,
                col_bytes = along::all_bits() & ~col_calls;
  constexpr auto possible = [] {
    int bits = whole ? 0 : 4;
    for (int lane = 0; lane < map::lanes; ++lane)
      bits |= random_byte_of(down::of_lane(lane), along::of_lane(lane));
    return bits;
  }();
  int const lane = be::worker_lane(), lane_row = down::of_lane(lane),
            lane_col = along::of_lane(lane), byte = random_byte_of(lane_row, lane_col);
  int const call_row = random_call_row(row) + random_call_row(lane_row);
  TK_UNROLL
  for (int m = 0; m < numbers_of_bits(row_calls); ++m) TK_UNROLL
  for (int n = 0; n < numbers_of_bits(col_calls); ++n) {
    int const a = number_of_bits(m, row_calls), b = number_of_bits(n, col_calls);
    if (a >= down::count || b >= along::count) continue;
    int const corner = whole ? col : col + along::at(b) / 16 * 16;
    int const in_block = whole ? along::at(b) : along::at(b) % 16;
    auto const drawn =
        plane.call(static_cast<std::uint32_t>(call_row + random_call_row(down::at(a))),
                   static_cast<std::uint32_t>(random_call_col(corner) + random_call_col(lane_col) +
                                              random_call_col(in_block)));
    auto const words = exchange_bytes<possible>(drawn, whole ? byte : byte ^ (corner >> 2 & 4));
    TK_UNROLL
    for (int u = 0; u < numbers_of_bits(row_bytes); ++u) TK_UNROLL
    for (int v = 0; v < numbers_of_bits(col_bytes); ++v) {
      int const p = a + number_of_bits(u, row_bytes), q = b + number_of_bits(v, col_bytes);
      if (p >= down::count || q >= along::count) continue;
      int const at = random_byte_of(down::at(p), whole ? along::at(q) : along::at(q) % 16);
      body(Transposed ? map::element(q, p) : map::element(p, q),
           words.w[at / 4] >> at % 4 * 8 & 255);
    }
  }
}

template <bool Transposed, int R, int C, class Body>
TK_DEVICE void for_each_byte(random_plane const& plane, int row, int col, Body body) {
  static_assert(!is_flat<R>, "random bytes meet tiles of 16 rows and more");
  if constexpr (be::worker_lanes == 1) for_each_byte_whole<Transposed, R, C>(plane, row, col, body);
  else for_each_byte_of_lane<Transposed, R, C>(plane, row, col, body);
}

template <bool Transposed, int R, int C>
TK_DEVICE void draw_in(random_mask<R, C>& kept, random_plane const& plane, unsigned below, int row,
                       int col) {
  constexpr int in_word = random_mask<R, C>::in_word;
  if constexpr (in_word > 1) {
    TK_UNROLL
    for (auto& word : kept.w) word = 0;
  }
  for_each_byte<Transposed, R, C>(plane, row, col, [&](int i, unsigned byte) {
    if constexpr (in_word == 1) kept.w[i] = byte >= below;
    else if (byte >= below) kept.w[i / in_word] |= 1u << i % in_word;
  });
}
template <int R, int C>
TK_DEVICE void draw(random_mask<R, C>& kept, random_plane const& plane, unsigned below, int row,
                    int col) {
  draw_in<false>(kept, plane, below, row, col);
}
template <int R, int C>
TK_DEVICE void draw_transposed(random_mask<R, C>& kept, random_plane const& plane, unsigned below,
                               int row, int col) {
  draw_in<true>(kept, plane, below, row, col);
}
template <class T, int R, int C>
TK_DEVICE void keep(reg_tile<T, R, C>& x, random_mask<R, C> const& mask) {
  TK_UNROLL
  for (int i = 0; i < mask.count; ++i) keep_if(x, i, mask.kept(i));
}

// One tile needs no mask, but where one lane has all of it, keep()'s loop over it is vectorised.
template <bool Transposed, class T, int R, int C>
TK_DEVICE void keep_random_in(reg_tile<T, R, C>& x, random_plane const& plane, unsigned below,
                              int row, int col) {
  if constexpr (be::worker_lanes == 1) {
    random_mask<R, C> kept;
    draw_in<Transposed>(kept, plane, below, row, col);
    keep(x, kept);
  } else {
    for_each_byte<Transposed, R, C>(plane, row, col,
                                    [&](int i, unsigned byte) { keep_if(x, i, byte >= below); });
  }
}
template <class T, int R, int C>
TK_DEVICE void keep_random(reg_tile<T, R, C>& x, random_plane const& plane, unsigned below, int row,
                           int col) {
  keep_random_in<false>(x, plane, below, row, col);
}
template <class T, int R, int C>
TK_DEVICE void keep_random_transposed(reg_tile<T, R, C>& x, random_plane const& plane,
                                      unsigned below, int row, int col) {
  keep_random_in<true>(x, plane, below, row, col);
}

}  // namespace tk
