// SPDX-License-Identifier: MIT
// From a scan to its launches. chunk_scan_run<T, D, Family> is instantiated once for each row of
// ops/linear_attention/linear_attention.cmake; ops/linear_attention/scan.cpp chooses.
#pragma once
#include "ops/linear_attention/chunk_scan.hpp"
#include "ops/linear_attention/chunk_walk.hpp"
#include "ops/linear_attention/segment_scan.hpp"
#include "ops/linear_attention/side_scan.hpp"
#include "ops/linear_attention/typed_states.hpp"
#include "ops/typed_heads.hpp"

namespace tk {

template <class T, int D, class Family> struct chunk_scan_run {
  static scan_sizes sizes();
  static void launch(scan_problem const& x, void* stream);
};

template <class T, int D, class Family> scan_sizes chunk_scan_run<T, D, Family>::sizes() {
  using of = chunk_scan_sizes<T, D, Family>;
  return {of::C,
          of::segment,
          of::workers,
          of::share,
          of::P,
          D,
          of::tune.readers > 0,
          of::tune.side.units,
          of::tune.side.summers};
}

template <class T, int D, class Family>
void launch_side_by_side(typename chunk_scan_sizes<T, D, Family>::args const& a, void* stream) {
  using enum side_leaves;
  if (a.states.data) { be::launch<side_scan<T, D, Family, sums>>(a, stream); }
  if (a.gated) be::launch<side_scan<T, D, Family, gated_outputs>>(a, stream);
  else be::launch<side_scan<T, D, Family, outputs>>(a, stream);
}
template <class T, int D, class Family, bool Decays>
void launch_scan(typename chunk_scan_sizes<T, D, Family>::args const& a, void* stream) {
  using enum scan_leaves;
  if constexpr (Family::weighs && Family::tune(D).side.units > 0)
    if (a.side.factors) return launch_side_by_side<T, D, Family>(a, stream);
  if (a.states.data) {
    be::launch<chunk_scan<T, D, Family, Decays, sums>>(a, stream);
    be::launch<segment_scan<T, D, Family, Decays>>(a, stream);
  }
  if constexpr (Family::weighs && Family::tune(D).readers > 0) {
    if (a.keeps) be::launch<chunk_walk<T, D, Family, walk_leaves::states>>(a, stream);
    else if (a.gated) be::launch<chunk_walk<T, D, Family, walk_leaves::gated_outputs>>(a, stream);
    else be::launch<chunk_walk<T, D, Family, walk_leaves::outputs>>(a, stream);
  } else {
    if constexpr (Family::keeps) {
      if (a.keeps) return be::launch<chunk_scan<T, D, Family, Decays, states>>(a, stream);
    } else if constexpr (Decays) {
      if (a.meetings && a.reversed)
        return be::launch<chunk_scan<T, D, Family, true, reversed_meetings>>(a, stream);
      if (a.meetings)
        return be::launch<chunk_scan<T, D, Family, true, forward_meetings>>(a, stream);
    }
    be::launch<chunk_scan<T, D, Family, Decays, outputs>>(a, stream);
  }
}

template <class T, int D, class Family>
void chunk_scan_run<T, D, Family>::launch(scan_problem const& x, void* stream) {
  using of = chunk_scan_sizes<T, D, Family>;
  typename of::args a{};
  a.q = be::read_from<of::C, D>(typed<T const>(x.q));
  a.k = be::read_from<of::C, D>(typed<T const>(x.k));
  a.v = be::read_from<of::C, of::P>(typed<T const>(x.v));
  a.decays = x.decays;
  a.rows = x.rows;
  a.columns = static_cast<int>(x.v.d);
  a.units = sizes().units(a.columns);
  a.sharing = x.shares.both();
  a.parts = ceil_div(a.sharing * a.units, of::workers);
  a.groups = x.rows.h / a.sharing;
  auto const by = [](int n) { return divisor(static_cast<std::uint32_t>(n)); };
  a.by_units = by(a.units), a.by_parts = by(a.parts);
  a.by_groups = by(a.groups), a.by_heads = by(x.rows.h);
  a.initial = typed<float const>(x.initial);
  a.final = typed<float>(x.final);
  a.initial_width = vector_width_of(a.initial);
  a.final_width = vector_width_of(a.final);
  a.transposed = x.transposed;
  a.shares = {by(x.shares.q), by(x.shares.k), by(x.shares.v)};
  a.reversed = x.reversed;
  a.scale = x.scale;
  a.initial_scale = x.initial_scale;
  a.final_scale = x.final_scale;
  a.states.data = x.states;
  if (x.side.factors) {
    if constexpr (of::tune.side.units > 0) {
      a.side = x.side;
      a.side_parts = ceil_div(a.sharing * a.units, of::tune.side.units);
      a.sum_parts = ceil_div(a.sharing * a.units, of::tune.side.summers);
      a.by_side_parts = by(a.side_parts), a.by_sum_parts = by(a.sum_parts);
      a.walks = scan_walks::of(x.rows, x.each, of::C);
      a.segments = scan_walks::of(x.rows, x.side.each, of::C);
    }
  } else if (x.states) {
    a.walks = scan_walks::of(x.rows, x.each, of::segment * of::C);
    a.segments = scan_walks::of(x.rows, 1, of::segment * of::C);
  }
  a.meetings = x.meetings;
  if (a.meetings) {
    a.met = be::read_from<of::C, of::P>(typed<T const>(x.met));
    a.met_states = x.met_states;
    a.kept.data = static_cast<std::uint32_t*>(x.kept);
  }
  if constexpr (Family::keeps) {
    a.keeps = x.chunk_states.data != nullptr;
    if (a.keeps) a.chunk_states = be::write_to<D, of::P>(typed<T>(x.chunk_states));
    else a.o = be::write_to<of::C, of::P>(typed<T>(x.o));
  } else {
    a.o = be::write_to<of::C, of::P>(typed<T>(x.o));
  }
  if constexpr (Family::weighs) {
    a.weights = x.weights;
    a.skip = x.skip;
    a.gated = x.gate.data != nullptr;
    if (a.gated) a.gate = be::read_from<of::C, of::P>(typed<T const>(x.gate));
    launch_scan<T, D, Family, true>(a, stream);
  } else {
    if (x.decays.data) launch_scan<T, D, Family, true>(a, stream);
    else launch_scan<T, D, Family, false>(a, stream);
  }
}

}  // namespace tk
