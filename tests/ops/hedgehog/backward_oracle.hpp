// SPDX-License-Identifier: MIT
// The oracle of Hedgehog's backward in double precision, from o and the normaliser as they are
// given. Beside each number stands a bound on its error: with u the type's unit roundoff, weights
// divided by the normaliser, gradients of scores, features, states where they are read, and
// gradients of x map are rounded, by u each of the sum of their sizes; fp16 loses up to 2^-25 in
// each. fp32 errs by `fp32` of these sums: exponentials, sums, and differences of terms of both
// signs. Where a score is within that of the largest, it may get what that gets.
#pragma once
#include "tests/ops/hedgehog/backward.hpp"

namespace tk::test {

// A number, and a bound on its error.
struct bounded_number {
  double x = 0, slack = 0;
  void add(double term, double error) { x += term, slack += error; }
};
using bounded_numbers = std::vector<bounded_number>;

class hedgehog_gradient_oracle {
 public:
  static constexpr std::int64_t D = hedgehog_width, F = hedgehog_features;
  bounded_numbers dq, dk, dv, dmap_q, dmap_k, dkv, dz;
  bounded_number dalpha, dbeta;

  hedgehog_gradient_oracle(hedgehog_gradients const& x, hedgehog_span const& at, std::int64_t head,
                           std::int64_t state)
      : dq(size(std::min(at.nq, at.n) * D)),
        dk(size(at.n * D)),
        dv(size(at.n * D)),
        dmap_q(size(D * F)),
        dmap_k(size(D * F)),
        dkv(size(D * D)),
        dz(size(D)),
        in_(x, at, head),
        u_(format_of(x.of.type).unit_roundoff),
        least_(x.of.type == dtype::fp16 ? 0x1p-25 : 0) {
    read(x, at, head, state);
    for (std::int64_t t = 0; t < in_.n; ++t) of_k_.emplace_back(&in_.k[size(t * D)], in_.map_k);
    for (std::int64_t t = 0; t < in_.nq; ++t) of_q_.emplace_back(&in_.q[size(t * D)], in_.map_q);
    for (auto const& f : of_k_) fp32_ = std::max(fp32_, f.error);
    for (auto const& f : of_q_) fp32_ = std::max(fp32_, f.error);
    fp32_ += 0x1p-18;
    forward();
    backward();
  }

 private:
  static std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

  void read(hedgehog_gradients const& x, hedgehog_span const& at, std::int64_t head,
            std::int64_t state) {
    dout_.resize(size(in_.nq * D)), sums_.resize(size(in_.nq)), delta_.resize(size(in_.nq));
    delta_size_ = delta_;
    kv_.resize(size(D * D)), z_.resize(size(D)), dfinal_.resize(size(D * D)),
        dfinal_z_.resize(size(D));
    std::vector<double> o(size(D));
    for (std::int64_t t = 0; t < in_.nq; ++t) {
      std::int64_t const nth = at.first_query + at.nq - in_.nq + t,
                         row = x.row(at.batch, queries(x.of), nth, head);
      read_row(x.of.type, x.dout.image_row(row), D, &dout_[size(t * D)]);
      read_row(x.of.type, x.o.image_row(row), D, o.data());
      double const sum =
          decode(dtype::fp32, x.normaliser.image_row(at.batch * x.of.h + head) + nth * 4);
      sums_[size(t)] = sum;
      for (std::int64_t c = 0; c < D; ++c) {
        double const y = dout_[size(t * D + c)] * o[size(c)] / sum;
        delta_[size(t)] += y, delta_size_[size(t)] += std::fabs(y);
      }
    }
    if (!x.of.states) return;
    for (std::int64_t f = 0; f < D; ++f) {
      read_row(dtype::fp32, x.initial_kv.image_row(state * D + f), D, &kv_[size(f * D)]);
      read_row(dtype::fp32, x.dfinal_kv.image_row(state * D + f), D, &dfinal_[size(f * D)]);
    }
    read_row(dtype::fp32, x.initial_k.image_row(state), D, z_.data());
    read_row(dtype::fp32, x.dfinal_k.image_row(state), D, dfinal_z_.data());
  }

