// SPDX-License-Identifier: MIT
// Barriers of a block (sixteen named ones; number 0 is also the block's own) and of a cluster. They
// order memory. Lanes that have ended are not waited for at the block's and the cluster's barrier.
#pragma once
#include "backends/emulator/collective.hpp"

namespace tk::emulator {

inline void open(barrier& b) {
  for (lane* const l : b.parked) wake(*l);
  b.parked.clear();
  b.arrived = 0;
  ++b.generation;
}
// What the lanes of one opening publish and observe; two in turn, so that a lane which is late does
// not see what others did after it.
inline edge& edge_of(barrier& b, std::uint32_t generation) { return b.edges[generation & 1]; }

// `everyone` counts the lanes that must come, for barriers without a count of their own.
inline void meet(barrier& b, int everyone, bool stays, waiting const& w) {
  lane& me = self();
  edge& at = edge_of(b, b.generation);
  publish(me, at);
  if (b.arrived == 0) b.first = w.where;
  if (++b.arrived == everyone) {
    open(b);
    yield(me);
  } else if (stays) {
    b.parked.push_back(&me);
    park(me, w);
  }
  if (stays) observe(me, at);
}

inline std::string state_of_named(lane const& l, std::uint64_t id) {
  barrier const& b = own_block(l).barriers[id];
  int const expected = b.expected ? b.expected : own_block(l).live;
  return "barrier " + std::to_string(id) + ": " + std::to_string(b.arrived) + " of " +
         std::to_string(expected) + " lanes have come";
}

inline void come_to_named(int id, int lanes, bool stays, char const* what, location const& where) {
  sanitizer::quiet const q;
  lane& me = self();
  if (id < 0 || id >= named_barriers)
    fail("named barrier " + std::to_string(id) + ": there are 0 to 15", where);
  if (lanes <= 0 || lanes % me.of->size != 0)
    fail("named barrier " + std::to_string(id) + ": " + std::to_string(lanes) +
             " lanes are not whole warps",
         where);
  barrier& b = own_block(me).barriers[static_cast<std::size_t>(id)];
  if (b.arrived > 0 && b.expected != lanes)
    fail("named barrier " + std::to_string(id) + ": for " + std::to_string(lanes) +
             " lanes here, for " + std::to_string(b.expected) + " at " + text(b.first),
         where);
  auto& generation = me.barrier_generation[static_cast<std::size_t>(id)];
  if (generation == b.generation)
    fail("named barrier " + std::to_string(id) + ": this lane comes twice before it opens", where);
  generation = b.generation;
  b.expected = lanes;
  meet(b, lanes, stays, {what, where, state_of_named, static_cast<std::uint64_t>(id)});
}
inline void named_sync(int id, int lanes, location where = location::current()) {
  come_to_named(id, lanes, true, "named barrier", where);
}
inline void named_arrive(int id, int lanes, location where = location::current()) {
  come_to_named(id, lanes, false, "named barrier", where);
}

inline void sync_block(location where = location::current()) {
  sanitizer::quiet const q;
  block& mine = own_block(self());
  barrier& b = mine.barriers[0];
  if (b.arrived > 0 && b.expected != 0)
    fail("block barrier: " + std::to_string(b.arrived) + " lanes are at named barrier 0, " +
             text(b.first),
         where);
  b.expected = 0;
  meet(b, mine.live, true, {"block barrier", where, state_of_named, 0});
}

inline std::string state_of_cluster(lane const& l, std::uint64_t) {
  team const& t = own_team(l);
  return std::to_string(t.cluster.arrived) + " of " + std::to_string(t.live) + " lanes have come";
}
inline void sync_cluster(location where = location::current()) {
  sanitizer::quiet const q;
  team& t = own_team(self());
  meet(t.cluster, t.live, true, {"cluster barrier", where, state_of_cluster, 0});
}

// A lane has ended: barriers that waited only for it open.
inline void leave_barriers(lane& l) {
  block& b = own_block(l);
  team& t = *b.of;
  warp& w = *l.of;
  if (w.arrived) {
    if (std::strcmp(w.what, "warp barrier") != 0)
      fail(std::string("a lane ended while others of its warp are at ") + w.what, w.where);
    if (w.arrived == w.live) release_collective(w);
  }
  barrier& whole = b.barriers[0];
  if (whole.arrived && whole.expected == 0 && whole.arrived == b.live) open(whole);
  if (t.cluster.arrived && t.cluster.arrived == t.live) open(t.cluster);
}

}  // namespace tk::emulator
