// SPDX-License-Identifier: MIT
// embedding_backward's problem, checked, and where what its launches leave for one another lies.
// data is null in what is absent.
#pragma once
#include "core/sort_memory.hpp"
#include "ops/tensors.hpp"

namespace tk {

struct embedding_backward_problem {
  row_tensor_view dy;      // [b, s, n, d]
  row_tensor_view ids;     // [b, s, n, 1], int32 or int64
  row_tensor_view dtable;  // rows [v, d]
  std::int64_t ignored_id;
  bool ignores;

  bool has_tokens() const { return dy.outer != 0 && dy.middle != 0 && dy.rows != 0; }
  // Once sizes are known to be addressed in 31 bits.
  int tokens() const { return static_cast<int>(dy.outer * dy.middle * dy.rows); }
};

// Launches on `stream`; throws tk::error.
void launch(embedding_backward_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(embedding_backward_problem const& x);

// Tokens of a row that are summed at once. It decides the order of sums.
inline constexpr int piece_tokens = 128;

// Tokens in the order of their rows, and sums of pieces of rows that have several. Of the pieces
// that begin in a window of piece_tokens sorted tokens, one at most is a row's first, and one at
// most another: a row with several has more tokens than that.
class embedding_backward_memory {
 public:
  explicit embedding_backward_memory(embedding_backward_problem const& x)
      : tokens_(x.tokens()), stride_((x.dtable.width + 3) / 4 * 4) {
    auto const add = [&](std::int64_t count, std::int64_t width = 1) {
      return layout_.add(static_cast<std::size_t>(count) * static_cast<std::size_t>(width) * 4);
    };
    for (auto& place : at_) place = add(tokens_);
    counts_ = add(tokens_ == 0 ? 0 : sort_counters(tokens_));
    if (tokens_ > piece_tokens) sums_ = add(sums(), stride_);
  }
  std::size_t bytes() const { return layout_.bytes(); }
  std::int64_t sums() const { return 2 * std::int64_t{ceil_div(tokens_, piece_tokens)}; }
  std::int64_t stride() const { return stride_; }
  sort_memory sorting(void* workspace) const {
    auto const items = [&](int i) {
      return sorted_items{in_workspace<std::uint32_t>(workspace, at_[2 * i]),
                          in_workspace<std::int32_t>(workspace, at_[2 * i + 1])};
    };
    return {{items(0), items(1)}, in_workspace<std::int32_t>(workspace, counts_)};
  }
  float* sums_in(void* workspace) const { return in_workspace<float>(workspace, sums_); }

 private:
  int tokens_;
  std::int64_t stride_;
  std::size_t at_[4]{}, counts_ = 0, sums_ = 0;
  workspace_layout layout_;
};

// Tokens by the rows that they name; those that count for nothing come last, by the number of rows.
template <class Id> struct embedding_order {
  static sorted_items launch(embedding_backward_problem const& x, sort_memory const& memory,
                             void* stream);
};
template <class T, class D> struct embedding_backward_run {
  static void launch(embedding_backward_problem const& x, sorted_items const& sorted,
                     void* workspace, void* stream);
};

}  // namespace tk
