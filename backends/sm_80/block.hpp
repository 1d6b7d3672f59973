// SPDX-License-Identifier: MIT
// The block template (core/block.hpp): every warp moves data and computes. A warp begins copies as
// soon as it finds a slot free, into the next task too, and waits for a slot only where it needs it.
// Blocks are persistent. Tasks come in fixed rounds or, where the arguments have a counter `tickets`
// that is not null, on demand: the first warp asks for a block's next task when it begins one, and
// tells the others. The counter is zero before a launch and again after it.
#pragma once
#include "backends/sm_80/mma.hpp"
#include "backends/sm_80/sync.hpp"
#include "core/block.hpp"

namespace tk::be {

template <block_op Op> struct block_memory {
  static_assert(Op::cluster == 1, "this chip has no clusters");
  static constexpr int warps = Op::workers * worker_warps, lanes = Op::workers * worker_lanes;
  ring_memory<typename Op::stage, Op::stages> stages;
  ring_memory<typename Op::own, Op::own_slots> own[Op::workers];
  ring_memory<typename common_of<Op>::type, 1> commons;
  typename Op::scratch scratch[Op::workers];
  int ticket[2];
  ring_barriers<Op::stages> stage_barriers;
  ring_barriers<Op::own_slots> own_barriers[Op::workers];
  ring_barriers<1> common_barriers;
  ring_barriers<2> ticket_barriers;
  std::uint64_t meeting_barrier;

  TK_DEVICE void init() {
    stage_barriers.init(warps, lanes);
    for (auto& b : own_barriers) b.init(worker_warps, worker_lanes);
    common_barriers.init(warps, lanes);
    ticket_barriers.init(warps);
    meeting<Op::workers>::init(meeting_barrier);
  }
};

// The tasks of a block, one after another, as one warp walks them.
template <class Op> class task_list {
 public:
  TK_DEVICE task_list(block_memory<Op>& m, typename Op::args const& a)
      : memory_(m), now_(ptx::block()) {
    if constexpr (requires { a.tickets; }) tickets_ = a.tickets;
  }
  TK_DEVICE int now() const { return now_; }
  TK_DEVICE int next() const { return next_; }
  // When the task now() begins.
  TK_DEVICE void begin(int tasks) {
    next_ = tickets_ ? -1 : now_ + ptx::blocks();
    if (tickets_ && ptx::thread() == 0)
      answer_ = ptx::blocks() + static_cast<int>(ptx::next_ticket(
                                    tickets_, static_cast<unsigned>(tasks - 1)));
    told_ = false;
  }
  // Whether next() is known; it is if this warp waits for it.
  TK_DEVICE bool know_next(bool waits) {
    if (next_ >= 0) return true;
    if (ptx::thread() / warp_lanes == 0 && !told_) tell();
    auto const full = ptx::smem(&memory_.ticket_barriers.full[at_.slot]);
    if (waits) ptx::barrier_wait(full, at_.phase);
    else if (!ptx::all(ptx::barrier_test(full, at_.phase))) return false;
    next_ = ptx::broadcast(memory_.ticket[at_.slot]);
    ptx::warp_sync();
    if (ptx::thread() % warp_lanes == 0)
      ptx::barrier_arrive(ptx::smem(&memory_.ticket_barriers.empty[at_.slot]));
    at_.next();
    return true;
  }
  TK_DEVICE void advance() {
    know_next(true);
    now_ = next_;
  }

 private:
  TK_DEVICE void tell() {
    ptx::barrier_wait(ptx::smem(&memory_.ticket_barriers.empty[at_.slot]), at_.phase ^ 1);
    if (ptx::thread() == 0) {
      memory_.ticket[at_.slot] = answer_;
      ptx::barrier_arrive(ptx::smem(&memory_.ticket_barriers.full[at_.slot]));
    }
    told_ = true;
  }
  block_memory<Op>& memory_;
  unsigned* tickets_ = nullptr;
  int now_, next_ = -1, answer_ = 0;
  bool told_ = false;
  ring_place<2> at_;
};

// What a worker of Op sees, and how its warps fill the rings.
template <class Op> class context {
  using args_type = typename Op::args;
  struct stage_ring {
    context& c;
    TK_DEVICE typename Op::stage& take() {
      c.fill();
      return c.stages_.take();
    }
    TK_DEVICE void release() { c.stages_.release(); }
  };

 public:
  worker w;
  stage_ring in{*this};
  ring<typename Op::own, Op::own_slots> own;
  ring<typename common_of<Op>::type, 1> common;
  typename Op::scratch (&scratches)[Op::workers];
  typename Op::scratch& scratch;
  turns turn;
  meeting<Op::workers> all;

  TK_DEVICE context(block_memory<Op>& m, args_type const& a, worker w)
      : w(w),
        own(m.own[w.id()], m.own_barriers[w.id()], w.lane(), worker_lanes),
        common(m.commons, m.common_barriers, ptx::thread(), block_memory<Op>::lanes),
        scratches(m.scratch),
        scratch(m.scratch[w.id()]),
        all(m.meeting_barrier),
        args_(a),
        tasks_(Op::tasks(a)),
        list_(m, a),
        stages_(m.stages, m.stage_barriers, ptx::thread(), block_memory<Op>::lanes) {}

  TK_DEVICE void run() {
    for (; list_.now() < tasks_; list_.advance()) {
      list_.begin(tasks_);
      auto const t = Op::task_at(args_, list_.now(), 0);
      if (!ahead_) begin_filling(t);
      if constexpr (has_own<Op>) {
        if (own.filled() == 0) {
          own.await_free();
          put_own(t);
        }
      }
      if constexpr (has_common<Op>) {
        common.await_free();
        common.put([&](auto& s, arrival done) { Op::load_common(s, args_, t, done); });
      }
      ahead_ = false;
      Op::compute(*this, args_, t);
    }
  }

 private:
  TK_DEVICE void begin_filling(typename Op::task const& t) {
    filling_ = t;
    step_ = 0;
  }
  TK_DEVICE void put_own(typename Op::task const& t) {
    own.put([&](auto& s, arrival done) { Op::load_own(s, args_, t, w.id(), done); });
  }
  // Where this task's slots are all begun: goes on to the next task, if it is known and there is
  // one.
  TK_DEVICE bool look_ahead() {
    if (ahead_ || !list_.know_next(false) || list_.next() >= tasks_) return false;
    begin_filling(Op::task_at(args_, list_.next(), 0));
    ahead_ = true;
    if constexpr (has_own<Op>)
      if (own.is_free()) put_own(filling_);
    return true;
  }
  // Fills what is free; before a slot is taken that has not been filled, waits for it.
  TK_DEVICE void fill() {
    for (;;) {
      if (step_ == filling_.steps) {
        if (!look_ahead()) return;
        continue;
      }
      if (stages_.filled() == 0) stages_.await_free();
      else if (!stages_.is_free()) return;
      stages_.put([&](auto& s, arrival done) { Op::load(s, args_, filling_, step_, done); });
      ++step_;
    }
  }

  args_type const& args_;
  int tasks_;
  task_list<Op> list_;
  ring<typename Op::stage, Op::stages> stages_;
  typename Op::task filling_;
  int step_ = 0;
  bool ahead_ = false;  // filling_ is the next task
};

template <class Op> inline constexpr int block_threads = block_memory<Op>::lanes;
// Dynamic shared memory may begin anywhere.
template <class Op>
inline constexpr int block_smem_bytes = sizeof(block_memory<Op>) + tile_alignment;

template <class Op> TK_KERNEL(block_threads<Op>) run_block(TK_ARGUMENT typename Op::args const a) {
  constexpr std::uintptr_t alignment = tile_alignment;
  static_assert(alignof(block_memory<Op>) <= alignment);
  auto const raw = reinterpret_cast<std::uintptr_t>(ptx::dynamic_smem());
  auto& m = *reinterpret_cast<block_memory<Op>*>((raw + alignment - 1) & ~(alignment - 1));
  if (ptx::thread() == 0) m.init();
  ptx::sync_block();
  // A broadcast tells ptxas that the worker is the same in a whole warp.
  context<Op> c(m, a, worker{ptx::broadcast(ptx::thread() / worker_lanes)});
  c.run();
}

}  // namespace tk::be
