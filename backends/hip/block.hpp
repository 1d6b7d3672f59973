// SPDX-License-Identifier: MIT
// The block template (core/block.hpp): every wave of a block is a worker, and all of them load.
// Blocks are persistent. Tasks come in fixed rounds or, where the arguments have a counter
// `tickets` that is not null, on demand: a block asks for its next task when it begins one. The
// counter is zero before a launch and again after it.
#pragma once
#include "backends/hip/mma.hpp"
#include "backends/hip/sync.hpp"
#include "core/block.hpp"

namespace tk::be {

template <block_op Op> struct block_memory : resident_memory<Op> {
  static_assert(Op::cluster == 1, "this chip has no clusters");
  ring_memory<typename Op::stage, Op::stages> stages;
  typename Op::own own[Op::workers];
  typename common_of<Op>::type common;
  typename Op::scratch scratch[Op::workers];
  int ticket[2];
  [[no_unique_address]] signal_memory<signals_of<Op>()> signals;
};

// What a worker of Op sees.
template <class Op, class In, class Own, class Common> struct context {
  worker w;
  In in;
  Own own;
  Common common;
  resident_view<Op> resident;
  typename Op::scratch (&scratches)[Op::workers];
  typename Op::scratch& scratch;
  direct_outbox<Op, worker> out;
  turns turn;
  meeting all;
  signals_of_block<signals_of<Op>()>& signals;
};

template <class Op>
TK_DEVICE void run_task(block_memory<Op>& m, typename Op::args const& a, int i, int wave,
                        signals_of_block<signals_of<Op>()>& signals) {
  auto const t = gcn::uniform(Op::task_at(a, i, 0));
  [[maybe_unused]] int copies = 0;
  if constexpr (has_own<Op>) Op::load_own(m.own[wave], a, t, wave, arrival{0, 1, copies});
  if constexpr (has_common<Op>) Op::load_common(m.common, a, t, arrival{wave, Op::workers, copies});
  auto const load = [&](auto& s, int step, arrival done) { Op::load(s, a, t, step, done); };
  shared_ring<typename Op::stage, Op::stages, Op::workers, decltype(load)> in(m.stages, load, wave,
                                                                              t.steps);
  auto const own_there = [] {
    gcn::wait_copies<0>();
    gcn::sync_wave();
  };
  auto const common_there = [] {
    gcn::wait_copies<0>();
    gcn::sync_block();
  };
  filled_once own(m.own[wave], own_there);
  filled_once common(m.common, common_there);
  context<Op, decltype(in)&, decltype(own), decltype(common)> c{
      {wave},          in,          own, common, m.resident(), m.scratch,
      m.scratch[wave], {a, {wave}}, {},  {},     signals};
  work<Op>(c, a, t);
}

template <class Op> inline constexpr int block_threads = worker_lanes * Op::workers;

template <class Op>
TK_KERNEL(block_threads<Op>)
run_block(TK_ARGUMENT typename Op::args const a, int blocks) {
  auto& m = gcn::lds<block_memory<Op>>();
  int const tasks = Op::tasks(a), wave = gcn::broadcast(gcn::thread() / warp_lanes);
  unsigned* tickets = nullptr;
  if constexpr (requires { a.tickets; }) tickets = a.tickets;
  if constexpr (has_resident<Op>) {
    Op::fill_resident(worker{wave}, m.resident(), a);
    gcn::sync_block();
  }
  signals_of_block<signals_of<Op>()> signals(m.signals);
  if constexpr (signals_of<Op>() > 0) {
    if (gcn::thread() == 0) m.signals.clear();
    gcn::sync_block();
  }
  int next = 0;
  for (int i = gcn::block(), round = 0; i < tasks; ++round) {
    if (tickets && gcn::thread() == 0)
      next = blocks + static_cast<int>(gcn::next_ticket(tickets, static_cast<unsigned>(tasks - 1)));
    run_task<Op>(m, gcn::reread(a), i, gcn::opaque(wave), signals);
    if (tickets && gcn::thread() == 0) m.ticket[round % 2] = next;
    gcn::sync_block();
    i = tickets ? gcn::broadcast(m.ticket[round % 2]) : i + blocks;
  }
}

}  // namespace tk::be
