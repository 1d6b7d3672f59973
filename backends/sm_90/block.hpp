// SPDX-License-Identifier: MIT
// The block template (core/block.hpp): one warpgroup moves data, `Op::workers` warpgroups compute.
// The producers, one warp for each ring, run ahead as far as slots are free, across tasks too.
// Blocks of a cluster walk their tasks together. Where they fetch shared tiles for one another, a
// slot is free when the workers of all of them have released it. Blocks are persistent. The
// producer of stages decides what comes next and tells the others by tickets: in fixed rounds, or,
// where the arguments have a counter `tickets` that is not null, on demand: the next task goes to
// whichever block asks first. The counter is zero before a launch and again after it.
#pragma once
#include <type_traits>
#include <utility>

#include "backends/sm_90/company.hpp"
#include "backends/sm_90/mma.hpp"
#include "backends/sm_90/sync.hpp"
#include "core/block.hpp"

namespace tk::be {

// A ticket: which task a block does next, and what that task is, found out once by the dealer.
template <class Op> struct ticket {
  int index;  // past the last task: there is none
  typename Op::task task;
};

// What all workers send at a time, on its way to a sender.
template <class Op> struct parcel {};
template <sending_op Op>
  requires(senders_of<Op>() > 0)
struct parcel<Op> {
  shared_partial<Op::sent::rows, Op::sent::cols> sums[Op::workers];
};

// The ring of each worker. As a base class it takes no room where slots are empty: a member of one
// byte would move the tiles that follow by their alignment, 1 KB.
template <class Slot, int N, int Workers> struct own_memory {
  ring_memory<Slot, N> rings[Workers];
  TK_DEVICE ring_memory<Slot, N>& own(int worker) { return rings[worker]; }
};
template <class Slot, int N, int Workers>
  requires std::is_empty_v<Slot>
struct own_memory<Slot, N, Workers> {
  TK_DEVICE ring_memory<Slot, N>& own(int) {
    return *reinterpret_cast<ring_memory<Slot, N>*>(this);
  }
};

template <block_op Op>
struct block_memory : own_memory<typename Op::own, Op::own_slots, Op::workers>,
                      resident_memory<Op> {
  using common = typename common_of<Op>::type;
  using company = block_company<company_of<Op>()>;
  static constexpr int senders = senders_of<Op>();
  static constexpr int producers = (has_own<Op> ? Op::workers : 0) + has_common<Op>;
  static_assert(producers + senders <= 3,
                "one warp moves stages, three are left for own and common tiles, and for senders");
  ring_memory<typename Op::stage, Op::stages> stages;
  ring_memory<common, 1> commons;
  typename Op::scratch scratch[Op::workers];
  parcel<Op> sent;
  ring_memory<ticket<Op>, 2> tickets;
  ring_barriers<Op::stages> stage_barriers;
  ring_barriers<Op::own_slots> own_barriers[Op::workers];
  ring_barriers<1> common_barriers;
  ring_barriers<2> ticket_barriers;
  ring_barriers<senders + (senders == 0)> parcel_barriers;  // of each sender
  std::uint64_t meeting_barrier;
  [[no_unique_address]] typename company::memory of_company;
  [[no_unique_address]] signal_barriers<signals_of<Op>()> signals;

  TK_DEVICE void init() {
    constexpr int readers = arrivals_of(worker_lanes), fillers = arrivals_of(warp_lanes);
    stage_barriers.init(Op::workers * slot_blocks_of<Op>() * readers, fillers);
    for (auto& b : own_barriers) b.init(readers, fillers);
    common_barriers.init(Op::workers * readers, fillers);
    meeting<Op::workers>::init(meeting_barrier);
    of_company.init();
    signals.init();
    parcel_barriers.init(fillers, Op::workers * readers);
    ticket_barriers.init(Op::workers * worker_lanes + (producers + senders) * warp_lanes, fillers);
    ptx::barrier_init_fence();
  }
};

// x, known to the compiler as the same in the whole warp: loops that depend on it stay uniform, and
// so do descriptors.
template <class X> TK_DEVICE X uniform(X const& x) {
  static_assert(std::is_trivially_copyable_v<X> && sizeof(X) % 4 == 0, "a task is of whole words");
  static_assert(std::is_standard_layout_v<X>,
                "a task has no base class: nvcc 13.0 takes the members after its for zero here");
  struct words {
    int w[sizeof(X) / 4];
  };
  auto y = __builtin_bit_cast(words, x);
  TK_UNROLL
  for (int& w : y.w) w = ptx::broadcast(w);
  return __builtin_bit_cast(X, y);
}

// The dealing end of tickets: every task this block does, and then one number past the last task.
template <class Op, class Do>
TK_DEVICE void deal(block_memory<Op>& m, typename Op::args const& a, int rank, int lane, Do body) {
  feed<ticket<Op>, 2> out(m.tickets, m.ticket_barriers, 0, lane);
  int const tasks = Op::tasks(a), teams = ptx::blocks() / Op::cluster;
  for (int i = ptx::block() / Op::cluster;;) {
    auto const task = i < tasks ? Op::task_at(a, i, rank) : typename Op::task{};
    out.put([&](ticket<Op>& slot, arrival) {
      if (lane == 0) slot = {i, task};
    });
    if (i >= tasks) return;
    body(task);
    i += teams;
    if constexpr (Op::cluster == 1 && requires { a.tickets; }) {  // else blocks would differ
      if (a.tickets) {
        if (lane == 0) i = teams + static_cast<int>(ptx::next_ticket(a.tickets, tasks - 1));
        i = ptx::broadcast(i);
      }
    }
  }
}
// The receiving end.
template <class Op, class Do>
TK_DEVICE void for_each_ticket(block_memory<Op>& m, typename Op::args const& a, int lane, Do body) {
  ring<ticket<Op>, 2, 1> in(m.tickets, m.ticket_barriers, lane);
  int const tasks = Op::tasks(a);
  for (;;) {
    auto const next = uniform(in.take());
    in.release_by_lane();
    if (next.index >= tasks) return;
    body(next.task);
  }
}

// The workers' end of the way out, and the end of the senders, a warp each, who take turns: while
// one is busy with a parcel that has left, the next one fills the same place.
template <class Op> class outbox {
 public:
  static constexpr int senders = senders_of<Op>();
  TK_DEVICE outbox(parcel<Op>& m, ring_barriers<senders>& b, worker w)
      : memory_(m), barriers_(b), worker_(w) {}
  template <class X> TK_DEVICE void send(typename Op::task const&, int, X const& x) {
    ptx::barrier_wait(ptx::smem(&barriers_.empty[before_.slot]), before_.phase);
    store(memory_.sums[worker_.id()], x);
    ptx::proxy_fence();
    worker_.sync();
    arrive_for_all(ptx::smem(&barriers_.full[at_.slot]), worker_.lane());
    before_ = at_;
    at_.next();
  }

 private:
  parcel<Op>& memory_;
  ring_barriers<senders>& barriers_;
  worker worker_;
  ring_place<senders> at_, before_{senders - 1, 1};  // before the first one, none need leave
};
template <class Op>
TK_DEVICE auto outbox_of(block_memory<Op>& m, typename Op::args const& a, worker w) {
  if constexpr (senders_of<Op>() > 0) return outbox<Op>(m.sent, m.parcel_barriers, w);
  else return direct_outbox<Op, worker>{a, w};
}
struct sender {
  int lane;
  std::uint32_t empty;
  TK_DEVICE static int id() { return 0; }  // of the worker whose tile is the first
  TK_DEVICE bool leader() const { return lane == 0; }
  TK_DEVICE void sync() const { ptx::warp_sync(); }
  // The parcel has been read, by all lanes and by copies that they have begun.
  TK_DEVICE void release() const {
    ptx::warp_sync();
    arrive_for_all(empty, lane);
  }
};
template <class Op>
TK_DEVICE void deliver_all(block_memory<Op>& m, typename Op::args const& a, int index, int lane) {
  auto& barriers = m.parcel_barriers;
  sender const who{lane, ptx::smem(&barriers.empty[index])};
  int phase = 0, next = 0;  // whose sending is next
  for_each_ticket<Op>(m, a, lane, [&](auto const& t) {
    for (int n = 0; n < t.sends; ++n) {
      if (next == index) {
        Op::await_turn(who, a, t, n);
        ptx::barrier_wait(ptx::smem(&barriers.full[index]), phase);
        phase ^= 1;
        Op::deliver(who, a, t, n, m.sent.sums);
      }
      if (++next == senders_of<Op>()) next = 0;
    }
  });
}

// What a worker of Op sees.
template <class Op> struct context {
  worker w;
  ring<typename Op::stage, Op::stages, slot_blocks_of<Op>()> in;
  ring<typename Op::own, Op::own_slots, 1> own;
  ring<typename common_of<Op>::type, 1, 1> common;
  resident_view<Op> resident;
  typename Op::scratch (&scratches)[Op::workers];
  typename Op::scratch& scratch;
  decltype(outbox_of<Op>(std::declval<block_memory<Op>&>(),
                         std::declval<typename Op::args const&>(), worker{})) out;
  turns<Op::workers> turn;
  meeting_of_products<Op::workers> all;
  signals_of_block<signals_of<Op>()> signals;
  [[no_unique_address]] typename block_memory<Op>::company blocks;
  TK_DEVICE context(block_memory<Op>& m, typename Op::args const& a, worker w)
      : w(w),
        in(m.stages, m.stage_barriers, w.lane()),
        own(m.own(w.id()), m.own_barriers[w.id()], w.lane()),
        common(m.commons, m.common_barriers, w.lane()),
        resident(m.resident()),
        scratches(m.scratch),
        scratch(m.scratch[w.id()]),
        out(outbox_of<Op>(m, a, w)),
        turn{w},
        all(m.meeting_barrier),
        signals(m.signals),
        blocks(m.of_company) {}
};

// What the producer in warp `warp` does, with all its lanes.
template <class Op>
TK_DEVICE void move(block_memory<Op>& m, typename Op::args const& a, int warp, int rank) {
  using memory = block_memory<Op>;
  int const lane = ptx::thread() % warp_lanes, producer = warp - 1;
  if (warp == 0) {
    feed<typename Op::stage, Op::stages> out(m.stages, m.stage_barriers, rank, lane);
    deal<Op>(m, a, rank, lane, [&](auto const& t) {
      for (int step = 0; step < t.steps; ++step)
        out.put([&](auto& s, arrival done) { Op::load(s, a, t, step, done); });
    });
  } else if (has_common<Op> && producer == memory::producers - 1) {
    if constexpr (has_common<Op>) {
      feed<typename memory::common, 1> out(m.commons, m.common_barriers, rank, lane);
      for_each_ticket<Op>(m, a, lane, [&](auto const& t) {
        out.put([&](auto& s, arrival done) { Op::load_common(s, a, t, done); });
      });
    }
  } else if (producer >= memory::producers) {
    if constexpr (memory::senders > 0) {
      if (producer < memory::producers + memory::senders)
        deliver_all<Op>(m, a, producer - memory::producers, lane);
    }
  } else {
    if constexpr (has_own<Op>) {
      feed<typename Op::own, Op::own_slots> out(m.own(producer), m.own_barriers[producer], rank,
                                                lane);
      for_each_ticket<Op>(m, a, lane, [&](auto const& t) {
        out.put([&](auto& s, arrival done) { Op::load_own(s, a, t, producer, done); });
      });
    }
  }
}

// What a worker does, a helper or another one, whose code has its own bound of registers.
template <class Op, bool Helps>
TK_DEVICE void run_worker(block_memory<Op>& m, typename Op::args const& a, worker w) {
  context<Op> c(m, a, w);
  c.turn.start();
  if constexpr (has_resident<Op>) {
    Op::fill_resident(w, m.resident(), a);
    c.all.arrive();
    c.all.await();
  }
  // Inlined always: a function of its own would have spills that the kernel's figures don't show.
  for_each_ticket<Op>(m, a, w.lane(), [&](auto const& t) __attribute__((always_inline)) {
    note(event::task);
    if constexpr (Helps) Op::help(c, a, t);
    else Op::compute(c, a, t);
    ptx::warp_sync();  // else ptxas 13.0 holds the loop for divergent, and addresses not for
                       // uniform
    note(event::done);
  });
  if (w.leader()) ptx::tma_store_done();
}

// What each helper gives up.
template <class Op> constexpr int lent_of() {
  if constexpr (requires { Op::lent; }) return Op::lent;
  else return lent_registers;
}

template <class Op> inline constexpr int block_threads = worker_lanes * (Op::workers + 1);
// Dynamic shared memory may begin anywhere.
template <class Op>
inline constexpr int block_smem_bytes = sizeof(block_memory<Op>) + tile_alignment;

template <class Op>
TK_SHARING_KERNEL(block_threads<Op>, blocks_per_unit<Op>())
run_block(TK_ARGUMENT typename Op::args const a) {
  constexpr int abreast = blocks_per_unit<Op>(), registers = worker_registers(Op::workers, abreast);
  static_assert(producer_registers(Op::workers) + Op::workers * registers <=
                    (Op::workers + 1) * launch_registers(Op::workers, abreast),
                "warpgroups would wait for registers for ever");
  auto& m = *reinterpret_cast<block_memory<Op>*>(ptx::aligned_smem(tile_alignment));
  if (ptx::thread() == 0) {
    m.init();
    begin_timeline();
  }
  ptx::sync_block();
  int const rank = Op::cluster > 1 ? ptx::cluster_rank() : 0;
  if constexpr (Op::cluster > 1) ptx::cluster_sync();
  // A broadcast tells ptxas that the role is the same in a whole warp, so that descriptors and ring
  // positions live in uniform registers.
  int const group = ptx::broadcast(ptx::thread() / worker_lanes);
  if (group == 0) {
    ptx::give_registers<producer_registers(Op::workers)>();
    move<Op>(m, a, ptx::broadcast(ptx::thread() / warp_lanes), rank);
  } else if constexpr (constexpr int helpers = helpers_of<Op>(); helpers > 0) {
    constexpr int others = Op::workers - helpers, lent = lent_of<Op>();
    if (group > others) {
      if constexpr (constexpr int left = registers - lent;
                    left < launch_registers(Op::workers, abreast))
        ptx::give_registers<left>();
      else ptx::take_registers<left>();
      run_worker<Op, true>(m, a, worker{group - 1});
    } else {
      ptx::take_registers<(Op::workers * registers - helpers * (registers - lent)) / others / 8 *
                          8>();
      run_worker<Op, false>(m, a, worker{group - 1});
    }
  } else {
    ptx::take_registers<registers>();
    run_worker<Op, false>(m, a, worker{group - 1});
  }
  if constexpr (Op::cluster > 1) ptx::cluster_sync();
}

}  // namespace tk::be
