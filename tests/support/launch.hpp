// SPDX-License-Identifier: MIT
// Launches a problem as a user of the C interface would, and checks what holds for every op: it is
// supported, it reports TK_OK, all launches give the same bits, the workspace's counters are left
// zero, inputs, guards and gaps are left alone. Each function returns "" or a sentence that says
// what is wrong. An op's operands supply with_problem(operands, body), which calls body(op,
// problem).
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "ops/tk_op.h"
#include "tests/support/tensor.hpp"

namespace tk::test {

inline std::string failed(char const* call, tk_status s) {
  return std::string(call) + ": " + tk_status_name(s) + ": " + tk_last_error();
}

// An op as with_problem names it: its number and its C function.
template <class Problem> struct called_op {
  tk_op number;
  tk_status (*call)(Problem const*, void*, std::size_t, void*);
};

// The launches of one problem, whose tensors lie in `w`: open(), then any number of reset(),
// launch() and, when the device has finished, look().
class session {
 public:
  explicit session(world& w) : world_(w) {}

  template <class Problem> std::string open(called_op<Problem> op, Problem const* problem) {
    if (auto const s = tk_supports(op.number, problem); s != TK_OK) return failed("tk_supports", s);
    if (auto const s = tk_workspace(op.number, problem, &bytes_); s != TK_OK)
      return failed("tk_workspace", s);
    // Aligned to 16 and no more, between guards like any other output.
    auto& workspace = workspace_.emplace(static_cast<std::int64_t>(bytes_), 16, role::output, 1);
    counters_ = std::min<std::size_t>(bytes_, TK_COUNTER_BYTES);
    std::memset(workspace.image(), 0, counters_);
    std::memset(workspace.image() + counters_, 0xff, bytes_ - counters_);  // NaN: may hold anything
    workspace.upload();
    for (auto& m : world_.memories())
      if (m.use() == role::input) m.upload();
    return "";
  }
  void reset() {
    for (auto& m : world_.memories())
      if (m.use() == role::output) m.upload();
  }
  template <class Problem>
  std::string launch(called_op<Problem> op, Problem const* problem, void* stream = nullptr) {
    ++launches_;
    auto const s = op.call(problem, bytes_ ? workspace_->device() : nullptr, bytes_, stream);
    return s == TK_OK ? "" : failed("launch", s);
  }
  // Leaves every output's bytes in memory::result().
  std::string look() {
    auto& workspace = *workspace_;
    workspace.download();
    workspace.restore(workspace.result() + counters_,
                      static_cast<std::int64_t>(bytes_ - counters_));
    if (auto const at = workspace.first_difference())
      return "launch " + std::to_string(launches_) + " left byte " + std::to_string(*at) + " of " +
             std::to_string(bytes_) + " of the workspace changed";
    std::string changed;
    int index = 0;
    for (auto& m : world_.memories()) {
      int const nth = index++;
      if (m.use() != role::output) continue;
      m.download();
      if (launches_ == 1) continue;
      if (auto const at = m.first_change())
        changed += ", memory " + std::to_string(nth) + " from byte " + std::to_string(*at) + " on";
    }
    if (changed.empty()) return "";
    return "launch " + std::to_string(launches_) + " differs from the one before" + changed;
  }

 private:
  world& world_;
  std::optional<memory> workspace_;
  std::size_t bytes_ = 0, counters_ = 0;
  int launches_ = 0;
};

template <class Operands> std::string launch_twice(Operands& x) {
  return with_problem(x, [&](auto op, auto const* problem) {
    session s(x.memories);
    auto wrong = s.open(op, problem);
    for (int pass = 0; pass < 2 && wrong.empty(); ++pass) {
      s.reset();
      wrong = s.launch(op, problem);
      if (!wrong.empty()) break;
      be::rt::synchronize();
      wrong = s.look();
    }
    return wrong;
  });
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
