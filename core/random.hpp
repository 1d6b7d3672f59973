// SPDX-License-Identifier: MIT
// Random bytes by coordinates, the same on every backend and whatever tiles ask for them.
// A plane of bytes has as many rows and columns as one likes. A block of 16 rows and 16 columns is
// 16 calls of Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1,
// 2, 3", SC 2011); a call's 16 bytes lie in rows 2 a + {0, 1, 8, 9} and columns 2 b + {0, 1, 8, 9},
// a and b 0 to 3, of the block: whether rows are queries or, transposed, keys, two lanes of many
// fragments hold these, and each draws half of what both need:
//   key      word 0: seed, low; word 1: seed, high, xor offset, high
//   counter  word 0: row / 16 4 + row % 8 / 2     word 1: col / 16 4 + col % 8 / 2
//            word 2: which plane of the launch    word 3: offset, low
//   byte     row % 2 8 + col % 2 4 + row / 8 % 2 2 + col / 8 % 2, of four words, the lowest byte
//            first
// keep_random(x, plane, below, row, col): elements whose byte is less than `below` become 0, of a
// tile of fp32 or of 16 bits; x's first is at (row, col) of the plane. In keep_random_transposed
// x's rows are the plane's columns. `row` and `col` are multiples of 16.
// Tiles at one place share what is drawn once: draw(mask, plane, below, row, col), then
// keep(x, mask) for each.
// Long rows, of which a lane has runs of 8 neighbours, have a spread of their own, in which a
// call's 16 bytes are neighbours (draw_run; core/row_random.hpp):
//   counter  word 0: row    word 1: col / 16    word 2: random_rows    word 3: offset, low
//   byte     col % 16
#pragma once
#include "core/shuffle_word.hpp"
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
TK_BOTH constexpr int random_call(int coordinate) {
  return (coordinate >> 4 << 2) + (coordinate >> 1 & 3);
}
TK_BOTH constexpr int random_byte_of(int row, int col) {
  return (row & 1) << 3 | (col & 1) << 2 | (row >> 3 & 1) << 1 | (col >> 3 & 1);
}

// The rows, or the columns, of which a lane has elements: at(k) more than of_lane(lane), each a sum
// over the bits of its argument.
template <class Map, bool Rows> struct lane_coordinates {
  static constexpr int in_byte = 9;  // the bits of a coordinate that say which byte of a call
  static constexpr int count = Rows ? Map::rows_per_lane : Map::count / Map::rows_per_lane;
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
  // So many of the lowest bits of k lead to another byte, all others to another call.
  static constexpr int byte_bits() {
    int n = 0;
    while (1 << n < count && (at(1 << n) & in_byte)) ++n;
    return n;
  }
  static constexpr bool calls_are_above() {
    for (int k = 1 << byte_bits(); k < count; k *= 2)
      if (at(k) & in_byte) return false;
    return count % (1 << byte_bits()) == 0;
  }
  static constexpr int calls() { return count >> byte_bits(); }
  static TK_BOTH constexpr int call(int i) { return random_call(at(i << byte_bits())); }
  // The bit of a lane's number that leads to this bit of a coordinate alone; 0: none does.
  static TK_BOTH constexpr int lane_bit(int of) {
    for (int bit = 1; bit < Map::lanes; bit *= 2)
      if (of_lane(bit) == of) return bit;
    return 0;
  }
  // Each bit of a byte's number is one of a lane's elements, or of the lanes, alone.
  static constexpr bool has_all_bytes() {
    int own = 0;
    for (int k = 0; k < count; ++k) own |= at(k);
    for (int const bit : {1, 8})
      if (!(own & bit) && lane_bit(bit) == 0) return false;
    return true;
  }
};

