// SPDX-License-Identifier: MIT
// The block template (core/block.hpp): a thread does one task after another, loading a slot when
// compute takes it. Where an op has several workers, each is a thread of its own for the time of a
// task, so that they can wait for one another.
#pragma once
#include <thread>

#include "backends/host/mma.hpp"
#include "backends/host/sync.hpp"
#include "core/block.hpp"

namespace tk::be {

template <block_op Op> struct worker_memory {
  typename Op::stage stages[Op::stages];
  typename Op::own own[Op::own_slots];
};
template <class Op> struct block_memory : resident_memory<Op> {
  worker_memory<Op> of[Op::workers];
  typename common_of<Op>::type common[1];
  typename Op::scratch scratch[Op::workers];
};
template <class Op> struct meeting_place {
  typename meeting<Op::workers>::shared all;
  typename signals_of_block<signals_of<Op>()>::shared signals;
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
  meeting<Op::workers> all;
  signals_of_block<signals_of<Op>()> signals;
};

template <class Op>
void run_worker(block_memory<Op>& m, meeting_place<Op>& place, typename Op::args const& a,
                typename Op::task const& t, int id) {
  auto& mine = m.of[id];
  auto const fill_stage = [&](auto& s, int step, arrival done) { Op::load(s, a, t, step, done); };
  auto const fill_own = [&]([[maybe_unused]] auto& s, int, arrival done) {
    if constexpr (has_own<Op>) Op::load_own(s, a, t, id, done);
  };
  ring in(mine.stages, fill_stage);
  ring own(mine.own, fill_own);
  ring common(m.common, [](auto&, int, arrival) {});  // run_task has filled it
  context<Op, decltype(in), decltype(own), decltype(common)> c{
      {id},
      in,
      own,
      common,
      m.resident(),
      m.scratch,
      m.scratch[id],
      {a, {id}},
      {},
      meeting<Op::workers>(place.all),
      signals_of_block<signals_of<Op>()>(place.signals)};
  work<Op>(c, a, t);
  stores_settle();
}

// Of all workers, one after another.
template <class Op> void fill_resident(block_memory<Op>& m, typename Op::args const& a) {
  if constexpr (has_resident<Op>)
    for (int id = 0; id < Op::workers; ++id) Op::fill_resident(worker{id}, m.resident(), a);
}

template <class Op>
void run_task(block_memory<Op>& m, typename Op::args const& a, typename Op::task const& t) {
  meeting_place<Op> place;
  if constexpr (has_common<Op>) Op::load_common(m.common[0], a, t, arrival{});
  if constexpr (Op::workers == 1) {
    run_worker(m, place, a, t, 0);
  } else {
    std::jthread others[Op::workers - 1];
    for (int id = 1; id < Op::workers; ++id)
      others[id - 1] = std::jthread([&, id] { run_worker(m, place, a, t, id); });
    run_worker(m, place, a, t, 0);
  }
}

}  // namespace tk::be
