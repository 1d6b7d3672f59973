// SPDX-License-Identifier: MIT
// How many rows a chunk of linear_cross_entropy has, what its workspace holds, and which instance
// works it off.
#include <algorithm>

#include "core/element.hpp"
#include "ops/cross_entropy/sizes.hpp"
#include "ops/linear_cross_entropy/parts.hpp"

namespace tk {

template <class T> struct linear_cross_entropy_run {
  static void launch(linear_cross_entropy_problem const& x, linear_cross_entropy_plan const& plan,
                     void* workspace, void* stream);
};

namespace {

std::int64_t rounded_up(std::int64_t x, std::int64_t to) { return (x + to - 1) / to * to; }

// As equal as whole tiles allow.
std::int64_t rows_of_chunk(linear_cross_entropy_problem const& x, std::int64_t pitch,
                           std::int64_t x_pitch) {
  constexpr std::int64_t most_elements = std::int64_t{1} << 28, tile = 128;  // 512 MiB
  std::int64_t const rows = x.x.rows;
  if (x.chunk_rows > 0) return std::min(x.chunk_rows, rows);
  std::int64_t const most = std::max(tile, most_elements / std::max(pitch, x_pitch) / tile * tile);
  std::int64_t const chunks = std::max<std::int64_t>(1, (rows + most - 1) / most);
  return std::min(rows, rounded_up((rows + chunks - 1) / chunks, tile));
}

void check_size(linear_cross_entropy_problem const& x) {
  row_tensor_view logits{};
  logits.outer = logits.middle = 1;
  logits.rows = x.x.rows;
  logits.width = x.w.rows;
  if (x.x.rows > 0) check_cross_entropy_size(logits);
}

}  // namespace

linear_cross_entropy_plan plan_linear_cross_entropy(linear_cross_entropy_problem const& x) {
  constexpr std::int64_t line = 64;  // 128 bytes
  check_size(x);
  linear_cross_entropy_plan plan{};
  plan.pitch = rounded_up(std::max<std::int64_t>(x.w.rows, 1), line);
  bool const copies_x = x.has_dw && x.terms.has_ignore_index;
  if (copies_x) plan.x_pitch = rounded_up(x.x.cols, line);
  plan.chunk_rows = rows_of_chunk(x, plan.pitch, plan.x_pitch);
  std::size_t most = counter_bytes;
  auto const look = [&](std::int64_t rows) {
    linear_cross_entropy_chunk const chunk(x, plan, nullptr, nullptr, 0, rows);
    if (x.has_dw) most = std::max(most, workspace_bytes(chunk.dw()));
    if (rows == 0) return;
    most = std::max({most, workspace_bytes(chunk.product()), workspace_bytes(chunk.losses())});
    if (x.has_dx) most = std::max(most, workspace_bytes(chunk.dx()));
    if (x.terms.has_ignore_index && (x.has_dx || x.has_dw))
      most = std::max(most, row_workspace_bytes(chunk.counted_x().x));  // dx is as large
  };
  look(plan.chunk_rows);
  if (plan.chunk_rows > 0 && x.x.rows % plan.chunk_rows != 0) look(x.x.rows % plan.chunk_rows);
  workspace_layout layout;
  layout.add_counters();
  layout.add(most - counter_bytes);
  plan.logits = layout.add(static_cast<std::size_t>(plan.chunk_rows * plan.pitch) * 2);
  plan.x = layout.add(static_cast<std::size_t>(plan.chunk_rows * plan.x_pitch) * 2);
  plan.workspace_bytes = layout.bytes();
  return plan;
}

std::size_t workspace_bytes(linear_cross_entropy_problem const& x) {
  return plan_linear_cross_entropy(x).workspace_bytes;
}

void launch(linear_cross_entropy_problem const& x, void* workspace, void* stream) {
  auto const plan = plan_linear_cross_entropy(x);
  if (x.x.type == element::bf16) linear_cross_entropy_run<bf16>::launch(x, plan, workspace, stream);
  else linear_cross_entropy_run<fp16>::launch(x, plan, workspace, stream);
}

}  // namespace tk
