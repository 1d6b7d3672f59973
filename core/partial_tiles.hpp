// SPDX-License-Identifier: MIT
// Partial sums in global memory: tiles of R * C fp32 numbers that one worker stores and another
// one, of any block, loads; the op orders the two (signal, wait_for). The numbers of a tile lie in
// the order in which lanes hold them, so that every access is whole lines. That order is the
// backend's: only tiles of the same R and C read them back.
//   store(tiles, n, x, rows)      the n-th tile becomes x
//   add(tiles, n, x)              x is added to it, by one at a time
//   store_add(tiles, n, x)        x is added to it, by many at once, each number whole
//   load(x, tiles, n)             x becomes the n-th tile
//   load_add(x, tiles, n, rows)   it is added to x
// added_tiles are to be added to: of them, each number of all lanes lies together, so that
// additions of one number a lane are whole lines, too. They have store, load_add, and
//   store_add(tiles, n, x)        x is added to the n-th tile, by one at a time; nobody waits for
//   it
// shared_partial is one in shared memory; a lane reads there what it stored itself.
// With `rows`, nothing need move from that row on. packed_tiles are of 16-bit elements, alike, with
//   store(tiles, n, x)            the n-th tile becomes x
//   load(x, tiles, n)             x becomes the n-th tile
// and shared_packed is one in shared memory, of a worker or of all: load(x, shared).
#pragma once
#include "core/expression.hpp"

