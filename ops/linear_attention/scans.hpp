// SPDX-License-Identifier: MIT
// The members of scans<Family>.
#pragma once
#include "core/element.hpp"
#include "ops/linear_attention/rows.hpp"
#include "ops/linear_attention/scan.hpp"

namespace tk {

template <class T, int D, class Family> struct chunk_scan_run {
  static scan_sizes sizes();
  static void launch(scan_problem const& x, void* stream);
};
template <class T, class Family> struct token_step_run {
  static void launch(scan_problem const& x, int C, void* stream);
};
template <class T> struct chunk_decays_run {
  static void launch(decays_to_sum<T> const& x, void* stream);
};

// Calls `body` with the compiled instance of a type and number of columns.
template <class Family, class T, class Body> auto with_columns(int columns, Body const& body) {
  if (columns <= 64) return body(chunk_scan_run<T, 64, Family>{});
  if (columns <= 128) return body(chunk_scan_run<T, 128, Family>{});
  return body(chunk_scan_run<T, 256, Family>{});
}
template <class Family, class Body>
auto with_instance(element type, int columns, Body const& body) {
  return type == element::bf16 ? with_columns<Family, bf16>(columns, body)
                               : with_columns<Family, fp16>(columns, body);
}

template <class Family>
scans<Family>::scans(heads const& like, std::int64_t columns, token_decays const& decays,
                     sequence_starts const& starts)
    : type_(like.type),
      columns_(static_cast<int>(columns)),
      decays_(decays),
      rows_(rows_of(like, starts)),
      sizes_(with_instance<Family>(type_, columns_, [](auto run) { return run.sizes(); })) {}

// What the instance of a scan of d columns of q is called by.
template <class Family> int scans<Family>::columns_for(std::int64_t d) const {
  int const own = static_cast<int>(d);
  auto const sizes = with_instance<Family>(type_, own, [](auto run) { return run.sizes(); });
  return sizes.C == sizes_.C && sizes.segment == sizes_.segment ? own : columns_;
}
template <class Family> scan_sizes scans<Family>::sizes_of(std::int64_t d) const {
  return with_instance<Family>(type_, columns_for(d), [](auto run) { return run.sizes(); });
}

template <class Family> void scans<Family>::lay_out_decays(workspace_layout& w) {
  if (!decays_.given) return;
  std::size_t const chunks =
      decays_.of_heads ? 1 : static_cast<std::size_t>(rows_.blocks(sizes_.C));
  table_ = w.add(chunks * static_cast<std::size_t>(rows_.h) * sizes_.C * sizeof(float));
}

template <class Family> int scans<Family>::segments_of_walk(shape const& x) const {
  auto const sizes = sizes_of(x.d);
  // A step that leaves meetings takes five times as long as one that sums a segment.
  return tk::segments_of_walk(rows_, sizes.C * sizes.segment,
                              sizes.tasks(rows_.h, x.shares, x.columns), x.meets ? 1 : 3);
}

// What takes the least time, in quarters of a chunk's outputs of so many units as a task has: a
// task begins in 3, and a sum is added to that in 2; another launch takes 8, a task of it 12, and a
// chunk to sum 9 / 4. A keeper and its readers (chunk_walk.hpp) have a chunk of one unit in 7 / 3.
template <class Family>
typename scans<Family>::side_cut scans<Family>::cut_side_by_side(shape const& x) const {
  auto const sizes = sizes_of(x.d);
  if (sizes.side_units == 0 || rows_.is_packed || rows_.n <= 1 || rows_.b == 0 || rows_.h == 0)
    return {};
  int const chunks = ceil_div(rows_.n, sizes.C), sharing = x.shares.both(),
            units = sharing * sizes.units(x.columns);
  auto const rounds = [&](int walks, int at_once) {
    std::int64_t const all = be::rt::multiprocessors(), tasks = std::int64_t{rows_.b} *
                                                                (rows_.h / sharing) *
                                                                ceil_div(units, at_once) * walks;
    return (tasks + all - 1) / all;
  };
  side_cut best{};
  std::int64_t least = rounds(1, 1) * chunks * 7 / 3;
  auto const consider = [&](std::int64_t cost, side_cut const& cut) {
    if (cost < least) least = cost, best = cut;
  };
  consider(rounds(1, sizes.side_units) * (4 * chunks + 3), {chunks, 0});
  for (int walks = 2; walks <= 8; ++walks)
    for (int parts = 1; parts <= 6; ++parts) {
      int const each_sum = ceil_div(chunks, walks * parts), each = each_sum * parts,
                sums = (walks - 1) * parts;
      if (ceil_div(chunks, each) != walks) continue;
      std::int64_t const cost = rounds(walks, sizes.side_units) * (4 * each + 3 + 2 * sums) + 8 +
                                rounds(sums, sizes.summers) * (9 * each_sum / 4 + 12);
      consider(cost, {each, each_sum});
    }
  return best;
}

template <class Family>
std::size_t scans<Family>::lay_out_states(workspace_layout& w,
                                          std::initializer_list<shape> shapes) const {
  std::int64_t size = 0;
  for (auto const& x : shapes)
    if (segments_of_walk(x) > 0) size = std::max(size, sizes_of(x.d).state_size(x.columns));
  if (size == 0) return 0;
  std::size_t const blocks = static_cast<std::size_t>(rows_.blocks(sizes_.C * sizes_.segment));
  return w.add(blocks * static_cast<std::size_t>(rows_.h * size) * sizeof(float));
}

template <class Family> void scans<Family>::sum_decays(void* workspace, void* stream) const {
  if (!decays_.given || rows_.n == 0) return;
  chunk_decays_run<float>::launch({decays_.data, decays_.b_stride, decays_.n_stride,
                                   decays_.h_stride, decays(workspace), rows_, sizes_.C},
                                  stream);
}

template <class Family>
void scans<Family>::launch(scan_problem x, std::size_t states, void* workspace,
                           void* stream) const {
  if (decays_.given) x.decays = decays(workspace);
  x.rows = rows_;
  if (x.may_step && rows_.n == 1 && !rows_.is_packed) {
    if (type_ == element::bf16) token_step_run<bf16, Family>::launch(x, sizes_.C, stream);
    else token_step_run<fp16, Family>::launch(x, sizes_.C, stream);
    return;
  }
  if (x.side.factors) {
    x.states = states > 0 ? in_workspace<float>(workspace, states) : nullptr;
  } else {
    if (states > 0) x.each = segments_of_walk({x.q.d, x.v.d, x.shares, x.meetings != nullptr});
    x.states = x.each > 0 ? in_workspace<float>(workspace, states) : nullptr;
  }
  with_instance<Family>(type_, columns_for(x.q.d), [&](auto run) { run.launch(x, stream); });
}

}  // namespace tk
