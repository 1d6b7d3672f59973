// SPDX-License-Identifier: MIT
// What stands in for the kernels of the long convolution in the fuzzer. A call's launches come in
// one order: the filters, then for each result windows and sums of a group after another, or all at
// once. The last one of a call touches memory.
#include <algorithm>
#include <type_traits>

#include "core/element.hpp"
#include "ops/fft_conv/fft_conv.h"
#include "ops/fft_conv/fft_conv_backward.h"
#include "ops/fft_conv/problem.hpp"
#include "tests/fuzz/launch.hpp"
#include "tests/ops/fft_conv/fuzz_sizes.hpp"

namespace fuzz {
namespace {

using namespace fft_conv;

bool forward() { return running.seen->spec->op->number == TK_OP_FFT_CONV; }
seen_tensor const& seen(char const* name) { return fuzz::seen(*running.seen, name); }
bool wants(char const* name) { return !forward() && seen(name).looked_at; }
template <class Field>
Field option(Field tk_fft_conv_problem::* a, Field tk_fft_conv_backward_problem::* b) {
  return forward() ? running.seen->problem<tk_fft_conv_problem>().*a
                   : running.seen->problem<tk_fft_conv_backward_problem>().*b;
}
bool is_circular() {
  return option(&tk_fft_conv_problem::circular, &tk_fft_conv_backward_problem::circular) == 1;
}
bool filter_is_ready() {
  return option(&tk_fft_conv_problem::filter_is_ready,
                &tk_fft_conv_backward_problem::filter_is_ready) == 1;
}

void first_of_call(void* stream) {
  if (running.launches == 0) begin(running.seen->spec->op->number, running.workspace, stream);
  require(stream == running.stream, "a launch on another stream");
}

// A tensor, or none.
void agree(tk::sequences const& x, char const* name) {
  bool const there = name && seen(name).looked_at && !seen(name).empty();
  if (!there) return require(!x.data, "sequences appeared");
  auto const& t = seen(name);
  agree(static_cast<tk::any_tensor const&>(x), t);
  require(x.b == t.size[0] && x.h == t.size[1] && x.n == t.size[2], "sizes changed");
  require(x.b_stride == t.stride[0] && x.h_stride == t.stride[1], "strides changed");
}
// The bytes of a number of a spectrum.
template <class T> constexpr int of_number = std::is_same_v<T, tk::bf16> ? 2 : 4;
// Spectra and their bounds lie in the workspace.
void check_place(tk::spectra_place const& x, wide count, int half, int number) {
  if (count == 0) return;
  wide const at = address_of(running.workspace), end = at + wide(running.needed);
  require(address_of(x.tiles) >= at + wide(tk::counter_bytes) && address_of(x.tiles) % 16 == 0 &&
              address_of(x.tiles) + count * 2 * half * number <= end,
          "spectra do not fit");
  require(address_of(x.bounds) >= address_of(x.tiles) + count * 2 * half * number &&
              address_of(x.bounds) + count * 4 <= end,
          "bounds do not fit");
}

template <int N2> void check_filters(tk::filters_to_transform const& x, void* stream) {
  first_of_call(stream);
  require(running.launches == 1 && !filter_is_ready(), "filters that are ready, or late");
  auto const& k = seen("k");
  agree(x.k, k);
  require(x.k.h == k.size[0] && x.k.nk == std::min(k.size[1], seen("u").size[2]) &&
              x.k.h_stride == k.stride[0],
          "the filters changed");
  check_place(x.to, wide(x.k.h) * x.pieces, half_of(N2), x.whole ? 4 : 2);
}

template <class T, int N2>
void check_windows(tk::windows_to_transform const& x, bool of_inputs, void* stream) {
  first_of_call(stream);
  agree(x.x, of_inputs ? "u" : "dy");
  agree(x.gate, of_inputs ? "pre" : "post");
  auto const& u = seen("u");
  if (x.x.data) require(is_of<T>(x.x), "another instance was chosen");
  require(nth_of(N2) == int{u.size[2] > halves[0]}, "another size was chosen");
  require(x.first_h >= 0 && x.first_h + x.h <= u.size[1] && x.wraps == is_circular(),
          "other windows");
  require(x.x.n <= wide(x.blocks) * half_of(N2), "windows are missing");
}

// Touches memory where these blocks are the last ones of a call: gradients of inputs come first,
// then those of `post`, then the filters'.
void finish(tk::blocks_to_write const& x, bool of_filters, bool correlates) {
  auto const columns = seen(of_filters ? "k" : "u").size[of_filters ? 0 : 1];
  if (x.first_column + x.columns < columns) return;
  bool const more = !of_filters && (wants("dk") || (correlates && wants("dpost")));
  if (!more) touch();
}
template <int N2> void check_outputs(tk::blocks_to_write const& x, bool correlates) {
  auto const& u = seen("u");
  if (forward()) {
    agree(x.out[0], "y"), agree(x.gate[0], "post");
    require(!x.out[1].data, "another output");
  } else if (correlates) {
    agree(x.out[0], "du"), agree(x.gate[0], "pre");
    agree(x.out[1], "dpre"), agree(x.gate[1], "u");
  } else {
    agree(x.out[0], "dpost"), agree(x.gate[0], "dy");
    require(!x.out[1].data, "another output");
  }
  require(x.rows == u.size[0] && x.n == u.size[2] && x.there == x.n, "sizes of outputs changed");
  require(wide(x.blocks) * halves[1] >= x.n, "blocks are missing");
  require(!x.folds || (is_circular() && x.n + seen("k").size[1] <= half_of(N2)),
          "an end that is not there");
}
void check_gradient(tk::blocks_to_write const& x, int half) {
  auto const& dk = seen("dk");
  agree(static_cast<tk::any_tensor const&>(x.out[0]), dk);
  require(x.out[0].h_stride == dk.stride[0] && x.n == dk.size[1] && x.rows == 1 &&
              x.there == std::min(dk.size[1], seen("u").size[2]),
          "the gradient of filters changed");
  require(wide(x.blocks) * half >= x.n, "blocks are missing");
}
template <class T, int N2> void check_sum(tk::products_to_sum const& x, void* stream) {
  first_of_call(stream);
  bool const of_filters = x.plan.kind == tk::spectral_plan::filter_gradient;
  require(x.plan.pieces >= 1 && x.plan.windows >= x.plan.blocks, "another plan");
  wide const windows = wide(x.plan.b) * x.plan.h * x.plan.windows;
  check_place(x.a, windows, half_of(N2), of_number<T>);
  if (of_filters) {
    check_place(x.b, wide(x.plan.b) * x.plan.h * x.plan.blocks, half_of(N2), of_number<T>);
    check_gradient(x.to, half_of(N2));
  } else {
    check_outputs<N2>(x.to, x.plan.kind == tk::spectral_plan::correlation);
  }
  finish(x.to, of_filters, x.plan.kind == tk::spectral_plan::correlation);
}
template <class T, int N2> void check_convolution(tk::windows_to_convolve const& x, void* stream) {
  check_windows<T, N2>(x.from, !x.correlates, stream);
  require(std::min(seen("u").size[2], seen("k").size[1]) <= half_of(N2), "a filter is cut off");
  check_place(x.filters, seen("k").size[0], half_of(N2), of_number<T>);
  check_outputs<N2>(x.to, x.correlates);
  finish(x.to, false, x.correlates);
}

template <class T, int N2> void check_correlation(tk::windows_to_correlate const& x, void* stream) {
  check_windows<T, N2>(x.a, false, stream);
  check_windows<T, N2>(x.b, true, stream);
  require(x.a.blocks == 1 && x.b.blocks == 1 && !x.b.both, "more than a window");
  require(x.share * seen("dk").size[0] == seen("u").size[1], "other sequences");
  check_gradient(x.to, half_of(N2));
  finish(x.to, true, false);
}

// So few taps are short here.
constexpr int short_taps = 2;
template <class T> void check_short(tk::short_filters const& x, void* stream) {
  first_of_call(stream);
  auto const &u = seen("u"), &k = seen("k");
  agree(x.x, x.correlates ? "dy" : "u");
  agree(x.gate, x.correlates ? "post" : "pre");
  require(is_of<T>(x.x), "another instance was chosen");
  agree(x.k, k);
  require(x.k.h == k.size[0] && x.k.nk == std::min(k.size[1], u.size[2]) &&
              x.k.h_stride == k.stride[0] && x.k.nk <= short_taps,
          "the filters changed");
  require(x.share * k.size[0] == u.size[1] && x.wraps == is_circular(), "other sequences");
  check_outputs<32>(x.to, x.correlates);
  require(!x.to.folds, "an end that is not there");
  finish(x.to, false, x.correlates);
}

}  // namespace
}  // namespace fuzz

