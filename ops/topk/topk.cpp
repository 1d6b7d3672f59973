// SPDX-License-Identifier: MIT
// Chooses the compiled instance of topk that a problem asks for.
#include <string>

#include "core/element.hpp"
#include "ops/row_sizes.hpp"
#include "ops/topk/problem.hpp"

namespace tk {

template <class T> struct topk_run {
  static void launch(topk_problem const& x, void* stream);
};

std::size_t workspace_bytes(topk_problem const& x) {
  check_row_size(x.x);
  if (x.k > most_of_a_row)
    throw error(status::unsupported, "k = " + std::to_string(x.k) + " is above the limit of " +
                                         std::to_string(most_of_a_row));
  return 0;
}

void launch(topk_problem const& x, void*, void* stream) {
  workspace_bytes(x);  // whatever it refuses
  if (x.x.type == element::bf16) topk_run<bf16>::launch(x, stream);
  else if (x.x.type == element::fp16) topk_run<fp16>::launch(x, stream);
  else topk_run<float>::launch(x, stream);
}

}  // namespace tk
