// SPDX-License-Identifier: MIT
// The tasks of Hedgehog's scan, a sequence or some segments of one each, where their tiles lie, and
// what they begin with and leave.
#pragma once
#include "core/product.hpp"
#include "core/vector.hpp"
#include "ops/hedgehog/features.hpp"
#include "ops/hedgehog/hedgehog_sizes.hpp"

namespace tk {

// Where they stay in shared memory.
template <class T> struct feature_maps {
  shared_tile<T, hedgehog_width, hedgehog_features> q, k;
};

template <class T, bool Outputs> struct hedgehog_tasks {
  using sizes = hedgehog_sizes<T>;
  using args = typename sizes::args;
  static constexpr int C = sizes::C, D = sizes::D, F = sizes::F, P = sizes::P;
  using column = reg_col<float, C>;

  struct task {
    int sequence, head, part;
    int nth, segment;  // the segment that it begins in, in its sequence, and through all sequences
    int first, absorbing, last, steps;  // blocks: those before `absorbing` have no queries
    hedgehog_rows::place at;
  };

  static TK_BOTH bool segments(args const& a) { return a.states.data != nullptr; }
  // How sequences are cut. Where segments are summed each is a task.
  static TK_BOTH scan_walks const& walks(args const& a) { return Outputs ? a.walks : a.segments; }
  // Whether a task begins with what the sequence begins with. No sum is wanted of the segment in
  // which the last walk begins: its place has that for the scan of segments.
  static TK_BOTH bool begins(args const& a, task const& t) {
    return Outputs ? !segments(a) : is_last(a, t);
  }
  static TK_BOTH int tasks(args const& a) {
    auto const& keys = a.rows.keys;
    int const length = walks(a).each * hedgehog_segment * C;
    return (segments(a) ? keys.blocks(length) : keys.b) * keys.h * sizes::parts;
  }
  // Without steps, which follow from how a form has its tiles.
  static TK_BOTH task task_at(args const& a, int i) {
    auto const& keys = a.rows.keys;
    task t{};
    t.part = i % sizes::parts;
    auto const head = a.by_heads.of(i / sizes::parts);
    t.head = head.rest;
    auto const of = scan_cut<C, hedgehog_segment>{keys, walks(a), false}.place(head.quotient);
    t.sequence = of.sequence;
    t.at = a.rows.sequence(t.sequence);
    // Without queries only whole blocks add anything.
    int const blocks = t.at.nq > 0 ? ceil_div(t.at.n, C) : t.at.n / C, queries = t.at.past / C;
    t.last = blocks;
    if (segments(a)) {
      // Packed sequences leave room for walks that none has.
      int const each = walks(a).each, length = each * hedgehog_segment;
      t.nth = of.nth * each;
      t.segment = keys.first_block(t.sequence, hedgehog_segment * C);
      t.first = of.nth < 0 ? blocks : of.nth * length;
      if (t.first < blocks) t.segment += t.nth;
      if (!Outputs && t.nth >= sizes::cut(a).last_start(t.at.n)) t.last = t.first;
      else if (t.first + length < blocks) t.last = t.first + length;
    }
    // Nothing is added at the first block.
    if (t.first == 0 && (!Outputs || queries > 0)) t.first = 1;
    if (t.last < t.first) t.last = t.first;
    t.absorbing = !Outputs || t.at.nq == 0 || queries > t.last ? t.last
                  : queries < t.first                          ? t.first
                                                               : queries;
    return t;
  }
  // Whether a task begins where the last walk of its sequence does.
  static TK_BOTH bool is_last(args const& a, task const& t) {
    return !segments(a) || t.nth == sizes::cut(a).last_start(t.at.n);
  }

  // Blocks of keys; there is none before the first.
  template <class X, class Source>
  static TK_DEVICE void load_keys(X& to, Source const& from, task const& t, int col, int block,
                                  be::arrival done) {
    int const end = t.at.first + t.at.n, row = block < 0 ? end : t.at.first + block * C;
    load_async(to, window(from, row, col, t.head, t.at.batch, end), done);
  }
  template <class X>
  static TK_DEVICE void load_queries(X& to, args const& a, task const& t, int block,
                                     be::arrival done) {
    auto const at = t.at.queries(block);
    load_async(to, window(a.q, at.row, 0, t.head, t.at.batch, at.row + at.n), done);
  }
  static TK_DEVICE void load_maps(feature_maps<T>& s, args const& a, task const& t,
                                  be::arrival done) {
    if (Outputs) load_async(s.q, window(a.map_q, 0, 0, t.head), done);
    load_async(s.k, window(a.map_k, 0, 0, t.head), done);
  }
  static TK_BOTH bool is_done(args const& a, task const& t) { return a.adds_only && t.steps == 0; }

  // What a task begins with, and what it leaves.
  static TK_DEVICE void begin(reg_tile<float, D, P>& s, args const& a, task const& t, int col) {
    s = 0.f;
    if (begins(a, t)) sizes::begin(s, a, t.sequence, t.head, col);
    if (Outputs && segments(a)) load(s, a.states, sizes::state_of(a, t.segment, t.head, col));
  }
  // put(i, x): the i-th number of z.
  template <class Worker, class Put>
  static TK_DEVICE void begin_sums(Worker const& w, args const& a, task const& t, Put put) {
    float const* from = nullptr;
    if (Outputs && segments(a)) from = sizes::sums_of(a, t.segment, t.head);
    else if (begins(a, t) && a.initial_sums.data && !(a.adds_only && t.part > 0))
      from = a.initial_sums.at(t.sequence, t.head);  // without queries, the first part's alone
    for (int i = w.lane(); i < D; i += be::worker_lanes) put(i, from ? from[i] : 0.f);
  }
  static TK_DEVICE bool leaves(args const& a, task const& t) {
    return Outputs ? a.final.data && is_last(a, t) : t.steps > 0 || begins(a, t);
  }
  static TK_DEVICE void leave_state(args const& a, task const& t, int col,
                                    reg_tile<float, D, P> const& s) {
    if constexpr (Outputs)
      store_direct(a.final, 0, col, t.head, t.sequence, cast<float>(s), a.final_width);
    else store(a.states, sizes::state_of(a, t.segment, t.head, col), s);
  }
  template <class Worker, class Get>
  static TK_DEVICE void leave_sums(Worker const& w, args const& a, task const& t, Get get) {
    float* const to =
        Outputs ? a.final_sums.at(t.sequence, t.head) : sizes::sums_of(a, t.segment, t.head);
    for (int i = w.lane(); i < D; i += be::worker_lanes) to[i] = get(i);
  }
  // o divided by the sum of its weights, which is left where it is asked for.
  static TK_DEVICE void divide(reg_tile<float, C, P>& o, args const& a, task const& t,
                               hedgehog_rows::rows_of_block const& at, int col, column const& sum) {
    o = o * reciprocal(sum);
    if (a.normaliser.data && col == 0)
      store(a.normaliser.data + t.at.batch * a.normaliser.b_stride +
                t.head * a.normaliser.h_stride + at.row,
            sum, at.n);
  }
  static TK_DEVICE auto outputs(args const& a, task const& t,
                                hedgehog_rows::rows_of_block const& at, int col) {
    return window(a.o, at.row, col, t.head, t.at.batch, at.row + at.n);
  }
  // Whether the block before goes to the state.
  static TK_DEVICE bool adds(task const& t, int block) {
    return block > 0 && (block + 1) * C <= t.at.n;
  }
};

}  // namespace tk
