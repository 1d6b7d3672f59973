// SPDX-License-Identifier: MIT
// How a long convolution is cut: sequences into blocks, and filters into pieces, of half a
// transform each; channels into groups, whose spectra are in the workspace at a time. Everything
// follows from n, nk and the chip but the groups, on which no bit depends.
#pragma once
#include <cstddef>

#include "ops/fft_conv/problem.hpp"

namespace tk {

class fft_conv_plan {
 public:
  explicit fft_conv_plan(fft_conv_operands const& x);

  // Room for the filters' spectra, which comes first, so that another call with the same filters
  // finds them; for those of `kinds` kinds of windows of a group.
  void lay_out_filters(workspace_layout& w);
  void lay_out_windows(workspace_layout& w, int kinds);

  void transform_filters(void* workspace, void* stream) const;

  struct group {
    std::int64_t first, count;  // filters
  };
  std::int64_t groups() const { return (of_.k.h + in_group_ - 1) / in_group_; }
  group at(std::int64_t i) const;

  // Spectra of windows of x o gate in a group, which become the nth ones in the workspace.
  void transform(group const& g, sequences const& x, sequences const& gate, window_kind kind,
                 int nth, void* workspace, void* stream) const;
  // The nth spectra times those of the filters: of windows with the block before a convolution,
  // with the block after a correlation. Outputs are still to be named.
  products_to_sum with_filters(group const& g, window_kind kind, int nth, void* workspace) const;
  // dk, from the spectra of gated outputs' gradients with the block after and those of gated inputs
  // alone.
  products_to_sum gradient(group const& g, filters const& dk, int of_outputs, int of_inputs,
                           void* workspace) const;
  void sum(products_to_sum const& x, void* stream) const;

 private:
  float* windows(int nth, void* workspace) const;

  fft_conv_operands of_;
  element type_;
  bool large_;
  bool folds_;  // circular, and what a causal convolution gives is in one block: its end is added
                // to its beginning
  std::int64_t half_, blocks_, pieces_, windows_, in_group_ = 1;
  std::size_t filters_at_ = 0, windows_at_ = 0;
};

}  // namespace tk
