// SPDX-License-Identifier: MIT
// From Hedgehog's scan to its launches. hedgehog_run<T> is instantiated once for each row of
// ops/hedgehog/hedgehog.cmake.
#pragma once
#include "ops/hedgehog/hedgehog_scan.hpp"
#include "ops/hedgehog/hedgehog_walk.hpp"
#include "ops/hedgehog/scan.hpp"
#include "ops/hedgehog/segment_scan.hpp"
#include "ops/hedgehog/typed_maps.hpp"
#include "ops/linear_attention/typed_states.hpp"
#include "ops/typed_heads.hpp"

namespace tk {

template <class T> hedgehog_run_sizes hedgehog_run<T>::sizes() {
  hedgehog_run_sizes x{};
  x.parts = hedgehog_sizes<T>::parts;
  return x;
}

// By whichever workers the chip has for it.
template <class T, bool Outputs>
void launch_scan(typename hedgehog_sizes<T>::args const& a, void* stream) {
  if constexpr (hedgehog_sizes<T>::tune.readers > 0)
    be::launch<hedgehog_walk<T, Outputs>>(a, stream);
  else be::launch<hedgehog_scan<T, Outputs>>(a, stream);
}

template <class T> void hedgehog_run<T>::launch(hedgehog_scan_problem const& x, void* stream) {
  using of = hedgehog_sizes<T>;
  auto const& p = x.of;
  typename of::args a{};
  a.q = be::read_from<of::C, of::D>(typed<T const>(p.q));
  a.k = be::read_from<of::C, of::D>(typed<T const>(p.k));
  a.v = be::read_from<of::C, of::V>(typed<T const>(p.v));
  a.o = be::write_to<of::C, of::P>(typed<T>(p.o));
  a.map_q = be::read_from<of::D, of::F>(typed<T const>(p.map_q));
  a.map_k = be::read_from<of::D, of::F>(typed<T const>(p.map_k));
  a.alpha = {p.alpha.data, p.alpha.stride};
  a.beta = {p.beta.data, p.beta.stride};
  a.rows = x.rows;
  a.scale_log2 = p.scale * log2_e;
  a.initial = typed<float const>(p.initial_kv);
  a.final = typed<float>(p.final_kv);
  a.initial_width = vector_width_of(a.initial);
  a.final_width = vector_width_of(a.final);
  a.initial_sums = {p.initial_k.data, p.initial_k.b_stride, p.initial_k.h_stride};
  a.final_sums = {p.final_k.data, p.final_k.b_stride, p.final_k.h_stride};
  a.normaliser = p.normaliser;
  a.adds_only = x.adds_only;
  a.states.data = x.states;
  a.sums = x.sums;
  a.by_heads = divisor(static_cast<std::uint32_t>(x.rows.keys.h));
  if (x.states) {
    a.walks = scan_walks::of(x.rows.keys, x.each, hedgehog_segment * of::C);
    a.segments = scan_walks::of(x.rows.keys, 1, hedgehog_segment * of::C);
  }
  if (x.states) {
    launch_scan<T, false>(a, stream);
    be::launch<hedgehog_segment_scan<T>>(a, stream);
  }
  launch_scan<T, true>(a, stream);
}

}  // namespace tk
