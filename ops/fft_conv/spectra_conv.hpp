// SPDX-License-Identifier: MIT
// Sums of products of spectra, back to sequences:
//   y[block] = out o first half of the inverse of (sum over terms of A o B, or A o conj(B))
// A convolution has a term for each piece of the filter, whose window lies as many blocks before
// the output's; a correlation with the filter likewise, behind it; a filter's gradient has one for
// each block of each sequence of its channels. Shapes    outputs[rows, n], of which a task gives L
// = N / 2 elements, times a gate, or two with a
//           gate of its own each.
// Numerics  products and their sum fp32, in the order of the terms; the sum is scaled by a power of
//           two to what fp16 holds best.
// Order     a worker has an output's block.
#pragma once
#include "core/schedule.hpp"
#include "ops/fft_conv/signals.hpp"
#include "ops/fft_conv/terms.hpp"
#include "ops/fft_conv/transform.hpp"

namespace tk {

template <class T, class Out, int N2> struct spectra_conv {
  using sizes = fft_sizes<N2>;
  static constexpr int workers = be::tune_fft_conv().workers, cluster = 1, stages = 1,
                       own_slots = 1, L = sizes::half;
  struct output {
    strided_sequences<Out> to;
    strided_sequences<T const> gate;
  };
  struct args {
    spectral_plan plan;
    spectra<N2> a, b;
    output out[2];          // data may be null, and so may gates
    std::int64_t n, there;  // elements of an output; from `there` on they are 0
    int rows, columns;      // outputs are [rows, columns, n], columns from first_column on
    int first_column;
    int blocks;
    bool folds;  // element n + t of the only block is added to t
  };
  struct stage {};
  struct own {};
  struct scratch {
    typename sizes::half_tile x[2];
    float exchange[be::worker_warps];
  };
  using resident = fft_factors<N2>;
  struct task {
    int first, steps;
  };

  static TK_BOTH int all(args const& a) { return a.rows * a.columns * a.blocks; }
  static TK_BOTH int tasks(args const& a) { return ceil_div(all(a), workers); }
  static TK_BOTH task task_at(args const&, int i, int) { return {i * workers, 0}; }
  static TK_DEVICE void load(stage&, args const&, task const&, int, be::arrival) {}
  static TK_DEVICE void load_own(own&, args const&, task const&, int, be::arrival) {}
  template <class Worker>
  static TK_DEVICE void fill_resident(Worker const& w, resident& r, args const&) {
    r.fill(w.id() * be::worker_lanes + w.lane(), workers * be::worker_lanes);
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const index = t.first + c.w.id();
    if (index >= all(a)) return;
    int const block = index % a.blocks, row = index / a.blocks;
    typename sizes::values p;
    sum(p, a, row, block);
    float const most = max_of_lanes(c.w, largest_of_lane(p), c.scratch.exchange);
    float const scale = scale_to(most, 8);
    reg_tile<float, 64, N2> y;
    transform_back(y, p, scale, c.scratch.x, c.resident, c.w);
    auto& via = reuse<shared_tile<float, 64, N2>>(c.scratch.x);
    float const back = inverse_of_power(scale) * (2.f / sizes::points);
    tk::store(via, cast<float>(y * back));
    c.w.sync();
    int const outer = row / a.columns, column = a.first_column + row % a.columns;
    std::int64_t const at = std::int64_t{block} * L;
    for_each_run(via, c.w, [&](int r, int col, run_of_eight const& y) {
      std::int64_t const place = at + r * N2 + col;
      if (place >= a.n) return;
      auto x = y;
      TK_UNROLL
      for (int i = 0; i < 8; ++i) x.x[i] = place + i < a.there ? x.x[i] : 0.f;
      if (a.folds) add_folded(x, via, static_cast<int>(place + a.n));
      TK_UNROLL
      for (auto const& out : a.out) {
        if (!out.to.data) continue;
        auto z = x;
        if (out.gate.data) {
          auto const gate = read_run(out.gate.of(outer, column), place, a.n, false);
          TK_UNROLL
          for (int i = 0; i < 8; ++i) z.x[i] *= gate.x[i];
        }
        write_run(out.to.of(outer, column), place, a.n, z);
      }
    });
    c.w.sync();  // all have read
  }

 private:
  // From place on, which need not be a run's.
  static TK_DEVICE void add_folded(run_of_eight& x, shared_tile<float, 64, N2> const& y,
                                   int place) {
    auto const* const bytes = reinterpret_cast<char const*>(&y);
    TK_UNROLL
    for (int i = 0; i < 8; ++i)
      if (int const at = place + i; at < L)
        x.x[i] += *reinterpret_cast<float const*>(
            bytes + shared_tile<float, 64, N2>::offset(at / N2, at % N2));
  }
  static TK_DEVICE void sum(typename sizes::values& p, args const& a, int row, int block) {
    p.re = 0.f, p.im = 0.f;
    auto const terms = a.plan.terms(row, block);
    bool const gradient = a.plan.kind == spectral_plan::filter_gradient;
    float const sign = a.plan.kind == spectral_plan::causal ? 1.f : -1.f;
    TK_UNROLL
    for (int part = 0; part < sizes::parts; ++part) TK_ROLL
    for (int o = 0; o < terms.outer; ++o) {
      std::int64_t const sequence = gradient ? a.plan.sequence(row, o) : 0;
      std::int64_t const first = terms.a + sequence * a.plan.windows,
                         other = terms.b + sequence * a.plan.blocks;
      TK_ROLL
      for (int i = 0; i < terms.inner; ++i) {
        complex_tile<64, sizes::part> x, y;
        tk::load(x, a.a, first + std::int64_t{i} * terms.a_step, part);
        tk::load(y, a.b, other + i, part);
        add_product(p, part, x, y, sign);
      }
    }
  }
};

}  // namespace tk
