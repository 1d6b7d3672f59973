// SPDX-License-Identifier: MIT
// Where the lanes of a warp meet. Every lane brings an operand; the last to come works on all of
// them, then all go on. Lanes of one warp at different collectives are an error.
#pragma once
#include <cstring>

#include "backends/emulator/schedule.hpp"

namespace tk::emulator {

inline int thread_index() { return self().thread; }
inline int lane_index() { return self().index; }
inline int warp_index() { return self().thread / self().of->size; }
inline int block_index() { return own_block(self()).index; }
inline int block_count() { return own_team(self()).doing.form.blocks; }
inline int block_threads() { return own_block(self()).threads; }
inline int cluster_rank() { return own_block(self()).rank; }
inline int cluster_blocks() { return own_team(self()).doing.form.cluster; }

inline char* shared_memory() { return own_block(self()).shared; }
inline std::uint32_t shared_address(void const* p, location where = location::current()) {
  team const& t = own_team(self());
  std::ptrdiff_t const offset = static_cast<char const*>(p) - t.memory.window();
  std::ptrdiff_t const end = std::ptrdiff_t{t.doing.form.cluster} << rank_shift;
  if (offset < 0 || offset >= end) fail("a pointer that is not into shared memory", where);
  return static_cast<std::uint32_t>(offset);
}
template <class T> T* shared_pointer(std::uint32_t address) {
  return reinterpret_cast<T*>(own_team(self()).memory.window() + address);
}
// The same offset in the memory of the block of rank `rank`.
inline std::uint32_t to_rank(std::uint32_t address, int rank) {
  return (address & offset_mask) | static_cast<std::uint32_t>(rank) << rank_shift;
}

// Brings this lane to the collective `what`; true for the last lane, which finishes it.
inline bool arrive_at_collective(lane& me, void* operand, char const* what, bool all,
                                 location const& where) {
  warp& w = *me.of;
  std::uint64_t const everyone =
      w.size == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << w.size) - 1;
  if (all && w.live != everyone) fail(std::string(what) + ": a lane of the warp has ended", where);
  if (!w.arrived) {
    w.what = what, w.where = where;
  } else if (w.what != what && std::strcmp(w.what, what) != 0) {
    fail(std::string("divergent warp: ") + what + " here, while lane " +
             std::to_string(__builtin_ctzll(w.arrived)) + " is at " + w.what + ", " + text(w.where),
         where);
  }
  w.operands[static_cast<std::size_t>(me.index)] = operand;
  w.arrived |= std::uint64_t{1} << me.index;
  return w.arrived == w.live;
}
inline void release_collective(warp& w) {
  w.ready |= w.arrived;
  w.arrived = 0;
}

template <class T, class F>
void collective(T& operand, F f, char const* what, location where = location::current()) {
  sanitizer::quiet const q;
  lane& me = self();
  if (arrive_at_collective(me, &operand, what, true, where)) {
    f(reinterpret_cast<T* const*>(me.of->operands.data()));
    release_collective(*me.of);
    yield(me);
  } else {
    park(me, {what, where, nullptr, 0});
  }
}

// Lanes that have ended need not come.
inline void sync_warp(location where = location::current()) {
  lane& me = self();
  publish(me, me.of->meeting);
  {
    sanitizer::quiet const q;
    if (arrive_at_collective(me, nullptr, "warp barrier", false, where)) {
      release_collective(*me.of);
      yield(me);
    } else {
      park(me, {"warp barrier", where, nullptr, 0});
    }
  }
  observe(me, me.of->meeting);
}

}  // namespace tk::emulator
