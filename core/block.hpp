// SPDX-License-Identifier: MIT
// The block template's contract with an op. A launch has tasks(args) tasks; a block does some of
// them, one after another, with Op::workers workers. For each task
//   load(stage, args, task, step, done)      fills the slot of one step, 0 <= step < task.steps
//   load_own(own, args, task, worker, done)  fills what one worker reads through the whole task
//   load_common(common, args, task, done)    fills what all of them do (optional); it is one for
//                                            all, and they may write to it, too
//   compute(context, args, task)             runs once per worker
// A worker takes every slot once, in order.
// The backend decides who runs what, and when. In compute, context has
//   w                     this worker: id(), lane(), leader(), sync()
//   in, own, common       rings: take() the next slot, release() the oldest one taken
//   in.try_wait()         asks early whether the next slot is full; optional
//   in.refill()           fills slots that have been given back, as take() does; optional
//   in.peek(i)            of the slots taken and not released, the i-th, the oldest first
//   skip(context, n)      takes the next n slots and gives them back unread
//   pass_slot(context)    does so with one, faster where lanes meet often enough
//   release_loaded(w, ring)  releases the oldest slot, of which lanes have loaded what they want
//   scratch, scratches    this worker's own scratch memory, and every worker's
//   turn.await()/pass()   workers in turn, as often each in a task; that orders no memory
//   all.arrive()/await()  the workers' barrier in two halves
//   signals.send(i)       says to one worker, who awaits the i-th signal as often as it is sent,
//   signals.await(i)      that what this one stored in shared memory, or read there, is settled
//   out.send(task, n, tile)  hands over a tile of sums, the n-th of this worker and task, to
//                            Op::deliver (below); all workers send alike
// All workers of a block take and release the same slots in the same order.
// An op with `static constexpr int helpers` above 0 has workers of two kinds: the last so many run
//   help(context, args, task)                in place of compute; they need fewer registers, each
//                                            `lent` fewer if the op has such a constant.
// An op with `static constexpr int signals` above 0 has so many of them.
// Of an op with `static constexpr int blocks_per_unit` so many blocks share a multiprocessor, where
// blocks of the chip can; else one has it alone.
// An op with a struct `resident` keeps it in shared memory while a block lives: every worker calls
//   fill_resident(w, resident, args)   once, before the block's first task; it fills its share,
// which may be none, and context has it as `resident`. Workers that change it tell one another.
// An op whose workers send has
//   sent = reg_tile<float, R, C>       the tile
//   await_turn(who, args, task, n)     returns when it may be delivered
//   deliver(who, args, task, n, sums)  stores or adds it, by one word of core/partial_tiles.hpp
//   senders                            how many producer warps take turns at it; 0: none, and so on
//                                      every chip without be::has_senders
// and its task counts the tiles that each worker sends in `sends`. Both functions are called once
// for each tile, in the order of n, with that tile and its worker as `who`; or, where producer
// warps do it while workers go on, once for the tiles of all workers, which lie one after another.
//
// An op with `static constexpr int per_unit` above 0 has no slots: its workers load for themselves.
// So many of its blocks share a multiprocessor, which limits their registers; each does one task,
// with the first workers_of(args) of Op::workers. Its context has w, scratch, scratches, all and
//   workers               how many there are
//   blocks                where cluster is above 1: the company of its blocks, which do a task
//                         together
// An op with slots whose cluster's blocks each fill their own, and load nothing for one another,
// says `static constexpr bool loads_alone = true`; its context has `blocks`, too.
//
// An op with `static constexpr bool accumulates = true` takes its slots by accumulate() alone, once
// a task and all of them (core/accumulate.hpp), and has neither own nor common. Its tiles lie
// evenly: those of step s are s times as far from those of step 0 as those of step 1.
#pragma once
#include <concepts>
#include <type_traits>

#include "core/shared.hpp"
#include "core/tile.hpp"

#include TK_BACKEND(copy.hpp)

