// SPDX-License-Identifier: MIT
// What steps of decoding read once, and may write, as it lies in memory: rows, of which a lane of a
// worker takes runs of four elements, 16 bytes of a state.
//   lanes_of_runs<Columns>         which lane has which runs of rows of so many columns, or more
//   visit_runs(x, ..., use)        use(i, row, run) of a lane's next runs; their loads are on their
//                                  way together
//   weigh_rows<Columns>(x, ...)    a lane's shares of sums over rows of w[r] x[r, c], for each c
//   walked_states<Columns>         visit() reads, changes and writes a lane's next runs of a state,
//                                  walk_rows() all of them, with the lane's shares of q S'
// Numerics  fp32. Shares are added by whoever uses them, in order.
#pragma once
#include "backends/kernel.hpp"
#include "core/move.hpp"
#include "ops/linear_attention/lone_worker.hpp"
#include "ops/linear_attention/typed_states.hpp"

namespace tk {

inline constexpr int elements_of_run = 4, runs_at_once = 8;

template <class X> struct alignas(elements_of_run * sizeof(X)) run_of {
  static constexpr int n = elements_of_run;
  X of[n];
};
// `whole`: p is a multiple of a run's bytes.
template <class X> TK_DEVICE run_of<X> read_run(X const* p, bool whole) {
  if (whole) return *reinterpret_cast<run_of<X> const*>(p);
  run_of<X> x;
  TK_UNROLL
  for (int i = 0; i < x.n; ++i) x.of[i] = p[i];
  return x;
}
template <class X> TK_DEVICE void write_run(X* p, run_of<X> const& x, bool whole) {
  if (whole) {
    *reinterpret_cast<run_of<X>*>(p) = x;
  } else {
    TK_UNROLL
    for (int i = 0; i < x.n; ++i) p[i] = x.of[i];
  }
}

// `across` lanes lie side by side along a row, `down` below one another.
//   lane -> row() + k down, columns col() + k step to before col() + k step + n
template <int Columns> struct lanes_of_runs {
  static constexpr int n = elements_of_run, runs = Columns / n,
                       across = runs < be::worker_lanes ? runs : be::worker_lanes,
                       down = be::worker_lanes / across, step = across * n,
                       rows_at_once = runs_at_once * down;
  static_assert(Columns % n == 0 && runs % across == 0 && be::worker_lanes % across == 0);
  static TK_DEVICE int row() { return be::worker_lane() / across; }
  static TK_DEVICE int col() { return be::worker_lane() % across * n; }
};

// Of rows `row`, row + Down, ... before `end`, runs_at_once of them. There is a row before `end`.
template <int Down, class X, class Use>
TK_DEVICE void visit_runs(tensor<X const> const& x, bool whole, int row, int end, int col, int i,
                          int j, Use use) {
  run_of<X> runs[runs_at_once] = {};
  if (x.data) {
    TK_UNROLL
    for (int k = 0; k < runs_at_once; ++k) {
      int const r = row + k * Down;
      runs[k] = read_run(x.at(r < end ? r : end - 1, col, i, j), whole);
    }
  }
  TK_UNROLL
  for (int k = 0; k < runs_at_once; ++k)
    if (int const r = row + k * Down; r < end) use(k, r, runs[k]);
}

// Of `rows` rows from `first` on, w[0] that of the first: put(column, nth, share), nth below
// lanes_of_runs<Columns>::down.
template <int Columns, class X, class Put>
TK_DEVICE void weigh_rows(tensor<X const> const& x, bool whole, float const* w, int first, int rows,
                          int i, int j, Put put) {
  using lanes = lanes_of_runs<Columns>;
  for (int col = lanes::col(); col < Columns; col += lanes::step) {
    float shares[lanes::n] = {};
    for (int row = lanes::row(); row < rows; row += lanes::rows_at_once)
      visit_runs<lanes::down>(x, whole, first + row, first + rows, col, i, j,
                              [&](int, int r, run_of<X> const& of) {
                                TK_UNROLL
                                for (int k = 0; k < of.n; ++k)
                                  shares[k] += w[r - first] * be::widen(of.of[k]);
                              });
    TK_UNROLL
    for (int k = 0; k < lanes::n; ++k) put(col + k, lanes::row(), shares[k]);
  }
}

template <int Columns> struct walked_states {
  using lanes = lanes_of_runs<Columns>;
  using run = run_of<float>;
  tensor<float const> initial;  // data may be null: 0
  tensor<float> final;          // data may be null; or as initial
  bool whole;                   // in memory of whole runs
  float final_scale = 1;

  template <class Update>
  TK_DEVICE void visit(int row, int end, int col, int head, int sequence, Update update) const {
    visit_runs<lanes::down>(initial, whole, row, end, col, head, sequence,
                            [&](int i, int r, run& s) {
                              update(i, r, s);
                              if (!final.data) return;
                              TK_UNROLL
                              for (float& y : s.of) y *= final_scale;
                              write_run(final.at(r, col, head, sequence), s, whole);
                            });
  }
  // update(row, column, run) makes S' of `columns` columns from `first` on, the first of which is
  // its column 0; put(column, nth, share), nth below lanes::down.
  template <class Update, class Put>
  TK_DEVICE void walk_rows(float const* q, int rows, int first, int columns, int head, int sequence,
                           Update update, Put put) const {
    for (int col = lanes::col(); col < columns; col += lanes::step) {
      float shares[lanes::n] = {};
      for (int row = lanes::row(); row < rows; row += lanes::rows_at_once)
        visit(row, rows, first + col, head, sequence, [&](int, int r, run& s) {
          update(r, col, s);
          TK_UNROLL
          for (int i = 0; i < s.n; ++i) shares[i] += q[r] * s.of[i];
        });
      TK_UNROLL
      for (int i = 0; i < lanes::n; ++i) put(col + i, lanes::row(), shares[i]);
    }
  }
};
// Its rows lie in memory of whole runs, or nowhere.
template <class X> bool is_whole(tensor<X> const& x) {
  return !x.data || vector_width_of(x) >= elements_of_run;
}
template <int Columns>
void walk(walked_states<Columns>& x, state_tensor const& initial, state_tensor const& final) {
  x.initial = typed<float const>(initial);
  x.final = typed<float>(final);
  x.whole = is_whole(x.initial) && is_whole(x.final);
}

}  // namespace tk
