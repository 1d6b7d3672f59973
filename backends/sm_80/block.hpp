// SPDX-License-Identifier: MIT
// The block template (core/block.hpp): every warp moves data and computes. A warp begins copies as
// soon as it finds a slot free, into the next task too, and waits for a slot only where it needs
// it. Blocks are persistent. Tasks come in fixed rounds or, where the arguments have a counter
// `tickets` that is not null, on demand: the first warp asks for a block's next task when it begins
// one, and tells the others. The counter is zero before a launch and again after it.
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
  typename Op::task tasks[warps][2];  // of each warp
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

// A counter that deals tasks, or null where they come in rounds.
template <class Args> TK_DEVICE unsigned* tickets_of(Args const& a) {
  if constexpr (requires { a.tickets; }) return a.tickets;
  else return nullptr;
}

// Which task of a block follows, as one warp learns it.
template <class Op> class task_order {
 public:
  TK_DEVICE task_order(block_memory<Op>& m, typename Op::args const& a) : memory_(m), args_(a) {}
  // When task `now` begins.
  TK_DEVICE void begin(int now) {
    next_ = now + ptx::blocks();
    if (auto* const tickets = tickets_of(args_)) {
      next_ = unknown;
      if (ptx::thread() == 0)
        answer_ = ptx::blocks() + static_cast<int>(ptx::next_ticket(
                                      tickets, static_cast<unsigned>(Op::tasks(args_) - 1)));
      asked_ = true;
    }
  }
  // Whether next() is known; it is if this warp waits for it.
  TK_DEVICE bool know_next(bool waits) {
    if (next_ != unknown) return true;
    if (asked_ && ptx::thread() / warp_lanes == 0) tell();
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
  TK_DEVICE int next() const { return next_; }

 private:
  static constexpr int unknown = -1;
  TK_DEVICE void tell() {
    ptx::barrier_wait(ptx::smem(&memory_.ticket_barriers.empty[at_.slot]), at_.phase ^ 1);
    if (ptx::thread() == 0) {
      memory_.ticket[at_.slot] = answer_;
      ptx::barrier_arrive(ptx::smem(&memory_.ticket_barriers.full[at_.slot]));
    }
    asked_ = false;
  }
  block_memory<Op>& memory_;
  typename Op::args const& args_;
  int next_ = unknown, answer_ = 0;
  bool asked_ = false;
  ring_place<2> at_;
};

// The slots of steps, as a worker takes them, and how its warps fill them. The task that a warp
// computes and the one whose slots it fills lie in shared memory: registers are for tiles. (Objects
// know one another in one direction only: one that held its own address would not be kept in
// registers.)
template <class Op> class stage_ring {
 public:
  using args_type = typename Op::args;
  using task_type = typename Op::task;
  using own_ring = ring<typename Op::own, Op::own_slots>;

  TK_DEVICE stage_ring(block_memory<Op>& m, args_type const& a, worker w, task_order<Op>& order,
                       own_ring& own)
      : args_(a),
        worker_(w),
        order_(order),
        own_(own),
        tasks_(m.tasks[ptx::broadcast(ptx::thread() / warp_lanes)]),
        slots_(m.stages, m.stage_barriers, w.id(), Op::workers) {}

  // The task `now`, which begins.
  TK_DEVICE task_type const& begin(int now) {
    if (!ahead_) begin_filling(now);
    ahead_ = false;
    if constexpr (has_own<Op>) {
      if (own_.filled() == 0) {
        own_.await_free();
        put_own();
      }
    }
    return tasks_[filling_];
  }
  // Fills what is free; before a slot is taken that has not been filled, waits for it.
  TK_DEVICE typename Op::stage& take() {
    while (step_ < tasks_[filling_].steps || look_ahead()) {
      if (slots_.filled() == 0) slots_.await_free();
      else if (!slots_.is_free()) break;
      slots_.put([&](auto& s, arrival done) { Op::load(s, args_, tasks_[filling_], step_, done); });
      ++step_;
    }
    return slots_.take();
  }
  TK_DEVICE typename Op::stage& held(int i) { return slots_.held(i); }
  TK_DEVICE void release() { slots_.release(); }

 private:
  TK_DEVICE void begin_filling(int index) {
    filling_ ^= 1;
    step_ = 0;
    ptx::warp_sync();
    if (ptx::thread() % warp_lanes == 0) tasks_[filling_] = Op::task_at(args_, index, 0);
    ptx::warp_sync();
  }
  TK_DEVICE void put_own() {
    own_.put([&](auto& s, arrival done) {
      Op::load_own(s, args_, tasks_[filling_], worker_.id(), done);
    });
  }
  // Where this task's slots are all begun: goes on to the next task, if it is known and there is
  // one. Whether that has slots to fill.
  TK_DEVICE bool look_ahead() {
    if (ahead_ || !order_.know_next(false) || order_.next() >= Op::tasks(args_)) return false;
    begin_filling(order_.next());
    ahead_ = true;
    if constexpr (has_own<Op>)
      if (own_.is_free()) put_own();
    return tasks_[filling_].steps > 0;
  }

  args_type const& args_;
  worker worker_;
  task_order<Op>& order_;
  own_ring& own_;
  task_type (&tasks_)[2];
  ring<typename Op::stage, Op::stages> slots_;
  int step_ = 0, filling_ = 0;
  bool ahead_ = false;  // what is filled belongs to the next task
};

// What a worker of Op sees.
template <class Op> struct context {
  worker w;
  stage_ring<Op>& in;
  ring<typename Op::own, Op::own_slots>& own;
  ring<typename common_of<Op>::type, 1>& common;
  typename Op::scratch (&scratches)[Op::workers];
  typename Op::scratch& scratch;
  turns turn;
  meeting<Op::workers> all;
};

template <class Op>
TK_DEVICE void run_worker(block_memory<Op>& m, typename Op::args const& a, worker w) {
  task_order<Op> order(m, a);
  ring<typename Op::own, Op::own_slots> own(m.own[w.id()], m.own_barriers[w.id()]);
  ring<typename common_of<Op>::type, 1> common(m.commons, m.common_barriers, w.id(), Op::workers);
  stage_ring<Op> in(m, a, w, order, own);
  context<Op> c{w,         in,
                own,       common,
                m.scratch, m.scratch[w.id()],
                {},        meeting<Op::workers>(m.meeting_barrier)};
  for (int i = ptx::block(); i < Op::tasks(a); i = order.next()) {
    order.begin(i);
    auto const& t = in.begin(i);
    if constexpr (has_common<Op>) {
      common.await_free();
      common.put([&](auto& s, arrival done) { Op::load_common(s, a, t, done); });
    }
    Op::compute(c, a, t);
    order.know_next(true);
  }
}

template <class Op> inline constexpr int block_threads = block_memory<Op>::lanes;
// Dynamic shared memory may begin anywhere.
template <class Op>
inline constexpr int block_smem_bytes = sizeof(block_memory<Op>) + tile_alignment;

template <class Op> TK_KERNEL(block_threads<Op>) run_block(TK_ARGUMENT typename Op::args const a) {
  static_assert(alignof(block_memory<Op>) <= tile_alignment);
  auto& m = *reinterpret_cast<block_memory<Op>*>(ptx::aligned_smem(tile_alignment));
  if (ptx::thread() == 0) m.init();
  ptx::sync_block();
  // A broadcast tells ptxas that the worker is the same in a whole warp.
  run_worker<Op>(m, a, worker{ptx::broadcast(ptx::thread() / worker_lanes)});
}

}  // namespace tk::be
