// SPDX-License-Identifier: MIT
// Chooses the compiled instance of norm that a problem asks for.
#include <limits>
#include <string>

#include "core/element.hpp"
#include "core/status.hpp"
#include "ops/norm/problem.hpp"

namespace tk {

template <class T> struct norm_run {
  static void launch(norm_problem const& x, void* workspace, void* stream);
};

namespace {

// Rows and columns are addressed in 31 bits, some past the last.
void check_size(norm_problem const& x) {
  constexpr std::int64_t longest = std::numeric_limits<int>::max() - (1 << 16);
  for (auto const size : {x.x.rows, x.x.cols})
    if (size > longest)
      throw error(status::unsupported, "a size of " + std::to_string(size) +
                                           " is above the limit of " + std::to_string(longest));
}

}  // namespace

// Where many rows are moved, the last ones are dealt on demand, which takes a counter.
std::size_t workspace_bytes(norm_problem const& x) {
  constexpr std::int64_t many = 1 << 16;  // elements
  check_size(x);
  workspace_layout layout;
  if (x.x.rows * x.x.cols >= many) layout.add_counters();
  return layout.bytes();
}

void launch(norm_problem const& x, void* workspace, void* stream) {
  if (workspace_bytes(x) == 0) workspace = nullptr;
  if (x.x.type == element::bf16) norm_run<bf16>::launch(x, workspace, stream);
  else if (x.x.type == element::fp16) norm_run<fp16>::launch(x, workspace, stream);
  else norm_run<float>::launch(x, workspace, stream);
}

}  // namespace tk
