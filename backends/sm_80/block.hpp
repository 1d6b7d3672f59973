// SPDX-License-Identifier: MIT
// The block template (core/block.hpp): all warps move data and compute; producers would cost the
// others a third of their registers. The warps fill slots in turn, half a ring ahead, for the next
// task, too; what differs for an op that accumulates is in stream.hpp. Blocks are persistent. Tasks
// come in fixed rounds or, where the arguments have a counter `tickets` that is not null, on
// demand: towards the end of a task the first warp asks for the block's next one, and tells the
// others. (A block that asked early would keep a task waiting, and those that wait for it, while
// free blocks do later ones.) The counter is zero before a launch and again after it.
#pragma once
#include "backends/sm_80/stream.hpp"
#include "backends/sm_80/sync.hpp"
#include "core/block.hpp"

namespace tk::be {

template <class Op> inline constexpr int warps_of = Op::workers * worker_warps;
// The rings of an op, as a warp sees them.
template <class Op> using stages_of = ring<typename Op::stage, Op::stages, warps_of<Op>>;
template <class Op> using own_of = ring<typename Op::own, Op::own_slots, worker_warps>;
template <class Op> using common_ring = ring<typename common_of<Op>::type, 1, warps_of<Op>>;

template <block_op Op> struct block_memory : resident_memory<Op> {
  static_assert(Op::cluster == 1, "this chip has no clusters");
  ring_memory<typename Op::stage, Op::stages> stages;
  ring_memory<typename Op::own, Op::own_slots> own[Op::workers];
  ring_memory<typename common_of<Op>::type, 1> commons;
  typename Op::scratch scratch[Op::workers];
  int ticket[2];
  typename Op::task tasks[warps_of<Op>][2];  // of each warp
  ring_barriers<Op::stages> stage_barriers;
  ring_barriers<Op::own_slots> own_barriers[Op::workers];
  ring_barriers<1> common_barriers;
  ring_barriers<2> ticket_barriers;
  std::uint64_t meeting_barrier;
  [[no_unique_address]] signal_barriers<signals_of<Op>()> signals;

  TK_DEVICE void init() {
    stages_of<Op>::init(stage_barriers);
    for (auto& b : own_barriers) own_of<Op>::init(b);
    common_ring<Op>::init(common_barriers);
    ticket_barriers.init(warps_of<Op> * arrivals_of(warp_lanes), 1);
    meeting<Op::workers>::init(meeting_barrier);
    signals.init();
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
    next_ = tickets_of(args_) ? unknown : now + ptx::blocks();
    told_ = false;
  }
  // When it is time to ask for the next one, or after.
  TK_DEVICE void ask() {
    if (asked_ || told_ || next_ != unknown || ptx::thread() / warp_lanes != 0) return;
    if (ptx::thread() == 0)
      answer_ =
          ptx::blocks() + static_cast<int>(ptx::next_ticket(
                              tickets_of(args_), static_cast<unsigned>(Op::tasks(args_) - 1)));
    asked_ = true;
  }
  // Whether next() is known; it is if this warp waits for it.
  TK_DEVICE bool know_next(bool waits) {
    if (next_ != unknown) return true;
    if (waits) ask();
    if (asked_) tell();
    auto const full = ptx::smem(&memory_.ticket_barriers.full[at_.slot]);
    if (waits) ptx::barrier_wait(full, at_.phase);
    else if (!ptx::all(ptx::barrier_test(full, at_.phase))) return false;
    next_ = ptx::broadcast(memory_.ticket[at_.slot]);
    ptx::warp_sync();
    arrive_for_all(ptx::smem(&memory_.ticket_barriers.empty[at_.slot]), ptx::thread() % warp_lanes);
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
    asked_ = false, told_ = true;
  }
  block_memory<Op>& memory_;
  typename Op::args const& args_;
  int next_ = unknown, answer_ = 0;
  bool asked_ = false, told_ = false;  // the first warp, for the task after this one
  ring_place<2> at_;
};

// The slots of steps, as a warp takes them and fills its own. The task that a warp computes and the
// next one lie in shared memory: registers are for tiles. (Objects know one another in one
// direction only: one that held its own address would not be kept in registers.)
template <class Op> class stage_ring {
 public:
  using args_type = typename Op::args;
  using task_type = typename Op::task;

  TK_DEVICE stage_ring(block_memory<Op>& m, args_type const& a, int worker, int warp,
                       task_order<Op>& order, own_of<Op>& own)
      : args_(a),
        worker_(worker),
        order_(order),
        own_(own),
        tasks_(m.tasks[warp]),
        slots_(m.stages, m.stage_barriers, warp),
        step_(warp / stages_of<Op>::fill_warps) {}

  // The task `now`, which begins.
  TK_DEVICE task_type const& begin(int now) {
    step_ -= steps_;
    current_ ^= 1;
    if (!knows_next_) find(current_, now);
    knows_next_ = false;
    steps_ = tasks_[current_].steps;
    if (step_ >= steps_ - soon) order_.ask();
    if constexpr (has_own<Op>)
      if (own_.is_due()) put_own(current_);
    return tasks_[current_];
  }
  TK_DEVICE typename Op::stage& take() {
    if (slots_.is_time()) [[unlikely]] {
      while (fill() && slots_.is_time()) {}
    }
    return slots_.take();
  }
  TK_DEVICE void try_wait() {}
  TK_DEVICE typename Op::stage& peek(int i) { return slots_.peek(i); }
  TK_DEVICE void release() { slots_.release(); }
  TK_DEVICE void refill() {
    if (slots_.is_time() && slots_.is_given_back()) fill();
  }

 private:
  // Steps of the first warp's slots before it needs to know the next task: two rounds of all warps.
  static constexpr int soon = 2 * stages_of<Op>::groups;
  // Fills this warp's next slot, if its step is known.
  TK_DEVICE bool fill() {
    if (step_ >= steps_ - soon) order_.ask();
    bool const later = step_ >= steps_;
    if (later && !look_ahead()) return false;
    task_type const t = tasks_[current_ ^ int{later}];
    int const step = later ? step_ - steps_ : step_;
    if (later && step >= t.steps) return false;
    slots_.put([&](auto& s, arrival done) { Op::load(s, args_, t, step, done); });
    step_ += slots_.groups;
    return true;
  }
  // Whether there is a next task, and it is known.
  TK_DEVICE bool look_ahead() {
    if (!knows_next_) {
      if (!order_.know_next(false) || order_.next() >= Op::tasks(args_)) return false;
      find(current_ ^ 1, order_.next());
      knows_next_ = true;
    }
    return true;
  }
  TK_DEVICE void find(int task, int index) {
    set_for_warp(tasks_[task], [&] { return Op::task_at(args_, index, 0); });
  }
  TK_DEVICE void put_own(int task) {
    own_.put([&](auto& s, arrival done) { Op::load_own(s, args_, tasks_[task], worker_, done); });
  }

  args_type const& args_;
  int worker_;
  task_order<Op>& order_;
  own_of<Op>& own_;
  task_type (&tasks_)[2];
  stages_of<Op> slots_;
  int step_, steps_ = 0;  // what this warp fills next, as a step of the current task or past it
  int current_ = 0;       // of tasks_
  bool knows_next_ = false;
};

// What a worker of Op sees.
template <class Op> struct context {
  worker w;
  stage_ring<Op>& in;
  own_of<Op>& own;
  common_ring<Op>& common;
  resident_view<Op> resident;
  typename Op::scratch (&scratches)[Op::workers];
  typename Op::scratch& scratch;
  direct_outbox<Op, worker> out;
  turns turn;
  meeting<Op::workers> all;
  signals_of_block<signals_of<Op>()> signals;
};

template <class Op> TK_DEVICE void run_warp(block_memory<Op>& m, typename Op::args const& a) {
  // A broadcast tells ptxas that these are the same in a whole warp.
  int const warp = ptx::broadcast(ptx::thread() / warp_lanes), index = warp / worker_warps;
  worker const w{index};
  task_order<Op> order(m, a);
  own_of<Op> own(m.own[index], m.own_barriers[index], warp % worker_warps);
  common_ring<Op> common(m.commons, m.common_barriers, warp);
  stage_ring<Op> in(m, a, index, warp, order, own);
  if constexpr (has_resident<Op>) {
    Op::fill_resident(w, m.resident(), a);
    ptx::sync_block();
  }
  context<Op> c{w,
                in,
                own,
                common,
                m.resident(),
                m.scratch,
                m.scratch[index],
                {a, w},
                {},
                meeting<Op::workers>(m.meeting_barrier),
                signals_of_block<signals_of<Op>()>(m.signals)};
  for (int i = ptx::block(); i < Op::tasks(a); i = order.next()) {
    order.begin(i);
    auto const& t = in.begin(i);
    if constexpr (has_common<Op>) {
      if (common.is_due())
        common.put([&](auto& s, arrival done) { Op::load_common(s, a, t, done); });
    }
    work<Op>(c, a, t);
    order.know_next(true);
  }
}

// What a block of Op has in shared memory.
template <class Op> struct memory_for {
  using type = block_memory<Op>;
};
template <accumulating_op Op> struct memory_for<Op> {
  using type = stream_memory<Op>;
};
template <class Op> using memory_of = typename memory_for<Op>::type;

template <class Op> inline constexpr int block_threads = Op::workers * worker_lanes;
// Dynamic shared memory may begin anywhere.
template <class Op> inline constexpr int block_smem_bytes = sizeof(memory_of<Op>) + tile_alignment;

template <class Op>
TK_SHARING_KERNEL(block_threads<Op>, blocks_per_unit<Op>())
run_block(TK_ARGUMENT typename Op::args const a) {
  static_assert(alignof(memory_of<Op>) <= tile_alignment);
  auto& m = *reinterpret_cast<memory_of<Op>*>(ptx::aligned_smem(tile_alignment));
  if (ptx::thread() == 0) m.init();
  ptx::sync_block();
  run_warp<Op>(m, a);
}

}  // namespace tk::be
