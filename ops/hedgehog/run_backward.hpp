// SPDX-License-Identifier: MIT
// From Hedgehog's backward to its launches. hedgehog_backward_run<T> is instantiated once for each
// row of ops/hedgehog/hedgehog_backward.cmake.
#pragma once
#include "ops/hedgehog/backward_scan.hpp"
#include "ops/hedgehog/backward_sums.hpp"
#include "ops/hedgehog/backward_window.hpp"
#include "ops/hedgehog/scan.hpp"
#include "ops/hedgehog/typed_maps.hpp"
#include "ops/linear_attention/typed_states.hpp"
#include "ops/typed_heads.hpp"

namespace tk {

template <class T>
typename hedgehog_backward_sizes<T>::args backward_args(hedgehog_gradient_problem const& x) {
  using of = hedgehog_backward_sizes<T>;
  auto const& p = x.of;
  typename of::args a{};
  a.q = be::read_from<of::C, of::D>(typed<T const>(p.q));
  a.k = be::read_from<of::C, of::D>(typed<T const>(p.k));
  a.v = be::read_from<of::C, of::D>(typed<T const>(p.v));
  a.o = be::read_from<of::C, of::D>(typed<T const>(p.o));
  a.dout = be::read_from<of::C, of::D>(typed<T const>(p.dout));
  a.map_q = be::read_from<of::D, of::F>(typed<T const>(p.map_q));
  a.map_k = be::read_from<of::D, of::F>(typed<T const>(p.map_k));
  a.half_q = be::read_from<of::P, of::F>(typed<T const>(p.map_q));
  a.half_k = be::read_from<of::P, of::F>(typed<T const>(p.map_k));
  a.dq = be::write_to<of::C, of::P>(typed<T>(p.dq));
  a.dk = be::write_to<of::C, of::P>(typed<T>(p.dk));
  a.dv = be::write_to<of::C, of::P>(typed<T>(p.dv));
  a.alpha = {p.alpha.data, p.alpha.stride};
  a.beta = {p.beta.data, p.beta.stride};
  a.normaliser = p.normaliser;
  a.rows = x.rows;
  a.batches = static_cast<int>(p.q.b);
  a.scale = p.scale;
  a.scale_log2 = p.scale * log2_e;
  a.initial = typed<float const>(p.initial_kv);
  a.dfinal = typed<float const>(p.dfinal_kv);
  a.dinitial = typed<float>(p.dinitial_kv);
  a.initial_width = vector_width_of(a.initial);
  a.dfinal_width = vector_width_of(a.dfinal);
  a.dinitial_width = vector_width_of(a.dinitial);
  a.initial_sums = {p.initial_k.data, p.initial_k.b_stride, p.initial_k.h_stride};
  a.dfinal_sums = {p.dfinal_k.data, p.dfinal_k.b_stride, p.dfinal_k.h_stride};
  a.dinitial_sums = {p.dinitial_k.data, p.dinitial_k.b_stride, p.dinitial_k.h_stride};
  auto const of_rows = [&](float* data) { return query_numbers{data, p.q.n, p.q.b * p.q.n}; };
  a.inverse = of_rows(x.inverse);
  a.delta = of_rows(x.delta);
  a.top = of_rows(x.top);
  a.edge = of_rows(x.edge);
  for (std::int64_t part = 0; part < of::parts; ++part) {
    auto const of_tokens = [&](float* data, heads const& like, std::int64_t width) {
      std::int64_t const row = like.h * width;
      return tensor<float>{data + part * like.b * like.n * row,
                           like.n,
                           width,
                           row,
                           like.h,
                           width,
                           like.b,
                           like.n * row};
    };
    a.du_q[part] = of_tokens(x.du_q, p.q, of::F);
    a.du_k[part] = of_tokens(x.du_k, p.k, of::F);
    a.linear_dv[part] = of_tokens(x.linear_dv, p.v, of::D);
  }
  a.alpha_sums = x.alpha_sums;
  a.beta_sums = x.beta_sums;
  a.dmaps.data = x.dmaps;
  return a;
}

inline tensor<float> typed(head_numbers const& x) { return {x.data, 1, 1, 0, x.h, x.stride}; }

template <class T>
void hedgehog_backward_run<T>::launch(hedgehog_gradient_problem const& x, void* stream) {
  auto const a = backward_args<T>(x);
  be::launch<hedgehog_rows_before<T>>(a, stream);
  be::launch<hedgehog_query_features<T>>(a, stream);
  be::launch<hedgehog_key_features<T>>(a, stream);
  be::launch<hedgehog_window_queries<T>>(a, stream);
  be::launch<hedgehog_window_keys<T>>(a, stream);
  typename hedgehog_sums<T>::args sums{};
  sums.of = a;
  auto const put_map = [&](feature_map const& to) {
    sums.dmap = typed<float>(to);
    sums.width = vector_width_of(sums.dmap);
  };
  if (x.of.dmap_q.data) be::launch<hedgehog_map_segments<T, true>>(a, stream);
  put_map(x.of.dmap_q);
  sums.dalpha = typed(x.of.dalpha);
  sums.dbeta = typed(x.of.dbeta);
  be::launch<hedgehog_sums<T>>(sums, stream);
  if (!x.of.dmap_k.data) return;
  be::launch<hedgehog_map_segments<T, false>>(a, stream);
  put_map(x.of.dmap_k);
  sums.dalpha = sums.dbeta = {};
  be::launch<hedgehog_sums<T>>(sums, stream);
}

}  // namespace tk
