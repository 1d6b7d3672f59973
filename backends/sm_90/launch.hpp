// SPDX-License-Identifier: MIT
// Host side: kernel arguments from tensors, and the launch of a grid.
#pragma once
#include <algorithm>
#include <atomic>

#include "backends/sm_90/direct.hpp"
#include "backends/sm_90/block.hpp"

#include TK_VENDOR(runtime.hpp)

namespace tk::be {

// The map whose box is one panel of an R x C tile; false where TMA's rules don't hold.
template <int R, int C, class T> bool panel_map(rt::tensor_map& map, tensor<T> const& x) {
  using element = std::remove_const_t<T>;
  using tile = shared_tile<element, R, C>;
  static_assert(R <= 256, "TMA moves at most 256 rows of a tile");
  if (x.rows <= 0 || x.cols <= 0 || x.n0 <= 0 || x.n1 <= 0) return false;
  auto const bytes = [](std::int64_t n) { return static_cast<std::uint64_t>(n) * sizeof(element); };
  std::uint64_t const strides[] = {x.rows > 1 ? bytes(x.row_stride) : 16,
                                   x.n0 > 1 ? bytes(x.stride0) : 16,
                                   x.n1 > 1 ? bytes(x.stride1) : 16};
  rt::tensor_map_spec spec{};
  spec.base = const_cast<element*>(x.data);
  spec.element_bytes = sizeof(element);
  spec.is_bf16 = std::is_same_v<element, bf16>;
  for (int i = 0; i < 3; ++i) {
    if (strides[i] == 0 || strides[i] % 16 != 0 || strides[i] >> 40) return false;
    spec.strides[i] = strides[i];
  }
  std::int64_t const sizes[] = {x.cols, x.rows, x.n0, x.n1};
  for (int i = 0; i < 4; ++i) spec.sizes[i] = static_cast<std::uint64_t>(sizes[i]), spec.box[i] = 1;
  spec.box[0] = tile::panel_cols;
  spec.box[1] = R;
  spec.swizzle_bytes = tile::layout::row_bytes;
  return reinterpret_cast<std::uintptr_t>(x.data) % 16 == 0 && rt::encode(map, spec);
}

template <int R, int C, class T> source<T, R, C> read_from(tensor<T const> const& x) {
  source<T, R, C> s{};
  s.x = x;
  s.vector_width = vector_width_of(x);
  s.tma = panel_map<R, C>(s.map, x);
  return s;
}
template <int R, int C, class T> sink<T, R, C> write_to(tensor<T> const& x) {
  sink<T, R, C> s{};
  s.x = x;
  s.vector_width = vector_width_of(x);
  // A store clips a row to whole 16 bytes and would write past a shorter end (seen on an H200).
  s.tma = x.cols * sizeof(T) % 16 == 0 && panel_map<R, C>(s.map, x);
  return s;
}

template <direct_op Op> rt::launch_shape direct_shape(int tasks, int workers, void* stream) {
  return {tasks * Op::cluster, workers * worker_lanes, Op::cluster,
          static_cast<std::size_t>(direct_smem_bytes<Op>(workers) + company_smem_bytes<Op>()),
          stream};
}
template <class Op> rt::launch_shape block_shape(int teams, void* stream) {
  static_assert(block_threads<Op> <= 1024, "a block has up to 7 workers, and a producer");
  return {teams * Op::cluster, block_threads<Op>, Op::cluster, block_smem_bytes<Op>, stream};
}
// How many clusters of blocks of so many workers run at a time: the multiprocessors that may have
// company are fewer than all, on an H200 those of 15 clusters of 8, not 16 (2026-11-26). Kept from
// call to call, since the question takes long.
template <class Op> int clusters_at_a_time(int workers) {
  static std::atomic<std::uint64_t> known{0};  // of a device and a number of workers
  auto const of = static_cast<std::uint64_t>(rt::current_device() + 1) << 8 |
                  static_cast<std::uint64_t>(workers);
  if (auto const x = known.load(); x >> 32 == of) return static_cast<int>(x & 0xffffffff);
  auto const count = [&] {
    if constexpr (direct_op<Op>)
      return rt::clusters_at_a_time(run_direct_cluster<Op>, direct_shape<Op>(1, workers, nullptr));
    else return rt::clusters_at_a_time(run_block<Op>, block_shape<Op>(1, nullptr));
  }();
  known.store(of << 32 | static_cast<std::uint64_t>(count));
  return count;
}

template <class Op> void launch(typename Op::args const& a, void* stream) {
  int const tasks = Op::tasks(a);
  if (tasks == 0) return;
  rt::require_chip();
  if constexpr (direct_op<Op>) {
    auto const kernel = [] {
      if constexpr (Op::cluster > 1) return run_direct_cluster<Op>;
      else return run_direct<Op>;
    }();
    rt::launch(kernel, direct_shape<Op>(tasks, Op::workers_of(a), stream), a);
  } else {
    constexpr int abreast = blocks_per_unit<Op>();
    static_assert(
        abreast * (block_smem_bytes<Op> + reserved_smem_bytes) <= smem_bytes + reserved_smem_bytes,
        "the op's tiles exceed a block's shared memory");
    int most = rt::multiprocessors() * abreast / Op::cluster;
    if constexpr (company_of<Op>() > 1) most = std::max(clusters_at_a_time<Op>(Op::workers), 1);
    int const teams = std::min(tasks, most);
    with_timeline<Op>(teams * Op::cluster, stream,
                      [&] { rt::launch(run_block<Op>, block_shape<Op>(teams, stream), a); });
  }
}

}  // namespace tk::be