namespace tk {

template <class T> struct short_conv_run {
  static int most_taps() { return fuzz::short_taps; }
  static void launch(short_filters const& x, void* stream) { fuzz::check_short<T>(x, stream); }
};
template struct short_conv_run<bf16>;
template struct short_conv_run<fp16>;

template <int N2> struct fft_filters_run {
  static std::int64_t half() { return fuzz::fft_conv::half_of(N2); }
  static void launch(filters_to_transform const& x, void* stream) {
    fuzz::check_filters<N2>(x, stream);
  }
};
template <class T, int N2> struct fft_conv_run {
  static void transform(windows_to_transform const& x, spectra_place const&, void* stream) {
    bool const of_inputs = x.kind != window_kind::after;
    fuzz::check_windows<T, N2>(x, of_inputs, stream);
  }
  static void sum(products_to_sum const& x, void* stream) { fuzz::check_sum<T, N2>(x, stream); }
  static void convolve(windows_to_convolve const& x, void* stream) {
    fuzz::check_convolution<T, N2>(x, stream);
  }
  static bool correlates_at_once() { return fuzz::fft_conv::nth_of(N2) == 0; }
  static void correlate(windows_to_correlate const& x, void* stream) {
    fuzz::check_correlation<T, N2>(x, stream);
  }
};
template struct fft_filters_run<16>;
template struct fft_filters_run<32>;
template struct fft_filters_run<64>;
template struct fft_filters_run<128>;
template struct fft_conv_run<bf16, 16>;
template struct fft_conv_run<bf16, 32>;
template struct fft_conv_run<bf16, 64>;
template struct fft_conv_run<bf16, 128>;
template struct fft_conv_run<fp16, 16>;
template struct fft_conv_run<fp16, 32>;
template struct fft_conv_run<fp16, 64>;
template struct fft_conv_run<fp16, 128>;

}  // namespace tk