  // Gradients of features to those of x and of its map.
  void put_features(token_features const& of, bounded_numbers const& d, double const* x,
                    std::vector<double> const& map, bounded_number* dx, bounded_numbers& dmap) {
    bounded_numbers du(size(F));
    for (int const sign : {1, -1}) {
      std::int64_t const first = sign > 0 ? 0 : F;
      double sum = 0, slack = 0, all = 0;
      auto const at = [&](std::int64_t f) {
        bounded_number y = d[size(first + f)];
        if (of.softmax[size(first + f)] <= 1e-6) y.x = 0;
        return y;
      };
      for (std::int64_t f = 0; f < F; ++f) {
        double const e = of.softmax[size(first + f)];
        auto const y = at(f);
        sum += e * y.x, slack += e * y.slack, all += e * std::fabs(y.x);
      }
      for (std::int64_t f = 0; f < F; ++f) {
        double const e = of.softmax[size(first + f)];
        auto const y = at(f);
        du[size(f)].add(sign * e * (y.x - sum),
                        e * (y.slack + slack + 3 * fp32_ * (std::fabs(y.x) + all)));
      }
    }
    for (std::int64_t f = 0; f < F; ++f) {
      auto& y = du[size(f)];
      y.slack += u_ * std::fabs(y.x) + least_;
      for (std::int64_t c = 0; c < D; ++c) {
        double const w = map[size(c * F + f)];
        dx[c].add(w * y.x, std::fabs(w) * (y.slack + fp32_ * std::fabs(y.x)));
        dmap[size(c * F + f)].add(x[c] * y.x, std::fabs(x[c]) * (y.slack + fp32_ * std::fabs(y.x)));
      }
    }
  }

  void window(std::int64_t t, std::int64_t first) {
    std::int64_t const token = in_.n - in_.nq + t;
    double const *const q = &in_.q[size(t * D)], *const dout = &dout_[size(t * D)];
    double const inverse = 1 / sums_[size(t)];
    std::vector<double> s;
    double top = -HUGE_VAL, largest = 0;
    for (std::int64_t j = first; j <= token; ++j) {
      double y = 0, sizes = 0;
      for (std::int64_t c = 0; c < D; ++c) {
        double const z = q[c] * in_.k[size(j * D + c)];
        y += z, sizes += std::fabs(z);
      }
      s.push_back(y), top = std::max(top, y), largest = std::max(largest, sizes);
    }
    double const of_scores = largest * 24 * fp32_roundoff, fp32 = in_.scale * of_scores + 0x1p-18;
    std::vector<double> p, dp, dp_size;
    double edge = 0, edge_size = 0, ties = 0;
    for (std::size_t j = 0; j < s.size(); ++j) {
      double const* const v = &in_.v[(size(first) + j) * size(D)];
      double y = -delta_[size(t)], sizes = delta_size_[size(t)];
      for (std::int64_t c = 0; c < D; ++c) {
        y += dout[c] * v[c] * inverse, sizes += std::fabs(dout[c] * v[c]) * inverse;
      }
      p.push_back(std::exp((s[j] - top) * in_.scale)), dp.push_back(y), dp_size.push_back(sizes);
      edge += p[j] * y, edge_size += p[j] * sizes, ties += s[j] == top;
    }
    dbeta.add(edge, fp32 * edge_size);
    for (std::size_t j = 0; j < s.size(); ++j) {
      std::int64_t const key = (first + static_cast<std::int64_t>(j)) * D;
      double const f = in_.scale * in_.beta, part = s[j] == top ? edge / ties : 0;
      double const ds = f * (p[j] * dp[j] - part);
      double slack = f * fp32 * (p[j] * dp_size[j] + edge_size) + u_ * std::fabs(ds) + least_;
      if (top - s[j] < 2 * of_scores && (s[j] < top || near_tie(s, top, 2 * of_scores)))
        slack += f * std::fabs(edge);
      double const weight = in_.beta * p[j] * inverse;
      for (std::int64_t c = 0; c < D; ++c) {
        double const k = in_.k[size(key + c)];
        dq[size(t * D + c)].add(ds * k, std::fabs(k) * slack);
        dk[size(key + c)].add(ds * q[c], std::fabs(q[c]) * slack);
        dv[size(key + c)].add(weight * dout[c],
                              std::fabs(dout[c]) * (weight * (u_ + fp32) + least_));
      }
    }
  }
  static bool near_tie(std::vector<double> const& s, double top, double gap) {
    int near = 0;
    for (double const y : s) near += top - y < gap;
    return near > 1;
  }

