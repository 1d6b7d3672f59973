// SPDX-License-Identifier: MIT
// The slots of an op that takes them by accumulate() alone (core/accumulate.hpp), and the loop over
// them. All lanes of a block fill each slot together, Op::stages - 1 slots ahead of the one that is
// multiplied, through its tasks one after another, and meet once a step. Fragments are loaded a
// step of k ahead of their products, from slot to slot, too, so that the tensor cores never wait.
// The loop does little else: while a slot's tiles lie inside their tensors, a lane keeps one
// address for each, which moves on evenly; what goes on around it is looked up once a task.
#pragma once
#include "backends/sm_80/mma.hpp"
#include "backends/sm_80/sync.hpp"
#include "core/block.hpp"

namespace tk::be {

template <accumulating_op Op> class stage_stream {
 public:
  using args_type = typename Op::args;
  using task_type = typename Op::task;
  using stage_type = typename Op::stage;
  static constexpr int slots = Op::stages, lanes = Op::workers * worker_lanes;
  static_assert(slots > 1, "a step is multiplied while others arrive");
  static_assert(!has_own<Op> && !has_common<Op>, "core/block.hpp: an op that accumulates");
  struct memory {
    stage_type slot[slots];
    task_type filled[lanes / warp_lanes], computed[lanes / warp_lanes];  // each warp's own
  };

  TK_DEVICE stage_stream(memory& m, args_type const& a, int warp)
      : slot_(m.slot), filled_(m.filled[warp]), computed_(m.computed[warp]), args_(a) {}

  // Task `index`, which begins.
  TK_DEVICE task_type const& begin(int index) {
    bool const first = index_ < 0;
    if (first) fill_first();
    set_for_warp(computed_,
                 [&] { return index_ == index ? filled_ : Op::task_at(args_, index, 0); });
    if (first) await_next();
    return computed_;
  }

  template <bool TransA, bool TransB, int R, int N, class Left, class Right>
  TK_DEVICE void accumulate(reg_tile<float, R, N>& sum, int steps, Left left, Right right) {
    using left_tile = std::remove_cvref_t<decltype(left(slot_[0]))>;
    using right_tile = std::remove_cvref_t<decltype(right(slot_[0]))>;
    using a_type = typename left_tile::element;
    using b_type = typename right_tile::element;
    constexpr int K = TransA ? left_tile::rows : left_tile::cols, slices = K / step_k<a_type>;
    static_assert(slices > 0 && slices % 2 == 0,
                  "on this chip, a step has a multiple of 64 bytes of k");
    constexpr int down = R / 64, across = N / 8;
    steps = ptx::broadcast(steps);
    if (steps == 0) return;
    left_operand<TransA, left_tile> const as(left(slot_[0]));
    right_operand<TransB, right_tile> const bs(right(slot_[0]));
    fragment a[2][down], b[2][across / 2];
    auto const load = [&](int k) {
      TK_UNROLL
      for (int m = 0; m < down; ++m) {
        a[k % 2][m] = as.load(m, k, reading_);
        if (m > 0) continue;
        TK_UNROLL
        for (int n = 0; n < across / 2; ++n) b[k % 2][n] = bs.load(k, n, reading_);
      }
    };
    auto const step = [&](auto fill) {
      TK_UNROLL
      for (int k = 0; k < slices; ++k) {
        int const next = (k + 1) % slices;
        if (next == 0) meet();
        load(next);
        if (k == 0) fill();
        TK_UNROLL
        for (int m = 0; m < down; ++m) TK_UNROLL
        for (int i = 0; i < across; ++i) {
          int const n = m % 2 == 0 ? i : across - 1 - i;  // there and back: one operand changes
          auto const& y = b[k % 2][n / 2];
          multiply<a_type, b_type>(sum.e + m * (N / 2) + n * 4, a[k % 2][m], y.r[n % 2 * 2],
                                   y.r[n % 2 * 2 + 1], true);
        }
      }
    };
    load(0);
    while (steps > 0) {
      if (alike_ == 0) plan();
      int n = alike_ < steps ? alike_ : steps;
      steps -= n, alike_ -= n;
      if (evenly_) {
        next_ += n;
        TK_ROLL
        for (; n > 0; --n) step([&] { fill_evenly(); });
      } else {
        TK_ROLL
        for (; n > 0; --n) step([&] { fill(); });
      }
    }
  }

 private:
  static constexpr std::uint32_t slot_bytes = sizeof(stage_type);

  // Until the slot after that of `reading_` is there for all; what was read before is free.
  TK_DEVICE void meet() {
    await_next();
    writing_ = reading_;
    reading_ = reading_ + slot_bytes == slots * slot_bytes ? 0 : reading_ + slot_bytes;
  }
  TK_DEVICE void await_next() {
    ptx::copy_wait_group<slots - 2>();
    ptx::sync_block();
  }

  // ---- filling: one group of copies for each step, and empty ones after the last task
  TK_DEVICE void fill_first() {
    TK_ROLL
    for (int i = 0; i < slots - 1; ++i, writing_ += slot_bytes) {
      if (alike_ == 0) plan();
      --alike_;
      if (evenly_) fill_evenly(), ++next_;
      else fill();
    }
  }
  TK_DEVICE void fill_evenly() {
    int next_tile = 0;
    bool plain = false;
    Op::load(written(), args_, filled_, 0, by_all(next_tile, plain, filling::planned, &plan_));
    ptx::copy_commit();
  }
  TK_DEVICE void fill() {
    if (index_ < Op::tasks(args_)) {
      int next_tile = 0;
      bool plain = false;
      Op::load(written(), args_, filled_, next_++, by_all(next_tile, plain, filling::now, nullptr));
    }
    ptx::copy_commit();
  }
  TK_DEVICE stage_type& written() {
    return *reinterpret_cast<stage_type*>(reinterpret_cast<char*>(slot_) + writing_);
  }
  static TK_DEVICE arrival by_all(int& next_tile, bool& plain, filling how, fill_plan* plan) {
    return {ptx::thread(), 0, 1, next_tile, plain, lanes, how, plan};
  }
  // How the next steps are filled: alike_ of them evenly, or not. The lanes of a warp look at the
  // next step, the one after it, and the last thirty of the task: tiles that are inside in one step
  // and in a later one are so between them.
  TK_DEVICE void plan() {
    evenly_ = false;
    alike_ = 1 << 30;
    while (next_ == steps_) {
      index_ = index_ < 0 ? ptx::block() : index_ + ptx::blocks();
      if (index_ >= Op::tasks(args_)) return;
      set_for_warp(filled_, [&] { return Op::task_at(args_, index_, 0); });
      next_ = 0;
      steps_ = ptx::broadcast(filled_.steps);
    }
    int const left = steps_ - next_, lane = ptx::thread() % warp_lanes;
    int const from_end = left + 1 - lane;
    int const ahead = lane >= 2 ? std::max(from_end, 0) : std::min(lane, left - 1);
    int next_tile = 0;
    bool plain = false;
    fill_plan seen;
    Op::load(slot_[0], args_, filled_, next_ + ahead,
             by_all(next_tile, plain, filling::plan, &seen));
    bool good = !plain && next_tile <= fill_plan::most;
    TK_UNROLL
    for (int i = 0; i < fill_plan::most; ++i) {
      if (i >= next_tile) continue;
      auto const& x = seen.tile[i];
      char const* const first = ptx::shuffle(x.at, 0);
      int const step = static_cast<int>(ptx::shuffle(x.at, 1) - first);
      good = good && x.at == first + std::int64_t{ahead} * step;
      plan_.tile[i] = {first + x.step, step};
    }
    unsigned const lanes_good = ptx::ballot(good);
    evenly_ = lanes_good & 1;
    int const until = lanes_good >> 2 ? left - ptx::first_bit(lanes_good >> 2) : 1;
    alike_ = ptx::broadcast(!evenly_ ? left : until > 1 ? until : 1);
  }

  stage_type (&slot_)[slots];
  task_type &filled_, &computed_;
  args_type const& args_;
  std::uint32_t reading_ = 0, writing_ = 0;            // where a slot begins
  int index_ = -1, next_ = 0, steps_ = 0, alike_ = 0;  // of the task that is filled
  bool evenly_ = false;
  fill_plan plan_;
};

// ---- the block template of such an op; tasks come in rounds
template <accumulating_op Op> struct stream_memory {
  typename stage_stream<Op>::memory stages;
  typename Op::scratch scratch[Op::workers];
  std::uint64_t meeting_barrier;
  TK_DEVICE void init() { meeting<Op::workers>::init(meeting_barrier); }
};
template <class Op> struct stream_context {
  worker w;
  stage_stream<Op>& in;
  typename Op::scratch (&scratches)[Op::workers];
  typename Op::scratch& scratch;
  turns turn;
  meeting<Op::workers> all;
};
template <class Op> TK_DEVICE void run_warp(stream_memory<Op>& m, typename Op::args const& a) {
  int const warp = ptx::broadcast(ptx::thread() / warp_lanes), index = warp / worker_warps;
  stage_stream<Op> in(m.stages, a, warp);
  stream_context<Op> c{worker{index},    in, m.scratch,
                       m.scratch[index], {}, meeting<Op::workers>(m.meeting_barrier)};
  for (int i = ptx::block(); i < Op::tasks(a); i += ptx::blocks()) Op::compute(c, a, in.begin(i));
}

}  // namespace tk::be