// What lanes draw for a tile. Lanes that differ in bits of a byte's number share their calls, all
// of the same number, and take turns at them; each gets its bits of what the others drew.
template <int R, int C, bool Transposed> struct random_calls {
  using map = be::fragment_map<R, C>;
  using down = lane_coordinates<map, !Transposed>;
  using along = lane_coordinates<map, Transposed>;
  static_assert(down::is_bitwise() && along::is_bitwise());
  static_assert(down::calls_are_above() && along::calls_are_above());
  static_assert(down::has_all_bytes() && along::has_all_bytes());

  // The lane's bit that bit j of a byte's number is, 0 where each lane has both.
  static TK_BOTH constexpr int lane_bit(int j) {
    int const of = j < 2 ? 8 : 1;
    return j % 2 ? down::lane_bit(of) : along::lane_bit(of);
  }
  // How many of the bits before are bits of a lane.
  static TK_BOTH constexpr int bits_before(int j) {
    int n = 0;
    for (int i = 0; i < j; ++i) n += lane_bit(i) ? 1 : 0;
    return n;
  }
  static constexpr int calls = down::calls() * along::calls(), sharing = 1 << bits_before(4),
                       drawn = (calls + sharing - 1) / sharing;  // by each
  static TK_BOTH constexpr int row(int call) { return down::call(call / along::calls()); }
  static TK_BOTH constexpr int col(int call) { return along::call(call % along::calls()); }

  // A lane's number among those that share; and the bits of a byte's number that such a one is.
  static TK_DEVICE int share_of(int lane) {
    int share = 0;
    for_each_index<4>([&](auto j) __attribute__((always_inline)) {
      constexpr int bit = lane_bit(j), first = bits_before(j);
      if (bit != 0) share |= lane & bit ? 1 << first : 0;
    });
    return share;
  }
  static TK_BOTH constexpr int bits_of_share(int share) {
    int bits = 0;
    for (int j = 0; j < 4; ++j)
      if (lane_bit(j)) bits |= (share >> bits_before(j) & 1) << j;
    return bits;
  }
  // Two calls have a word: byte b of the c-th has the bit place(b, c) of word c / 2.
  static TK_BOTH constexpr int place(int byte, int c) {
    return byte % 4 * 8 + 7 - byte / 4 - c % 2 * 4;
  }
  // How far the places are apart of bytes whose numbers differ in bit j, and where those are of
  // which it is 0.
  static TK_BOTH constexpr int distance(int j) { return j < 2 ? 8 << j : 1 << (j - 2); }
  static TK_BOTH constexpr std::uint32_t without(int j) {
    std::uint32_t places = 0;
    for (int byte = 0; byte < 16; ++byte)
      if (!(byte >> j & 1)) places |= 1u << place(byte, 0) | 1u << place(byte, 1);
    return places;
  }
  // Of the i-th of a lane's elements: the bit it has, of all words.
  static TK_BOTH constexpr int bit_of(int i) {
    int const p = Transposed ? map::nth(i) : map::row_index(i),
              q = Transposed ? map::row_index(i) : map::nth(i);
    int const call = (p >> down::byte_bits()) * along::calls() + (q >> along::byte_bits()),
              c = call / sharing;
    int const byte = random_byte_of(down::at(p), along::at(q)) | bits_of_share(call % sharing);
    return c / 2 * 32 + place(byte, c);
  }
};

// The highest bit of each byte of x that is not below `below`, which is 1 to 255.
TK_BOTH constexpr std::uint32_t bytes_not_below(std::uint32_t x, unsigned below) {
  constexpr std::uint32_t each = 0x01010101u, highest = 0x80u * each;
  // Of the lower bits, where no byte borrows from the next; it counts beside x's highest bit, or
  // without it.
  std::uint32_t const lower = (x | highest) - (below & 0x7f) * each,
                      without = below < 0x80 ? ~0u : 0u;
  return ((x & lower) | ((x | lower) & without)) & highest;
}

// Which elements are kept: a bit for each of a lane's; a byte where one lane has all of the tile.
template <int R, int C, bool Transposed = false> struct random_mask {
  static_assert(!is_flat<R>, "random bytes meet tiles of 16 rows and more");
  static constexpr int count = be::fragment_map<R, C>::count;
  static constexpr bool in_bytes = be::worker_lanes == 1;
  static constexpr int words() {
    if constexpr (in_bytes) return count;
    else return (random_calls<R, C, Transposed>::drawn + 1) / 2;
  }
  std::conditional_t<in_bytes, std::uint8_t, std::uint32_t> w[words()];
};