  // dq, and what of dk and dv is the window's.
  void forward() {
    std::vector<double> kv_size(kv_.size()), z_size(z_);
    for (std::size_t i = 0; i < kv_.size(); ++i) kv_size[i] = std::fabs(kv_[i]);
    std::int64_t added = 0;
    for (std::int64_t t = 0; t < in_.nq; ++t) {
      std::int64_t const token = in_.n - in_.nq + t,
                         first = std::max<std::int64_t>(0, token / 64 - 1) * 64;
      for (; added < first; ++added)
        for (std::int64_t f = 0; f < D; ++f) {
          double const phi = of_k_[size(added)].phi[size(f)];
          z_[size(f)] += phi, z_size[size(f)] += phi;
          for (std::int64_t c = 0; c < D; ++c) {
            double const y = phi * in_.v[size(added * D + c)];
            kv_[size(f * D + c)] += y, kv_size[size(f * D + c)] += std::fabs(y);
          }
        }
      window(t, first);
      bounded_numbers d(size(D));
      double const *const dout = &dout_[size(t * D)], inverse = 1 / sums_[size(t)],
                          lost = least_ * static_cast<double>(first + 1);
      for (std::int64_t f = 0; f < D; ++f) {
        auto& y = d[size(f)];
        y.add(-z_[size(f)] * delta_[size(t)], z_size[size(f)] * delta_size_[size(t)] * 2 * fp32_);
        for (std::int64_t c = 0; c < D; ++c) {
          double const by = dout[c] * inverse, of = std::fabs(by);
          y.add(by * kv_[size(f * D + c)],
                of * (kv_size[size(f * D + c)] * (2 * u_ + 2 * fp32_) + lost));
        }
        double const phi = of_q_[size(t)].phi[size(f)];
        dalpha.add(phi * y.x, phi * (y.slack + fp32_ * std::fabs(y.x)));
        y.x *= in_.alpha, y.slack *= in_.alpha;
      }
      put_features(of_q_[size(t)], d, &in_.q[size(t * D)], in_.map_q, &dq[size(t * D)], dmap_q);
    }
  }

