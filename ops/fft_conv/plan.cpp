// SPDX-License-Identifier: MIT
// See plan.hpp.
#include "ops/fft_conv/plan.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>

#include "core/element.hpp"
#include "core/status.hpp"

namespace tk {

template <int N2> struct fft_filters_run {
  static std::int64_t half();  // of a transform's points
  static void launch(filters_to_transform const& x, void* stream);
};
template <class T, int N2> struct fft_conv_run {
  static void transform(windows_to_transform const& x, spectra_place const& to, void* stream);
  static void sum(products_to_sum const& x, void* stream);
  static void convolve(windows_to_convolve const& x, void* stream);
  static bool correlates_at_once();
  static void correlate(windows_to_correlate const& x, void* stream);
};
template <class T> struct short_conv_run {
  static int most_taps();
  static void launch(short_filters const& x, void* stream);
};

namespace {

// body(constant) for each size of transforms, the smallest first.
template <class Body> void for_each_size(Body const& body) {
  body(std::integral_constant<int, 16>{});
  body(std::integral_constant<int, 32>{});
  body(std::integral_constant<int, 64>{});
  body(std::integral_constant<int, 128>{});
}
template <class Body> void with_size(int columns, Body const& body) {
  for_each_size([&](auto size) {
    if (size == columns) body(size);
  });
}
template <class Body> void with_instance(element type, int columns, Body const& body) {
  with_size(columns, [&](auto size) {
    if (type == element::bf16) body(fft_conv_run<bf16, size>{});
    else body(fft_conv_run<fp16, size>{});
  });
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

fft_conv_plan::fft_conv_plan(fft_conv_operands const& x, bool gradient) : of_(x), type_(x.u.type) {
  constexpr std::int64_t longest = 1 << 24, most = std::numeric_limits<int>::max() / 4;
  auto const some = [](std::int64_t size) { return std::max<std::int64_t>(1, size); };
  limit("n", x.u.n, longest);
  limit("nk", x.k.nk, 1 << 30);
  of_.k.nk = std::min(x.k.nk, x.u.n);  // later taps reach no element
  // The smallest transform whose half is a sequence, or the chip's largest.
  for_each_size([&](auto size) {
    std::int64_t const half = fft_filters_run<size>::half();
    if (half_ == 0 || (half_ < x.u.n && half_ < half)) columns_ = size, half_ = half;
  });
  blocks_ = pieces_of(x.u.n, half_);
  pieces_ = pieces_of(of_.k.nk, half_);
  short_ = of_.k.nk <= short_conv_run<bf16>::most_taps();
  folds_ = x.circular && x.u.n + of_.k.nk <= half_;
  repeats_ = x.circular && x.u.n == half_ && !folds_;
  kinds_ = gradient ? 2 : 1;
  windows_ = x.circular ? blocks_ + pieces_ - 1 : blocks_;
  limit("the number of windows of all sequences", windows_ * some(x.u.h), most / some(x.u.b));
  limit("the number of pieces of all filters", pieces_of(x.k.nk, half_) * some(x.k.h), most);

  // First, so that another call with the same filters finds it.
  std::int64_t const spectrum = (of_spectrum() + 1) * static_cast<std::int64_t>(sizeof(float));
  if (!short_) filters_at_ = workspace_.add(static_cast<std::size_t>(x.k.h * pieces_ * spectrum));
  // A worker sums over all sequences of a filter, for which it should not take too long.
  constexpr std::int64_t few = 32;
  with_instance(type_, columns_, [&](auto run) {
    at_once_ = windows_ == 1 && x.u.b * x.share() <= few && run.correlates_at_once() &&
               x.k.nk <= half_;  // later ones are 0, and blocks of their own
  });
  if ((!gradient || at_once_) && (short_ || pieces_ == 1)) return;
  // Spectra of a group stay in a cache of some tens of megabytes; groups are not too many.
  constexpr std::int64_t enough = 64 << 20, most_groups = 1024;
  std::int64_t const of_filter = kinds_ * x.u.b * x.share() * windows_ * (of_spectrum() + 1) *
                                 static_cast<std::int64_t>(sizeof(float));
  in_group_ = std::max(std::min(enough / some(of_filter), x.k.h),
                       some((x.k.h + most_groups - 1) / most_groups));
  windows_at_ = workspace_.add(static_cast<std::size_t>(in_group_ * of_filter));
}

spectra_place fft_conv_plan::spectra_of_windows(int nth, void* workspace) const {
  std::int64_t const count = of_.u.b * of_.share() * in_group_ * windows_;
  float* const all = in_workspace<float>(workspace, windows_at_);
  float* const bounds = all + kinds_ * count * of_spectrum();
  return {all + nth * count * of_spectrum(), bounds + nth * count};
}
spectra_place fft_conv_plan::spectra_of_filters(group const& g, void* workspace) const {
  float* const all = in_workspace<float>(workspace, filters_at_);
  std::int64_t const first = g.first * pieces_;
  return {all + first * of_spectrum(), all + of_.k.h * pieces_ * of_spectrum() + first};
}
fft_conv_plan::group fft_conv_plan::at(std::int64_t i) const {
  std::int64_t const first = i * in_group_;
  return {first, std::min(in_group_, of_.k.h - first)};
}

windows_to_transform fft_conv_plan::windows(group const& g, window_kind kind, sequences const& x,
                                            sequences const& gate) const {
  windows_to_transform to{};
  to.x = x;
  to.gate = gate;
  to.first_h = g.first * of_.share();
  to.h = g.count * of_.share();
  to.first = first_window(kind);
  bool const alone = kind == window_kind::alone;
  to.blocks = alone ? blocks_ : windows_;
  to.wraps = of_.circular;
  to.both = !alone && (of_.circular || blocks_ > 1);
  to.kind = kind;
  if (kind == window_kind::before && folds_) to.both = false, to.kind = window_kind::alone;
  return to;
}
blocks_to_write fft_conv_plan::blocks(group const& g, window_kind kind, output const& first,
                                      output const& second) const {
  blocks_to_write to{};
  to.out[0] = first.to, to.gate[0] = first.gate;
  to.out[1] = second.to, to.gate[1] = second.gate;
  to.rows = of_.u.b;
  to.columns = g.count * of_.share();
  to.first_column = g.first * of_.share();
  to.blocks = blocks_;
  to.n = to.there = of_.u.n;
  to.folds = kind == window_kind::before && folds_;
  return to;
}
spectral_plan fft_conv_plan::products(group const& g, int kind) const {
  spectral_plan x{};
  x.kind = kind;
  x.b = static_cast<int>(of_.u.b);
  x.share = static_cast<int>(of_.share());
  x.h = static_cast<int>(g.count * of_.share());
  x.blocks = static_cast<int>(blocks_);
  x.pieces = static_cast<int>(pieces_);
  x.first = static_cast<int>(
      first_window(kind == spectral_plan::causal ? window_kind::before : window_kind::after));
  x.windows = static_cast<int>(windows_);
  return x;
}

void fft_conv_plan::transform_filters(void* workspace, void* stream) const {
  if (short_ || of_.filter_is_ready) return;
  filters_to_transform const x{of_.k, pieces_, repeats_, type_ != element::bf16,
                               spectra_of_filters(all(), workspace)};
  with_size(columns_, [&](auto size) { fft_filters_run<size>::launch(x, stream); });
}
void fft_conv_plan::transform(windows_to_transform const& x, int nth, void* workspace,
                              void* stream) const {
  with_instance(type_, columns_,
                [&](auto run) { run.transform(x, spectra_of_windows(nth, workspace), stream); });
}
void fft_conv_plan::sum(products_to_sum const& x, void* stream) const {
  with_instance(type_, columns_, [&](auto run) { run.sum(x, stream); });
}

void fft_conv_plan::convolve(window_kind kind, sequences const& x, sequences const& gate,
                             output const& first, output const& second, void* workspace,
                             void* stream) const {
  bool const correlates = kind == window_kind::after;
  if (short_) {
    auto to = blocks(all(), kind, first, second);
    to.folds = false;
    short_filters const few{x, gate, of_.k, of_.share(), of_.circular, correlates, to};
    if (type_ == element::bf16) short_conv_run<bf16>::launch(few, stream);
    else short_conv_run<fp16>::launch(few, stream);
    return;
  }
  if (pieces_ == 1) {
    auto from = windows(all(), kind, x, gate);
    if (repeats_) from.both = false, from.kind = window_kind::alone;
    windows_to_convolve const one{from,        spectra_of_filters(all(), workspace),
                                  of_.share(), correlates,
                                  repeats_,    blocks(all(), kind, first, second)};
    with_instance(type_, columns_, [&](auto run) { run.convolve(one, stream); });
    return;
  }
  for (std::int64_t i = 0; i < groups(); ++i) {
    auto const g = at(i);
    transform(windows(g, kind, x, gate), 0, workspace, stream);
    sum({products(g, correlates ? spectral_plan::correlation : spectral_plan::causal),
         spectra_of_windows(0, workspace), spectra_of_filters(g, workspace),
         blocks(g, kind, first, second)},
        stream);
  }
}

void fft_conv_plan::correlate(filters const& dk, sequences const& y, sequences const& by,
                              sequences const& x, sequences const& gate, void* workspace,
                              void* stream) const {
  auto const written = [&](group const& g) {
    blocks_to_write to{};
    to.out[0] = {{dk.data, dk.type}, 1, dk.h, dk.nk, 0, dk.h_stride};
    to.rows = 1;
    to.columns = g.count;
    to.first_column = g.first;
    to.blocks = pieces_of(dk.nk, half_);
    to.n = dk.nk;
    to.there = std::min(dk.nk, of_.u.n);
    return to;
  };
  if (at_once_) {
    auto const g = all();
    windows_to_correlate const one{windows(g, window_kind::after, y, by),
                                   windows(g, window_kind::alone, x, gate), of_.share(),
                                   written(g)};
    with_instance(type_, columns_, [&](auto run) { run.correlate(one, stream); });
    return;
  }
  for (std::int64_t i = 0; i < groups(); ++i) {
    auto const g = at(i);
    transform(windows(g, window_kind::after, y, by), 0, workspace, stream);
    transform(windows(g, window_kind::alone, x, gate), 1, workspace, stream);
    sum({products(g, spectral_plan::filter_gradient), spectra_of_windows(0, workspace),
         spectra_of_windows(1, workspace), written(g)},
        stream);
  }
}

}  // namespace tk
