// SPDX-License-Identifier: MIT
// Runs device code on the CPU, lane by lane. Every lane is a fiber; a backend's intrinsics.hpp is
// replaced by one that calls what follows, and nothing else of the backend changes. Ordinary loads
// and stores are the CPU's own. Everything is in tk::emulator; errors are thrown as tk::error.
//
// Host side
//   launch(blocks, threads, warp_lanes, cluster, smem_bytes, body)   runs body() once per lane and
//     returns when all have ended; throws tk::error(runtime_error, report). `threads` is a multiple
//     of warp_lanes (32 or 64), `blocks` of cluster. Blocks of a cluster run together; other blocks
//     run one after another on each OS thread, and side by side where one polls for another and
//     the multiprocessors have room.
//   launch(shape, settings, body)   the same with settings other than those of the environment:
//     TK_EMULATE_SEED      0 (default): in turn (schedule.hpp), and the hardware's own work as late
//                          as possible; else a random schedule of lanes, blocks and that work
//     TK_EMULATE_THREADS   OS threads for independent blocks (default: as many as the CPU has)
//     TK_EMULATE_MULTIPROCESSORS   what multiprocessors() says (default 4)
// Device side (`where` is the source line that reports name; by default the caller's)
//   thread_index() lane_index() warp_index() block_index() block_count() block_threads()
//   cluster_rank() cluster_blocks()
//   shared_memory()           this block's dynamic shared memory: 16-byte aligned, not more
//   shared_address(pointer)   32-bit address: offset, and the block's rank from bit 24 on
//   shared_pointer<T>(address)  to_rank(address, rank)
//   collective(operand, f, what, where)   all lanes of the warp meet; the last one runs
//     f(T* const* operands), indexed by lane; then all go on. Orders no memory. A lane that has
//     ended, or one that comes with another `what`, is an error.
//   sync_warp(where)  sync_block(where)  sync_cluster(where)        barriers that order memory
//   named_sync(id, lanes, where)  named_arrive(id, lanes, where)    id 0 to 15 (0 is sync_block's)
//   later(f)  wait_later(n)   work of this lane that finishes late and in order: f runs when n
//     later ones at most may be left (or earlier, at random); it captures trivially copyable
//     values
//   poll(p, where)            acquire load of an integer that another lane or block will change
//   atomic_add(p, x)          float, 16-bit float types, integers; returns the old value
//   agree(value, what, where)  (agreement.hpp) all lanes of the warp bring the same value, each in
//     its own time: the hardware takes one for all
//   fail(sentence, where)     stops the launch with a report; does not return
// Found without being asked: deadlocks (with each warp's line), divergent collectives, wrong
// counts, stores past the end of shared memory, work in flight when a lane or block ends, stores
// that no barrier orders before the hardware's accesses. Shared memory starts as NaN (bytes 0xff).
// A barrier missing between ordinary stores and loads shows in some round (schedule.hpp), surely to
// ThreadSanitizer, to which lanes, copy and product units are threads; between blocks best under a
// seed. Objects on the stacks of lanes that a failure leaves behind are not destroyed. Models of
// sm_90 on top: mbarrier.hpp, async_view.hpp (proxy fences, stmatrix), bulk.hpp, tma.hpp,
// wgmma.hpp, registers.hpp. Not modelled: time, bank conflicts, the products' accumulation order.
#pragma once
#include "backends/emulator/machine.hpp"
#include "backends/emulator/collective.hpp"
#include "backends/emulator/barrier.hpp"
#include "backends/emulator/memory.hpp"
#include "backends/emulator/launch.hpp"
