// SPDX-License-Identifier: MIT
// Launches a problem as a user of the C interface would, and checks what holds for every op: it is
// supported, it reports TK_OK, two launches give the same bits, the workspace's counters are left
// zero, inputs, guards and gaps are left alone. Each function returns "" or a sentence that says
// what is wrong.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "ops/tk_ops.h"
#include "tests/support/tensor.hpp"

namespace tk::test {

inline std::string failed(char const* call, tk_status s) {
  return std::string(call) + ": " + tk_status_name(s) + ": " + tk_last_error();
}

inline tk_status launch(tk_op op, void const* problem, void* workspace, std::size_t bytes) {
  if (op == TK_OP_GEMM)
    return tk_gemm(static_cast<tk_gemm_problem const*>(problem), workspace, bytes, nullptr);
  if (op == TK_OP_NORM)
    return tk_norm(static_cast<tk_norm_problem const*>(problem), workspace, bytes, nullptr);
  return tk_attention_forward(static_cast<tk_attention_forward_problem const*>(problem), workspace,
                              bytes, nullptr);
}

// Leaves every output's bytes in memory::result().
inline std::string launch_twice(tk_op op, void const* problem, world& w) {
  if (auto const s = tk_supports(op, problem); s != TK_OK) return failed("tk_supports", s);
  std::size_t bytes = 0;
  if (auto const s = tk_workspace(op, problem, &bytes); s != TK_OK)
    return failed("tk_workspace", s);
  // Aligned to 16 and no more, between guards like any other output.
  memory workspace(static_cast<std::int64_t>(bytes), 16, role::output, 1);
  std::size_t const counters = std::min<std::size_t>(bytes, TK_COUNTER_BYTES);
  std::memset(workspace.image(), 0, counters);
  std::memset(workspace.image() + counters, 0xff, bytes - counters);  // NaN: may hold anything
  workspace.upload();
  for (auto& m : w.memories())
    if (m.use() == role::input) m.upload();
  for (int pass = 0; pass < 2; ++pass) {
    for (auto& m : w.memories())
      if (m.use() == role::output) m.upload();
    auto const s = launch(op, problem, bytes ? workspace.device() : nullptr, bytes);
    if (s != TK_OK) return failed("launch", s);
    be::rt::synchronize();
    workspace.download();
    workspace.restore(workspace.result() + counters, static_cast<std::int64_t>(bytes - counters));
    if (auto const at = workspace.first_difference())
      return "pass " + std::to_string(pass) + " left byte " + std::to_string(*at) + " of " +
             std::to_string(bytes) + " of the workspace changed";
    for (auto& m : w.memories())
      if (m.use() == role::output) m.download();
  }
  for (auto const& m : w.memories())
    if (m.use() == role::output && !m.same_as_before()) return "two launches differ";
  return "";
}

// Whether bytes that are no element of `written` changed. Spoils the results of those memories:
// read the elements first.
inline std::string check_untouched(world& w, std::vector<tensor> const& written) {
  for (auto const& x : written)
    for (std::int64_t r = 0; r < x.rows(); ++r)
      x.in->restore(x.result_row(r), x.cols() * bytes_of(x.type));
  int index = 0;
  for (auto& m : w.memories()) {
    if (m.use() == role::input) m.download();
    if (auto const at = m.first_difference())
      return (m.use() == role::input ? "input memory " : "output memory ") + std::to_string(index) +
             ": byte " + std::to_string(*at) + " of " +
             std::to_string(m.bytes() - 2 * memory::guard) + " was changed and is no output";
    ++index;
  }
  return "";
}

}  // namespace tk::test
