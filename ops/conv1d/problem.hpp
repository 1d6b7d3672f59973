// SPDX-License-Identifier: MIT
// The problems of conv1d and its backward, checked, and how sequences are cut into runs of tokens.
// data is null in what is absent.
#pragma once
#include "ops/tensors.hpp"

namespace tk {

// What forward and backward are of.
struct conv1d_operands {
  row_tensor_view x;        // [b, 1, n, c]
  row_tensor_view initial;  // [sequences, 1, taps - 1, c]
  any_tensor weight, bias;  // [c, taps], [c]
  int taps;
  bool is_silu, is_packed;
  std::int32_t const* starts;  // [sequences + 1], on the device, where packed
  std::int64_t sequences;

  std::int64_t channels() const { return x.width; }
  std::int64_t runs(std::int64_t length) const {
    if (is_packed) return sequences == 0 ? 0 : x.rows / length + sequences;
    return sequences * (x.rows <= length ? 1 : (x.rows - 1) / length + 1);
  }
};
struct conv1d_problem : conv1d_operands {
  row_tensor_view y, final;
};
struct conv1d_backward_problem : conv1d_operands {
  row_tensor_view dy, dfinal, dx, dinitial;
  any_tensor dweight, dbias;
};

// Launches on `stream`; throws tk::error.
void launch(conv1d_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(conv1d_problem const& x);
void launch(conv1d_backward_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(conv1d_backward_problem const& x);

// How many tokens a run has, and how many runs one after another are a walk. Both follow from sizes
// alone. Where there are few tokens runs are short, so that there are enough to fill a card; walks
// are as many as that, and no more, since each leaves sums in the workspace.
struct conv1d_plan {
  static constexpr std::int64_t longest = 128, shortest = 16, many = 4096, columns = 256;
  static constexpr int most_in_turn = 1024;
  int length, in_turn;
  std::int64_t walks;

  explicit conv1d_plan(conv1d_operands const& x) : length(longest), in_turn(1) {
    std::int64_t const parts = (x.channels() + columns - 1) / columns;
    while (length > shortest && x.runs(length) * parts < many) length /= 2;
    auto const runs = x.runs(length);
    while (runs * parts >= 2 * many * in_turn && in_turn < most_in_turn) in_turn *= 2;
    walks = (runs + in_turn - 1) / in_turn;
  }
};

// What walks leave in the workspace: a matrix [walks, channels] for each tap, and one for the bias.
class conv1d_sums {
 public:
  explicit conv1d_sums(conv1d_backward_problem const& x)
      : walks_(conv1d_plan(x).walks), stride_((x.channels() + 3) / 4 * 4) {
    first_ = layout_.add(static_cast<std::size_t>((x.taps + 1) * matrix()) * sizeof(float));
  }
  std::size_t bytes() const { return layout_.bytes(); }
  std::int64_t walks() const { return walks_; }
  std::int64_t stride() const { return stride_; }
  std::int64_t matrix() const { return walks_ * stride_; }  // in elements
  float* in(void* workspace) const { return in_workspace<float>(workspace, first_); }

 private:
  std::int64_t walks_, stride_;
  std::size_t first_ = 0;
  workspace_layout layout_;
};

}  // namespace tk