namespace tk {

template <int R, int C> struct partial_tiles {
  float* data;
};
struct alignas(16) four_floats {
  float x[4];
};
// One such tile in shared memory, in the same order.
template <int R, int C> struct shared_partial {
  four_floats x[R * C / 4];
};
template <int R, int C>
TK_DEVICE void store(shared_partial<R, C>& dst, reg_tile<float, R, C> const& x) {
  TK_UNROLL
  for (int i = 0; i < R * C / be::worker_lanes / 4; ++i)
    dst.x[be::worker_lane() + i * be::worker_lanes] = {
        {x.e[4 * i], x.e[4 * i + 1], x.e[4 * i + 2], x.e[4 * i + 3]}};
}
// x = src, or the part-th V columns of it.
template <int V, int R, int C>
TK_DEVICE void load(reg_tile<float, R, V>& x, shared_partial<R, C> const& src, int part = 0) {
  using map = be::fragment_map<R, C>;
  static_assert(be::fragment_map<R, V>::count % 4 == 0 && C % V == 0);
  TK_UNROLL
  for (int i = 0; i < be::fragment_map<R, V>::count; i += 4) {
    int const at = map::template part<V>(i, part) / 4;
    four_floats const y = src.x[be::worker_lane() + at * be::worker_lanes];
    TK_UNROLL
    for (int e = 0; e < 4; ++e) x.e[i + e] = y.x[e];
  }
}
template <int R, int C>
TK_DEVICE void add(shared_partial<R, C>& dst, reg_tile<float, R, C> const& x) {
  TK_UNROLL
  for (int i = 0; i < R * C / be::worker_lanes / 4; ++i) {
    auto& y = dst.x[be::worker_lane() + i * be::worker_lanes];
    four_floats const was = y;
    y = {{was.x[0] + x.e[4 * i], was.x[1] + x.e[4 * i + 1], was.x[2] + x.e[4 * i + 2],
          was.x[3] + x.e[4 * i + 3]}};
  }
}
// body(at, i) for each four numbers of this lane, of which the first is its i-th, if it has any of
// the first `rows`.
template <int R, int C, class Body>
TK_DEVICE void for_each_four(partial_tiles<R, C> const& tiles, std::int64_t n, int rows,
                             Body body) {
  if (be::fragment_map<R, C>::lane_row(be::worker_lane()) >= rows) return;
  auto* const first = reinterpret_cast<four_floats*>(tiles.data + n * (R * C)) + be::worker_lane();
  TK_UNROLL
  for (int i = 0; i < R * C / be::worker_lanes / 4; ++i) body(first + i * be::worker_lanes, 4 * i);
}

template <int R, int C>
TK_DEVICE void store(partial_tiles<R, C> const& tiles, std::int64_t n,
                     reg_tile<float, R, C> const& x, int rows = R) {
  for_each_four(tiles, n, rows, [&](four_floats* at, int i) {
    *at = {{x.e[i], x.e[i + 1], x.e[i + 2], x.e[i + 3]}};
  });
}
template <int R, int C>
TK_DEVICE void store_add(partial_tiles<R, C> const& tiles, std::int64_t n,
                         reg_tile<float, R, C> const& x) {
  for_each_four(tiles, n, R, [&](four_floats* at, int i) {
    be::add_to_global(at->x, x.e[i], x.e[i + 1], x.e[i + 2], x.e[i + 3]);
  });
}
template <int R, int C>
TK_DEVICE void add(partial_tiles<R, C> const& tiles, std::int64_t n,
                   reg_tile<float, R, C> const& x) {
  for_each_four(tiles, n, R, [&](four_floats* at, int i) {
    four_floats y = *at;
    TK_UNROLL
    for (int e = 0; e < 4; ++e) y.x[e] += x.e[i + e];
    *at = y;
  });
}
template <int R, int C>
TK_DEVICE void load(reg_tile<float, R, C>& x, partial_tiles<R, C> const& tiles, std::int64_t n) {
  for_each_four(tiles, n, R, [&](four_floats const* at, int i) {
    four_floats const y = *at;
    TK_UNROLL
    for (int e = 0; e < 4; ++e) x.e[i + e] = y.x[e];
  });
}
template <int R, int C>
TK_DEVICE void load_add(reg_tile<float, R, C>& x, partial_tiles<R, C> const& tiles, std::int64_t n,
                        int rows = R) {
  for_each_four(tiles, n, rows, [&](four_floats const* at, int i) {
    four_floats const y = *at;
    TK_UNROLL
    for (int e = 0; e < 4; ++e) x.e[i + e] += y.x[e];
  });
}

template <int R, int C> struct added_tiles {
  float* data;
  // body(at, i) for this lane's i-th number of the n-th tile.
  template <class Body> TK_DEVICE void for_each(std::int64_t n, Body body) const {
    float* const first = data + n * (R * C) + be::worker_lane();
    TK_UNROLL
    for (int i = 0; i < R * C / be::worker_lanes; ++i) body(first + i * be::worker_lanes, i);
  }
};
template <int R, int C>
TK_DEVICE void store(added_tiles<R, C> const& tiles, std::int64_t n,
                     reg_tile<float, R, C> const& x) {
  tiles.for_each(n, [&](float* at, int i) { *at = x.e[i]; });
}
template <int R, int C>
TK_DEVICE void store_add(added_tiles<R, C> const& tiles, std::int64_t n,
                         reg_tile<float, R, C> const& x) {
  tiles.for_each(n, [&](float* at, int i) { be::add_to_global(at, x.e[i]); });
}
template <int R, int C>
TK_DEVICE void load_add(reg_tile<float, R, C>& x, added_tiles<R, C> const& tiles, std::int64_t n) {
  tiles.for_each(n, [&](float const* at, int i) { x.e[i] += *at; });
}

// A lane's words of a tile, and how many of them are moved at once.
template <int R, int C> struct packed_order {
  static constexpr int words = be::fragment_map<R, C>::count / 2, at_once = words % 4 == 0   ? 4
                                                                            : words % 2 == 0 ? 2
                                                                                             : 1;
  struct alignas(4 * at_once) group {
    std::uint32_t w[at_once];
  };
  static constexpr int groups = words / at_once;
  static TK_DEVICE int place(int i) { return be::worker_lane() + i * be::worker_lanes; }
};
template <int R, int C> struct packed_tiles {
  std::uint32_t* data;
};
template <int R, int C> struct shared_packed {
  typename packed_order<R, C>::group x[R * C / 2 / packed_order<R, C>::at_once];
};

template <class T, int R, int C, class Group>
  requires(sizeof(T) == 2)
TK_DEVICE void load_groups(reg_tile<T, R, C>& x, Group const* from) {
  using order = packed_order<R, C>;
  TK_UNROLL
  for (int i = 0; i < order::groups; ++i) {
    auto const y = from[order::place(i)];
    TK_UNROLL
    for (int k = 0; k < order::at_once; ++k) x.e[i * order::at_once + k] = y.w[k];
  }
}
template <class T, int R, int C>
TK_DEVICE void load(reg_tile<T, R, C>& x, shared_packed<R, C> const& from) {
  load_groups(x, from.x);
}
template <class T, int R, int C>
TK_DEVICE void load(reg_tile<T, R, C>& x, packed_tiles<R, C> const& from, std::int64_t n) {
  using group = typename packed_order<R, C>::group;
  load_groups(x, reinterpret_cast<group const*>(from.data + n * (R * C / 2)));
}
template <class T, int R, int C>
  requires(sizeof(T) == 2)
TK_DEVICE void store(packed_tiles<R, C> const& to, std::int64_t n, reg_tile<T, R, C> const& x) {
  using order = packed_order<R, C>;
  auto* const first = reinterpret_cast<typename order::group*>(to.data + n * (R * C / 2));
  TK_UNROLL
  for (int i = 0; i < order::groups; ++i) {
    typename order::group y;
    TK_UNROLL
    for (int k = 0; k < order::at_once; ++k) y.w[k] = x.e[i * order::at_once + k];
    first[order::place(i)] = y;
  }
}

// The same for whoever delivers what workers send (core/block.hpp). A chip with senders has them
// for shared_partials of all workers, too, the n-th tile and those after it.
template <class Who, int R, int C>
TK_DEVICE void store(Who const&, partial_tiles<R, C> const& tiles, std::int64_t n,
                     reg_tile<float, R, C> const& x) {
  store(tiles, n, x);
}
template <class Who, int R, int C>
TK_DEVICE void add(Who const&, partial_tiles<R, C> const& tiles, std::int64_t n,
                   reg_tile<float, R, C> const& x) {
  add(tiles, n, x);
}

}  // namespace tk
