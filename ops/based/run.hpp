// SPDX-License-Identifier: MIT
// From a scan of Based to its launches. based_run<T, Normalises> is instantiated once for each row
// of ops/based/based.cmake.
#pragma once
#include "ops/based/based_scan.hpp"
#include "ops/based/based_walk.hpp"
#include "ops/based/copy_sums.hpp"
#include "ops/based/segment_scan.hpp"
#include "ops/linear_attention/typed_states.hpp"
#include "ops/typed_heads.hpp"

namespace tk {

template <class T, bool Normalises> struct based_run {
  static based_sizes sizes();
  static void launch(based_scan_problem const& x, void* stream);
};

template <class T, bool Normalises> based_sizes based_run<T, Normalises>::sizes() {
  using of = based_scan_sizes<T>;
  // A walk has little to do between tasks of whole sequences, and much between those of segments.
  constexpr bool walks = of::tune.readers > 0;
  return {of::C, of::segment, walks ? 1 : of::workers, of::P, walks ? 4 : 3};
}

template <class T, bool Normalises>
void based_run<T, Normalises>::launch(based_scan_problem const& x, void* stream) {
  using of = based_scan_sizes<T>;
  typename of::args a{};
  a.q = be::read_from<of::C, of::D>(typed<T const>(x.q));
  a.k = be::read_from<of::C, of::D>(typed<T const>(x.k));
  a.v = be::read_from<of::C, of::P>(typed<T const>(x.v));
  a.o = be::write_to<of::C, of::P>(typed<T>(x.o));
  a.rows = x.rows;
  a.units = sizes().units(x.v.d);
  a.parts = ceil_div(x.rows.h * a.units, of::workers);
  auto const by = [](int n) { return divisor(static_cast<std::uint32_t>(n)); };
  a.by_units = by(a.units), a.by_parts = by(a.parts), a.by_heads = by(x.rows.h);
  a.initial = typed<float>(x.initial);
  a.final = typed<float>(x.final);
  a.initial_sums = x.initial_sums;
  a.final_sums = x.final_sums;
  a.normalisers = x.normalisers;
  a.scale = x.scale;
  a.states.data = x.states;
  a.sums = x.sums;
  if (x.states) {
    a.walks = scan_walks::of(x.rows, x.each, of::segment * of::C);
    a.segments = scan_walks::of(x.rows, 1, of::segment * of::C);
  }
  if constexpr (Normalises)
    if (x.copied_sums) {
      be::launch<based_copy_sums>({x.initial_sums, x.copied_sums, a.rows.b, a.rows.h}, stream);
      constexpr std::int64_t count = based_moments::count;
      a.initial_sums = {x.copied_sums, true, a.rows.h * count, count};
    }
  if (x.states) {
    be::launch<based_scan<T, Normalises, false>>(a, stream);
    be::launch<based_segment_scan<T, Normalises>>(a, stream);
  }
  if constexpr (of::tune.readers > 0) be::launch<based_walk<T, Normalises>>(a, stream);
  else be::launch<based_scan<T, Normalises, true>>(a, stream);
}

}  // namespace tk