  void backward() {
    std::vector<double> r(dfinal_), r_size(size(D * D)), sizes(size(D)), rz(dfinal_z_),
        rz_size(size(D));
    for (std::size_t i = 0; i < r.size(); ++i) r_size[i] = std::fabs(r[i]);
    for (std::size_t i = 0; i < rz.size(); ++i) rz_size[i] = std::fabs(rz[i]);
    std::int64_t const past = in_.n - in_.nq, whole = in_.n / 64,
                       linear = std::max<std::int64_t>(0, whole - 1);
    for (std::int64_t block = whole; block >= 0; --block) {
      for (std::int64_t token = block * 64; token < std::min(in_.n, block * 64 + 64); ++token) {
        if (token < past) continue;
        std::int64_t const t = token - past;
        double const inverse = 1 / sums_[size(t)];
        for (std::int64_t c = 0; c < D; ++c) sizes[size(c)] += std::fabs(dout_[size(t * D + c)]);
        for (std::int64_t f = 0; f < D; ++f) {
          double const phi = in_.alpha * of_q_[size(t)].phi[size(f)];
          rz[size(f)] -= phi * delta_[size(t)], rz_size[size(f)] += phi * delta_size_[size(t)];
          for (std::int64_t c = 0; c < D; ++c) {
            double const y = phi * inverse * dout_[size(t * D + c)];
            r[size(f * D + c)] += y, r_size[size(f * D + c)] += std::fabs(y);
          }
        }
      }
      if (block < 2 || block - 2 >= linear) continue;
      for (std::int64_t key = (block - 2) * 64; key < (block - 1) * 64; ++key) {
        bounded_numbers d(size(D));
        double const* const v = &in_.v[size(key * D)];
        for (std::int64_t f = 0; f < D; ++f) {
          auto& y = d[size(f)];
          y.add(rz[size(f)], rz_size[size(f)] * 2 * fp32_);
          double const phi = of_k_[size(key)].phi[size(f)];
          for (std::int64_t c = 0; c < D; ++c) {
            std::size_t const i = size(f * D + c);
            double const error = r_size[i] * (2 * u_ + 2 * fp32_) + least_ * (sizes[size(c)] + 1);
            y.add(v[c] * r[i], std::fabs(v[c]) * error);
            dv[size(key * D + c)].add(phi * r[i],
                                      phi * (error + u_ * r_size[i]) + least_ * std::fabs(r[i]));
          }
        }
        put_features(of_k_[size(key)], d, &in_.k[size(key * D)], in_.map_k, &dk[size(key * D)],
                     dmap_k);
      }
    }
    for (std::size_t i = 0; i < r.size(); ++i)
      dkv[i] = {r[i], r_size[i] * (u_ + 2 * fp32_) + least_ * sizes[i % size(D)]};
    for (std::size_t i = 0; i < rz.size(); ++i) dz[i] = {rz[i], rz_size[i] * 2 * fp32_};
  }