// One lane has all of the tile.
template <bool Transposed, int R, int C>
void draw_whole(random_mask<R, C, Transposed>& kept, random_plane const& plane, unsigned below,
                int row, int col) {
  constexpr int height = Transposed ? C : R, width = Transposed ? R : C;
  for (int top = 0; top < height; top += 16)
    for (int left = 0; left < width; left += 16)
      for (int call = 0; call < 16; ++call) {
        int const r = top + call % 4 * 2, c = left + call / 4 * 2;
        auto const words = plane.call(static_cast<std::uint32_t>(random_call(row + r)),
                                      static_cast<std::uint32_t>(random_call(col + c)));
        for (int byte = 0; byte < 16; ++byte) {
          int const i = r + (byte >> 3) + (byte >> 1 & 1) * 8,
                    j = c + (byte >> 2 & 1) + (byte & 1) * 8;
          kept.w[Transposed ? j * C + i : i * C + j] =
              (words.w[byte / 4] >> byte % 4 * 8 & 255) >= below;
        }
      }
}
template <bool Transposed, int R, int C>
TK_DEVICE void draw_of_lane(random_mask<R, C, Transposed>& kept, random_plane const& plane,
                            unsigned below, int row, int col) {
  using calls = random_calls<R, C, Transposed>;
  int const lane = be::worker_lane(), share = calls::share_of(lane);
  row = random_call(row) + random_call(calls::down::of_lane(lane));
  col = random_call(col) + random_call(calls::along::of_lane(lane));
  TK_UNROLL
  for (int c = 0; c < calls::drawn; ++c) {
    int call_row = 0, call_col = 0;
    TK_UNROLL
    for (int s = 0; s < calls::sharing; ++s) {
      int const all = c * calls::sharing + s, call = all < calls::calls ? all : calls::calls - 1;
      call_row = share == s ? calls::row(call) : call_row;
      call_col = share == s ? calls::col(call) : call_col;
    }
    auto const words = plane.call(static_cast<std::uint32_t>(row + call_row),
                                  static_cast<std::uint32_t>(col + call_col));
    if (c % 2 == 0) kept.w[c / 2] = 0;
    TK_UNROLL
    for (int k = 0; k < 4; ++k)
      kept.w[c / 2] |= bytes_not_below(words.w[k], below) >> (7 - calls::place(4 * k, c));
  }
  // Lanes that differ in bit j: each keeps what has its own j, and gets in place of the rest what
  // the other one drew of that.
  for_each_index<4>([&](auto j) __attribute__((always_inline)) {
    constexpr int bit = calls::lane_bit(j), distance = calls::distance(j);
    constexpr std::uint32_t without = calls::without(j);
    static_assert(bit < be::warp_lanes);
    if constexpr (bit != 0) {
      bool const has = (lane & bit) != 0, is_up = (j < 2) != has;
      std::uint32_t const own = has ? ~without : without;
      int const by = is_up ? distance : 32 - distance;
      TK_UNROLL
      for (auto& w : kept.w) {
        auto const other = shuffle_word(w, bit);
        w = (w & own) | ((other << by | other >> (32 - by)) & ~own);
      }
    }
  });
}
template <bool Transposed, int R, int C>
TK_DEVICE void draw(random_mask<R, C, Transposed>& kept, random_plane const& plane, unsigned below,
                    int row, int col) {
  if constexpr (random_mask<R, C, Transposed>::in_bytes) draw_whole(kept, plane, below, row, col);
  else draw_of_lane(kept, plane, below, row, col);
}

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
template <class T, int R, int C, bool Transposed>
TK_DEVICE void keep(reg_tile<T, R, C>& x, random_mask<R, C, Transposed> const& mask) {
  using mask_type = random_mask<R, C, Transposed>;
  if constexpr (mask_type::in_bytes) {
    for (int i = 0; i < mask_type::count; ++i) keep_if(x, i, mask.w[i] != 0);
  } else {
    for_each_index<mask_type::count>([&](auto i) __attribute__((always_inline)) {
      constexpr int bit = random_calls<R, C, Transposed>::bit_of(i);
      keep_if(x, i, (mask.w[bit / 32] >> bit % 32 & 1) != 0);
    });
  }
}
template <bool Transposed, class T, int R, int C>
TK_DEVICE void keep_random_in(reg_tile<T, R, C>& x, random_plane const& plane, unsigned below,
                              int row, int col) {
  random_mask<R, C, Transposed> kept;
  draw(kept, plane, below, row, col);
  keep(x, kept);
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