namespace tk {

struct no_memory {};

template <class Op> struct common_of {
  using type = no_memory;
};
template <class Op>
  requires requires { typename Op::common; }
struct common_of<Op> {
  using type = typename Op::common;
};
template <class Op> inline constexpr bool has_own = !std::is_empty_v<typename Op::own>;
template <class Op>
inline constexpr bool has_common = !std::is_empty_v<typename common_of<Op>::type>;

template <class Op> struct resident_of {
  using type = no_memory;
};
template <class Op>
  requires requires { typename Op::resident; }
struct resident_of<Op> {
  using type = typename Op::resident;
};
template <class Op>
inline constexpr bool has_resident = !std::is_empty_v<typename resident_of<Op>::type>;
// As a base class of a block's memory it takes no room where there is none.
template <class Op> struct resident_memory {
  TK_DEVICE no_memory resident() const { return {}; }
};
template <class Op>
  requires has_resident<Op>
struct resident_memory<Op> {
  typename Op::resident kept;
  TK_DEVICE typename Op::resident& resident() { return kept; }
};
// What a context has of it.
template <class Op> struct resident_in_context {
  using type = no_memory;
};
template <class Op>
  requires has_resident<Op>
struct resident_in_context<Op> {
  using type = typename Op::resident&;
};
template <class Op> using resident_view = typename resident_in_context<Op>::type;

template <class Op> constexpr int helpers_of() {
  if constexpr (requires { Op::helpers; }) return Op::helpers;
  else return 0;
}
// What a worker does in a task.
template <class Op, class Context>
TK_DEVICE void work(Context& c, typename Op::args const& a, typename Op::task const& t) {
  if constexpr (helpers_of<Op>() > 0)
    if (c.w.id() >= Op::workers - helpers_of<Op>()) return Op::help(c, a, t);
  Op::compute(c, a, t);
}

template <class Op> constexpr int signals_of() {
  if constexpr (requires { Op::signals; }) return Op::signals;
  else return 0;
}

template <class Op> constexpr int blocks_per_unit() {
  if constexpr (requires { Op::blocks_per_unit; }) return Op::blocks_per_unit;
  else return 1;
}

// Blocks of a cluster that read a slot, and those of a context's `blocks`.
template <class Op> constexpr int slot_blocks_of() {
  if constexpr (requires { requires Op::loads_alone; }) return 1;
  else return Op::cluster;
}
template <class Op> constexpr int company_of() { return Op::cluster / slot_blocks_of<Op>(); }

template <class Op>
concept sending_op = requires { typename Op::sent; };
template <class Op> constexpr int senders_of() {
  if constexpr (sending_op<Op>) return Op::senders;
  else return 0;
}
// Where workers deliver what they send themselves.
template <class Op, class Worker> struct direct_outbox {
  typename Op::args const& args;
  Worker w;
  template <class X> TK_DEVICE void send(typename Op::task const& t, int n, X const& x) const {
    Op::await_turn(w, args, t, n);
    Op::deliver(w, args, t, n, x);
  }
};

// Takes the next slots and gives them back unread.
template <class Context> TK_DEVICE void skip(Context& c, int slots) {
  for (; slots > 0; --slots) {
    c.in.take();
    c.w.sync();  // all lanes have taken what one gives back
    c.in.release();
  }
}
// The next slot alone, by a worker that holds none and whose lanes meet once in as many slots as
// there are: they need not all wait for it.
template <class Context> TK_DEVICE void pass_slot(Context& c) {
  if constexpr (requires { c.in.pass(); }) c.in.pass();
  else skip(c, 1);
}

// Gives back the oldest slot when all lanes of the worker have in registers what they loaded from
// it. A barrier alone does not say so: loads may still be on their way, and the next copy overtakes
// them.
template <class Worker, class Ring> TK_DEVICE void release_loaded(Worker const& w, Ring& ring) {
  be::publish_shared();
  w.sync();
  ring.release();
}

template <class Op>
concept direct_op = requires { requires Op::per_unit > 0; };
template <class Op>
concept accumulating_op = requires { requires Op::accumulates; };

template <class Op>
concept block_op = requires(typename Op::args const& a) {
  typename Op::stage;
  typename Op::own;
  typename Op::scratch;
  typename Op::task;
  { Op::workers } -> std::convertible_to<int>;
  { Op::cluster } -> std::convertible_to<int>;
  { Op::stages } -> std::convertible_to<int>;
  { Op::own_slots } -> std::convertible_to<int>;
  { Op::tasks(a) } -> std::same_as<int>;
  { Op::task_at(a, 0, 0) } -> std::same_as<typename Op::task>;
  { Op::task_at(a, 0, 0).steps } -> std::convertible_to<int>;
};

}  // namespace tk