  hedgehog_head in_;
  double u_, least_, fp32_ = 0;
  std::vector<token_features> of_q_, of_k_;
  std::vector<double> dout_, sums_, delta_, delta_size_, kv_, z_, dfinal_, dfinal_z_;
};

// Errors of many don't add up to their bounds: their norm keeps below a quarter of these.
inline void judge(error_meter& to, std::int64_t row, std::int64_t col, double got,
                  bounded_number const& of) {
  double const slack = of.slack + fp32_least_normal;
  double const out = rounded(to.type(), of.x) - of.x;
  to.add(row, col, got, of.x, slack, out, slack / 2);
}

inline verdict compare(hedgehog_gradients const& x) {
  constexpr std::int64_t D = hedgehog_width, F = hedgehog_features;
  dtype const type = x.of.type;
  error_meter dq(type), dk(type), dv(type), maps(dtype::fp32), factors(dtype::fp32),
      states(dtype::fp32);
  std::int64_t const h = x.of.h;
  std::vector<bounded_numbers> map_q(static_cast<std::size_t>(h), bounded_numbers(D * F)),
      map_k = map_q;
  bounded_numbers alpha(static_cast<std::size_t>(h)), beta = alpha;
  std::mutex merging;
  parallel_for(sequences(x.of) * h, [&](std::int64_t i) {
    auto const at = keys_and_queries(x.of, i / h);
    std::int64_t const head = i % h, nq = std::min(at.nq, at.n), skipped = at.nq - nq;
    hedgehog_gradient_oracle const exact(x, at, head, i);
    std::scoped_lock const lock(merging);
    auto const rows = [&](error_meter& to, tensor const& got, bounded_numbers const& of,
                          std::int64_t n, std::int64_t all, std::int64_t first) {
      for (std::int64_t t = 0; t < n; ++t)
        for (std::int64_t c = 0; c < D; ++c) {
          std::int64_t const row = x.row(at.batch, all, first + t, head);
          judge(to, row, c, decode(type, got.result_row(row) + c * 2),
                of[static_cast<std::size_t>(t * D + c)]);
        }
    };
    rows(dq, x.dq, exact.dq, nq, queries(x.of), at.first_query + skipped);
    rows(dk, x.dk, exact.dk, at.n, tokens(x.of), at.first);
    rows(dv, x.dv, exact.dv, at.n, tokens(x.of), at.first);
    auto const all_are = [&](double value, error_meter& to, tensor const& got, std::int64_t all,
                             std::int64_t first, std::int64_t last) {
      for (std::int64_t t = first; t < last; ++t)
        for (std::int64_t c = 0; c < D; ++c) {
          std::int64_t const row = x.row(at.batch, all, t, head);
          to.add(row, c, decode(type, got.result_row(row) + c * 2), value, 0, 0, 0);
        }
    };
    double const as_it_was = std::nan("");
    all_are(as_it_was, dq, x.dq, queries(x.of), at.first_query, at.first_query + skipped);
    if (!packed(x.of))
      for (auto const& [to, got] : {std::pair{&dk, &x.dk}, {&dv, &x.dv}})
        all_are(0, *to, *got, x.of.n, at.n, x.of.n);
    auto const sum = [](bounded_numbers& to, bounded_numbers const& of) {
      for (std::size_t e = 0; e < of.size(); ++e) to[e].add(of[e].x, of[e].slack);
    };
    auto const nth = static_cast<std::size_t>(head);
    sum(map_q[nth], exact.dmap_q), sum(map_k[nth], exact.dmap_k);
    alpha[nth].add(exact.dalpha.x, exact.dalpha.slack);
    beta[nth].add(exact.dbeta.x, exact.dbeta.slack);
    if (!x.of.states) return;
    for (std::int64_t f = 0; f < D; ++f) {
      judge(states, i, f, decode(dtype::fp32, x.dinitial_k.result_row(i) + f * 4),
            exact.dz[static_cast<std::size_t>(f)]);
      for (std::int64_t c = 0; c < D; ++c)
        judge(states, i * D + f, c,
              decode(dtype::fp32, x.dinitial_kv.result_row(i * D + f) + c * 4),
              exact.dkv[static_cast<std::size_t>(f * D + c)]);
    }
  });
  for (std::int64_t head = 0; head < h; ++head) {
    auto const nth = static_cast<std::size_t>(head);
    judge(factors, 0, head, decode(dtype::fp32, x.dalpha.result_row(0) + head * 4), alpha[nth]);
    judge(factors, 1, head, decode(dtype::fp32, x.dbeta.result_row(0) + head * 4), beta[nth]);
    for (std::int64_t r = 0; r < D; ++r)
      for (std::int64_t f = 0; f < F; ++f) {
        auto const e = static_cast<std::size_t>(r * F + f);
        judge(maps, head * D + r, f, decode(dtype::fp32, x.dmap_q.result_row(head * D + r) + f * 4),
              map_q[nth][e]);
        judge(maps, head * D + r, f, decode(dtype::fp32, x.dmap_k.result_row(head * D + r) + f * 4),
              map_k[nth][e]);
      }
  }
  verdict all;
  for (auto const& [name, meter] : {std::pair{"dq", &dq},
                                    {"dk", &dk},
                                    {"dv", &dv},
                                    {"dmap", &maps},
                                    {"dalpha, dbeta", &factors},
                                    {"dinitial", &states}}) {
    auto const v = meter->judge(name, 1.1, 1024);
    if (all.ok()) all.wrong = v.wrong;
    all.compared += v.compared;
    all.share = std::max(all.share, v.share);
  }
  std::int64_t const batches = packed(x.of) ? 1 : x.of.b,
                     due = h * (batches * (queries(x.of) + 2 * tokens(x.of)) * D + 2 * D * F + 2 +
                                (x.of.states ? sequences(x.of) * D * (D + 1) : 0));
  if (all.ok() && all.compared != due) all.wrong = "not every element was compared";
  return all;
}

struct hedgehog_gradient_case : hedgehog_case {
  hedgehog_gradient_case(hedgehog_case const& x) : hedgehog_case(x) {}
};
inline verdict run(hedgehog_gradient_case const& x) { return run_scan<hedgehog_gradients>(x); }
inline std::vector<hedgehog_gradient_case> gradients_of(std::vector<hedgehog_case> const& cases) {
  return {cases.begin(), cases.end()};
}

}  // namespace tk::test
