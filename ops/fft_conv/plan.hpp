// SPDX-License-Identifier: MIT
// How a long convolution is cut: sequences into blocks, and filters into pieces, of half a
// transform each. Where filters are of one piece, or have few taps, all is one kernel. Else spectra
// of windows are in the workspace, of a group of channels at a time. Everything follows from n, nk
// and the chip but the groups, on which no bit of a sequence depends.
#pragma once
#include <cstddef>

#include "ops/fft_conv/problem.hpp"

namespace tk {

class fft_conv_plan {
 public:
  // With room for windows, also where filters are of one piece, for a filter's gradient.
  fft_conv_plan(fft_conv_operands const& x, bool gradient);
  std::size_t workspace_bytes() const { return workspace_.bytes(); }

  void transform_filters(void* workspace, void* stream) const;

  // An output, and what gates it.
  struct output {
    sequences to, gate;
  };
  // Outputs = the convolution of x o gate and the filters, of windows with the block `before`; or
  // the correlation, of those with the one `after`.
  void convolve(window_kind kind, sequences const& x, sequences const& gate, output const& first,
                output const& second, void* workspace, void* stream) const;
  // dk = the correlation of y o by and x o gate, summed over all sequences of a filter's channels.
  void correlate(filters const& dk, sequences const& y, sequences const& by, sequences const& x,
                 sequences const& gate, void* workspace, void* stream) const;

 private:
  struct group {
    std::int64_t first, count;  // filters
  };
  std::int64_t groups() const { return (of_.k.h + in_group_ - 1) / in_group_; }
  group at(std::int64_t i) const;
  group all() const { return {0, of_.k.h}; }

  windows_to_transform windows(group const& g, window_kind kind, sequences const& x,
                               sequences const& gate) const;
  blocks_to_write blocks(group const& g, window_kind kind, output const& first,
                         output const& second) const;
  spectral_plan products(group const& g, int kind) const;
  void transform(windows_to_transform const& x, int nth, void* workspace, void* stream) const;
  void sum(products_to_sum const& x, void* stream) const;
  spectra_place spectra_of_windows(int nth, void* workspace) const;
  spectra_place spectra_of_filters(group const& g, void* workspace) const;
  // Floats of a spectrum: fp16 or fp32 numbers (kept_spectra).
  std::int64_t of_spectrum() const { return type_ == element::bf16 ? half_ : 2 * half_; }
  // The first window of a sequence, counted in blocks.
  std::int64_t first_window(window_kind kind) const {
    return kind == window_kind::before && of_.circular ? 1 - pieces_ : 0;
  }

  fft_conv_operands of_;  // of the filters the taps that reach an element
  element type_;
  int columns_ = 0;  // N2 of the transforms
  bool short_;       // few taps: no transforms, but for a filter's gradient
  bool folds_;    // circular, and what a causal convolution gives is in one block: its end is added
                  // to its beginning
  bool repeats_;  // circular, and a sequence is one whole block
  std::int64_t half_ = 0;                   // of the transforms' points
  std::int64_t blocks_, pieces_, windows_;  // windows and blocks of a sequence
  std::int64_t kinds_, in_group_ = 1;       // of windows in the workspace
  bool at_once_ = false;  // a filter's gradient: of sequences of one window, of which there are few

  workspace_layout workspace_;
  std::size_t filters_at_ = 0, windows_at_ = 0;
};

}  // namespace tk
