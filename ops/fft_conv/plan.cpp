// SPDX-License-Identifier: MIT
// See plan.hpp.
#include "ops/fft_conv/plan.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "core/element.hpp"
#include "core/status.hpp"

namespace tk {

template <int Size> struct fft_filters_run {
  static std::int64_t half();  // of a transform's points
  static void launch(filters_to_transform const& x, void* stream);
};
template <class T, int Size> struct fft_conv_run {
  static void transform(windows_to_transform const& x, void* stream);
  static void sum(products_to_sum const& x, void* stream);
};

namespace {

template <class Body> void with_instance(element type, bool large, Body const& body) {
  if (type == element::bf16 && large) body(fft_conv_run<bf16, 1>{});
  else if (type == element::bf16) body(fft_conv_run<bf16, 0>{});
  else if (large) body(fft_conv_run<fp16, 1>{});
  else body(fft_conv_run<fp16, 0>{});
}
std::int64_t half_of_transform(bool large) {
  return large ? fft_filters_run<1>::half() : fft_filters_run<0>::half();
}
std::int64_t pieces_of(std::int64_t n, std::int64_t half) {
  return std::max<std::int64_t>(1, (n + half - 1) / half);
}

// Windows and blocks are counted in 31 bits, and so are places in sequences.
void limit(char const* what, std::int64_t n, std::int64_t most) {
  if (n > most)
    throw error(status::unsupported, std::string(what) + " is " + std::to_string(n) +
                                         "; it must be at most " + std::to_string(most));
}

}  // namespace

fft_conv_plan::fft_conv_plan(fft_conv_operands const& x) : of_(x), type_(x.u.type) {
  constexpr std::int64_t longest = 1 << 24, most = std::numeric_limits<int>::max() / 4;
  limit("n", x.u.n, longest);
  large_ = x.u.n > half_of_transform(false);
  half_ = half_of_transform(large_);
  blocks_ = pieces_of(x.u.n, half_);
  pieces_ = pieces_of(std::min(x.k.nk, x.u.n), half_);  // later taps reach no element
  folds_ = x.circular && x.u.n + x.k.nk <= half_;
  windows_ = x.circular ? blocks_ + pieces_ - 1 : blocks_;
  limit("the number of windows of all sequences", windows_ * std::max<std::int64_t>(1, x.u.h),
        most / std::max<std::int64_t>(1, x.u.b));
  limit("the number of pieces of all filters", pieces_ * std::max<std::int64_t>(1, x.k.h), most);
}

void fft_conv_plan::lay_out_filters(workspace_layout& w) {
  filters_at_ = w.add(static_cast<std::size_t>(of_.k.h * pieces_ * 2 * half_) * sizeof(float));
}
// Spectra of a group stay in a cache of some tens of megabytes.
void fft_conv_plan::lay_out_windows(workspace_layout& w, int kinds) {
  constexpr std::int64_t enough = 64 << 20;
  std::int64_t const of_filter =
      of_.u.b * of_.share() * windows_ * 2 * half_ * static_cast<std::int64_t>(sizeof(float));
  in_group_ = std::clamp<std::int64_t>(enough / std::max<std::int64_t>(1, of_filter * kinds), 1,
                                       std::max<std::int64_t>(1, of_.k.h));
  windows_at_ =
      w.add(static_cast<std::size_t>(in_group_ * of_filter) * static_cast<std::size_t>(kinds));
}
float* fft_conv_plan::windows(int kind, void* workspace) const {
  std::int64_t const spectra = of_.u.b * of_.share() * in_group_ * windows_;
  return in_workspace<float>(workspace, windows_at_) + kind * spectra * 2 * half_;
}
fft_conv_plan::group fft_conv_plan::at(std::int64_t i) const {
  std::int64_t const first = i * in_group_;
  return {first, std::min(in_group_, of_.k.h - first)};
}

void fft_conv_plan::transform_filters(void* workspace, void* stream) const {
  if (of_.filter_is_ready) return;
  filters_to_transform const x{of_.k, pieces_, in_workspace<float>(workspace, filters_at_)};
  if (large_) fft_filters_run<1>::launch(x, stream);
  else fft_filters_run<0>::launch(x, stream);
}

void fft_conv_plan::transform(group const& g, sequences const& x, sequences const& gate,
                              window_kind kind, int nth, void* workspace, void* stream) const {
  if (folds_ && kind == window_kind::before) kind = window_kind::alone;
  bool const alone = kind == window_kind::alone;
  windows_to_transform to{};
  to.x = x;
  to.gate = gate;
  to.first_h = g.first * of_.share();
  to.h = g.count * of_.share();
  to.first = kind == window_kind::before && of_.circular ? 1 - pieces_ : 0;
  to.blocks = alone ? blocks_ : windows_;
  to.wraps = of_.circular;
  to.both = !alone && (of_.circular || blocks_ > 1);
  to.kind = kind;
  to.to = windows(nth, workspace);
  with_instance(type_, large_, [&](auto run) { run.transform(to, stream); });
}

products_to_sum fft_conv_plan::with_filters(group const& g, window_kind kind, int nth,
                                            void* workspace) const {
  products_to_sum x{};
  bool const before = kind == window_kind::before;
  x.plan.kind = before ? spectral_plan::causal : spectral_plan::correlation;
  x.plan.b = static_cast<int>(of_.u.b);
  x.plan.share = static_cast<int>(of_.share());
  x.plan.h = static_cast<int>(g.count * of_.share());
  x.plan.blocks = static_cast<int>(blocks_);
  x.plan.pieces = static_cast<int>(pieces_);
  x.plan.first = static_cast<int>(before && of_.circular ? 1 - pieces_ : 0);
  x.plan.windows = static_cast<int>(windows_);
  x.a = windows(nth, workspace);
  x.b = in_workspace<float>(workspace, filters_at_) + g.first * pieces_ * 2 * half_;
  x.rows = of_.u.b;
  x.columns = g.count * of_.share();
  x.first_column = g.first * of_.share();
  x.blocks = blocks_;
  x.n = x.there = of_.u.n;
  x.folds = before && folds_;
  return x;
}
products_to_sum fft_conv_plan::gradient(group const& g, filters const& dk, int of_outputs,
                                        int of_inputs, void* workspace) const {
  products_to_sum x{};
  x.plan.kind = spectral_plan::filter_gradient;
  x.plan.b = static_cast<int>(of_.u.b);
  x.plan.share = static_cast<int>(of_.share());
  x.plan.h = static_cast<int>(g.count * of_.share());
  x.plan.blocks = static_cast<int>(blocks_);
  x.plan.pieces = static_cast<int>(pieces_);
  x.plan.windows = static_cast<int>(windows_);
  x.a = windows(of_outputs, workspace);
  x.b = windows(of_inputs, workspace);
  x.rows = 1;
  x.columns = g.count;
  x.first_column = g.first;
  x.blocks = pieces_of(dk.nk, half_);
  x.n = dk.nk;
  x.there = std::min(dk.nk, of_.u.n);
  x.out[0] = {{dk.data, dk.type}, 1, dk.h, dk.nk, 0, dk.h_stride};
  return x;
}
void fft_conv_plan::sum(products_to_sum const& x, void* stream) const {
  with_instance(type_, large_, [&](auto run) { run.sum(x, stream); });
}

}  // namespace tk
