// SPDX-License-Identifier: MIT
// Running sums of log2 decays within chunks, for ops/linear_attention/chunk_scan.hpp. A block has a
// chunk of some heads: lanes read side by side what lies side by side, heads, and write tokens.
// Numerics  parts of 16 tokens are summed from 0, and then what came before them is added. A factor
//           below 2^-160 counts as 2^-160, which nothing survives: what came before is not there
//           any more, and sums stay exact to a thousandth.
#pragma once
#include "backends/kernel.hpp"
#include "core/activation.hpp"
#include "ops/linear_attention/chunk_place.hpp"
#include "ops/linear_attention/lone_worker.hpp"
#include "ops/linear_attention/plan.hpp"

namespace tk {

// What kernels share that write a table of decays: [chunks, h, C], C at most `longest`.
struct chunk_sums {
  static constexpr int heads = 16, longest = longest_chunk, part = 16;
  static constexpr float least = -160;
  using table = float[heads][longest + 1];  // lanes with heads side by side meet no bank twice
  struct task {
    int block, head, heads, steps;  // `heads` from `head` on
  };

  static TK_BOTH int tasks(int chunks, int h) { return chunks * ceil_div(h, heads); }
  static TK_BOTH task task_at(int i, int h) {
    int const groups = ceil_div(h, heads), head = i % groups * heads, left = h - head;
    return {i / groups, head, left < heads ? left : heads, 0};
  }

  // keep(head, token, read(head, token)) of all heads and tokens of a chunk; a lane's reads are on
  // their way together.
  template <class Read, class Keep> static TK_DEVICE void for_each(int C, Read read, Keep keep) {
    constexpr int at_once = 8;
    int const all = heads * C;
    for (int first = be::worker_lane(); first < all; first += at_once * be::worker_lanes) {
      decltype(read(0, 0)) x[at_once] = {};
      TK_UNROLL
      for (int k = 0; k < at_once; ++k) {
        int const at = first + k * be::worker_lanes;
        if (at < all) x[k] = read(at % heads, at / heads);
      }
      TK_UNROLL
      for (int k = 0; k < at_once; ++k) {
        int const at = first + k * be::worker_lanes;
        if (at < all) keep(at % heads, at / heads, x[k]);
      }
    }
  }
  static TK_DEVICE float bounded(float log_decay) { return log_decay < least ? least : log_decay; }

  // Sums the parts; then sum() is a running sum.
  template <class Worker> static TK_DEVICE void sum_parts(Worker const& w, table& x, int C) {
    w.sync();  // it is there
    for (int i = w.lane(); i < C / part * heads; i += be::worker_lanes) {
      float* const of = x[i % heads] + i / heads * part;
      float sum = 0;
      TK_UNROLL
      for (int t = 0; t < part; ++t) of[t] = sum += of[t];
    }
    w.sync();
  }
  static TK_DEVICE float sum(table const& x, int head, int token) {
    float before = 0;
    TK_UNROLL
    for (int end = part; end < longest; end += part)
      before += end <= token ? x[head][end - 1] : 0.f;
    return before + x[head][token];
  }

  // put(head, token) of the task's heads and all tokens of its chunk. Of many lanes each has one
  // token.
  template <class Worker, class Put>
  static TK_DEVICE void write(Worker const& w, task const& t, int C, Put put) {
    constexpr int abreast = be::worker_lanes < longest ? 1 : be::worker_lanes / longest,
                  apart = be::worker_lanes / abreast;
    for (int token = w.lane() % apart; token < C; token += apart) TK_UNROLL
    for (int k = 0; k < heads; k += abreast)
      if (int const head = k + w.lane() / apart; head < t.heads) put(head, token);
  }
};

template <class T> struct chunk_decays : lone_worker {
  struct scratch {
    chunk_sums::table sums;
  };
  using args = decays_to_sum<T>;
  using task = chunk_sums::task;

  static TK_BOTH int tasks(args const& a) {
    return chunk_sums::tasks(a.to.constant ? 1 : a.rows.blocks(a.C), a.rows.h);
  }
  static TK_BOTH task task_at(args const& a, int i, int) {
    return chunk_sums::task_at(i, a.rows.h);
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    chunk_place at{0, 0, a.C};
    if (!a.to.constant) at = place_of_chunk(a.rows, t.block, a.C);
    if (at.tokens == 0) return;
    float const sign = a.to.constant ? -log2_e : log2_e;
    T const* const from =
        a.from + at.batch * a.b_stride + at.row * a.n_stride + t.head * a.h_stride;
    auto& sums = c.scratch.sums;
    chunk_sums::for_each(
        a.C,
        [&](int head, int token) {
          return head < t.heads && token < at.tokens ? from[head * a.h_stride + token * a.n_stride]
                                                     : T{};
        },
        [&](int head, int token, T x) { sums[head][token] = chunk_sums::bounded(x * sign); });
    chunk_sums::sum_parts(c.w, sums, a.C);
    float* const to = a.to.data + a.to.row(t.block, t.head, a.rows.h, a.C);
    chunk_sums::write(c.w, t, a.C, [&](int head, int token) {
      to[head * a.C + token] = chunk_sums::sum(sums, head, token);
    });
  }
};

template <class T> struct chunk_decays_run {
  static void launch(decays_to_sum<T> const& x, void* stream);
};
template <class T> void chunk_decays_run<T>::launch(decays_to_sum<T> const& x, void* stream) {
  be::launch<chunk_decays<T>>(x, stream);
}

}  // namespace tk
