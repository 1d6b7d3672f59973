// SPDX-License-Identifier: MIT
// One case of tk_hedgehog_backward. o and the normaliser are those of the definition, rounded.
#pragma once
#include "ops/hedgehog/hedgehog_backward.h"
#include "tests/ops/hedgehog/oracle.hpp"

namespace tk::test {

struct hedgehog_gradients : hedgehog_tensors {
  explicit hedgehog_gradients(hedgehog_case const& x) : hedgehog_tensors(x) {
    o = make(queries(x), role::input, 0), dout = make(queries(x), role::input, 71);
    normaliser = make_normaliser(role::input);
    fill(normaliser, data::positive, 72);  // of what is no token
    dq = make(queries(x), role::output, 0);
    dk = make(tokens(x), role::output, 0), dv = make(tokens(x), role::output, 0);
    for (auto* const y : {&dmap_q, &dmap_k})
      *y = memories.make(dtype::fp32, {x.h, hedgehog_width, hedgehog_features},
                         {hedgehog_width * hedgehog_features, hedgehog_features, 1}, role::output);
    for (auto* const y : {&dalpha, &dbeta})
      *y = memories.make(dtype::fp32, {x.h}, {1}, role::output);
    for (auto* const y : {&dmap_q, &dmap_k, &dalpha, &dbeta}) fill(*y, data::nans, 0);
    if (x.states) {
      dfinal_kv = make_state(role::input), dfinal_k = make_sums(role::input);
      dinitial_kv = make_state(role::output), dinitial_k = make_sums(role::output);
      fill(dfinal_kv, data::reals, 73), fill(dfinal_k, data::reals, 74);
      fill(dinitial_kv, data::nans, 0), fill(dinitial_k, data::nans, 0);
    }
    fill_forward();
  }
  // o and the normaliser, of what the other operands are now.
  void fill_forward() {
    parallel_for(sequences(of) * of.h, [&](std::int64_t i) {
      fill_forward(keys_and_queries(of, i / of.h), i % of.h, i);
    });
  }
  tensor o, dout, normaliser, dq, dk, dv, dmap_q, dmap_k, dalpha, dbeta, dfinal_kv, dfinal_k,
      dinitial_kv, dinitial_k;

 private:
  void fill_forward(hedgehog_span const& at, std::int64_t head, std::int64_t state) {
    constexpr std::int64_t D = hedgehog_width;
    hedgehog_head const in(*this, at, head);
    std::vector<double> kv(D * D), z(D);
    if (of.states) {
      for (std::int64_t f = 0; f < D; ++f)
        read_row(dtype::fp32, initial_kv.image_row(state * D + f), D, kv.data() + f * D);
      read_row(dtype::fp32, initial_k.image_row(state), D, z.data());
    }
    std::int64_t added = 0;
    for (std::int64_t t = 0; t < in.nq; ++t) {
      std::int64_t const token = in.n - in.nq + t,
                         window = std::max<std::int64_t>(0, token / 64 - 1) * 64;
      for (; added < window; ++added) {
        token_features const f(&in.k[static_cast<std::size_t>(added * D)], in.map_k);
        for (std::size_t i = 0; i < z.size(); ++i) {
          z[i] += f.phi[i];
          for (std::size_t c = 0; c < D; ++c)
            kv[i * D + c] += f.phi[i] * in.v[static_cast<std::size_t>(added * D) + c];
        }
      }
      double const* const query = &in.q[static_cast<std::size_t>(t * D)];
      token_features const f(query, in.map_q);
      std::vector<double> s, sums(D);
      double top = -HUGE_VAL, sum = 1e-6;
      for (std::int64_t j = window; j <= token; ++j) {
        double y = 0;
        for (std::int64_t d = 0; d < D; ++d)
          y += query[d] * in.k[static_cast<std::size_t>(j * D + d)];
        s.push_back(y), top = std::max(top, y);
      }
      for (std::size_t j = 0; j < s.size(); ++j) {
        double const p = in.beta * std::exp((s[j] - top) * in.scale);
        sum += p;
        for (std::size_t c = 0; c < D; ++c)
          sums[c] += p * in.v[(static_cast<std::size_t>(window) + j) * D + c];
      }
      for (std::size_t i = 0; i < D; ++i) {
        sum += in.alpha * f.phi[i] * z[i];
        for (std::size_t c = 0; c < D; ++c) sums[c] += in.alpha * f.phi[i] * kv[i * D + c];
      }
      std::int64_t const nth = at.first_query + at.nq - in.nq + t;
      std::int64_t const to = row(at.batch, queries(of), nth, head);
      for (std::int64_t c = 0; c < D; ++c) set(o, to, c, sums[static_cast<std::size_t>(c)] / sum);
      set(normaliser, at.batch * of.h + head, nth, sum);
    }
  }
};

template <class Body> std::string with_problem(hedgehog_gradients const& x, Body const& body) {
  given_tensor const q(x.q), k(x.k), v(x.v), o(x.o), dout(x.dout), normaliser(x.normaliser),
      map_q(x.map_q), map_k(x.map_k), alpha(x.alpha), beta(x.beta), initial_kv(x.initial_kv),
      initial_k(x.initial_k), dfinal_kv(x.dfinal_kv), dfinal_k(x.dfinal_k), dq(x.dq), dk(x.dk),
      dv(x.dv), dmap_q(x.dmap_q), dmap_k(x.dmap_k), dalpha(x.dalpha), dbeta(x.dbeta),
      dinitial_kv(x.dinitial_kv), dinitial_k(x.dinitial_k), starts(x.starts),
      key_starts(x.key_starts), lengths(x.lengths);
  tk_hedgehog_backward_problem problem{};
  problem.size = sizeof problem;
  problem.q = q.get(), problem.k = k.get(), problem.v = v.get(), problem.o = o.get();
  problem.dout = dout.get(), problem.normaliser = normaliser.get();
  problem.map_q = map_q.get(), problem.map_k = map_k.get();
  problem.alpha = alpha.get(), problem.beta = beta.get();
  problem.initial_kv = initial_kv.get(), problem.initial_k = initial_k.get();
  problem.dfinal_kv = dfinal_kv.get(), problem.dfinal_k = dfinal_k.get();
  problem.dq = dq.get(), problem.dk = dk.get(), problem.dv = dv.get();
  problem.dmap_q = dmap_q.get(), problem.dmap_k = dmap_k.get();
  problem.dalpha = dalpha.get(), problem.dbeta = dbeta.get();
  problem.dinitial_kv = dinitial_kv.get(), problem.dinitial_k = dinitial_k.get();
  problem.starts = starts.get(), problem.key_starts = key_starts.get();
  problem.lengths = lengths.get();
  problem.scale = x.of.scale;
  return body(called_op{TK_OP_HEDGEHOG_BACKWARD, tk_hedgehog_backward},
              static_cast<tk_hedgehog_backward_problem const*>(&problem));
}

inline std::vector<tensor> outputs_of(hedgehog_gradients const& x) {
  std::vector<tensor> all{x.dq, x.dk, x.dv, x.dmap_q, x.dmap_k, x.dalpha, x.dbeta};
  if (x.of.states) all.push_back(x.dinitial_kv), all.push_back(x.dinitial_k);
  return all;
}

}  // namespace tk::test
