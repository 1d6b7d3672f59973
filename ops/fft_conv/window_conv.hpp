// SPDX-License-Identifier: MIT
// The long convolution where a filter is one piece: windows of sequences to spectra, times that of
// the filter, and back, all by one worker, and nothing but operands and results in global memory.
// Shapes    x[b, h, n] and a gate (windows.hpp); filters' spectra[h / share]; outputs[b, h, n]
//           (outputs.hpp).
// Numerics  windows are scaled by powers of two, and spectra of filters have been, to what keeps
//           all that follows within fp16 (transform.hpp, whole_transform.hpp).
// Overlap   the workers of a block are each somewhere else: while one loads, others multiply. A
//           worker has neighbouring sequences of a channel, and caches fetch the next one
//           meanwhile.
#pragma once
#include "core/schedule.hpp"
#include "ops/fft_conv/outputs.hpp"
#include "ops/fft_conv/whole_transform.hpp"
#include "ops/fft_conv/windows.hpp"

namespace tk {

// How many windows a worker has side by side, and what it is.
template <class T, int N2>
inline constexpr int windows_together = be::tune_fft_workers(N2, in_pairs<T>).together;
template <class T, int N2, class Factors>
using convolving_workers =
    fft_workers<N2, in_pairs<T>, be::tune_fft_workers(N2, in_pairs<T>).convolutions,
                windows_together<T, N2>, Factors>;

template <class T, int N2, bool Both, class Factors = fft_factors<N2, in_pairs<T>>>
struct window_conv : convolving_workers<T, N2, Factors> {
  using base = convolving_workers<T, N2, Factors>;
  using sizes = typename base::sizes;
  static constexpr int S = windows_together<T, N2>;
  static constexpr bool whole = std::is_same_v<Factors, whole_factors<N2>>;
  struct args {
    window_source<T, N2> from;
    spectra<N2, kept_spectra<T>> filters;  // from that of the first channel on
    int share;                             // channels of a filter
    float sign;                            // -1: a correlation
    block_outputs<T, T, N2, S, whole> to;
    int each;  // windows of a block, a multiple of S
  };
  // Of all batches of a channel, one after another: they share the filter.
  static TK_BOTH int tasks(args const& a) { return ceil_div(a.from.count(), a.each); }
  static TK_BOTH typename base::task task_at(args const& a, int i, int) { return {i * a.each, 0}; }

  template <class Context>
  static TK_DEVICE void compute(Context& c, args const& a, typename base::task const& t) {
    // Neighbours of a block's windows, S after another, are a worker's.
    auto const bound = [&](int worker) {
      int const at = t.first + a.each / S * worker / base::workers * S;
      return at < a.from.count() ? at : a.from.count();
    };
    int const first = bound(c.w.id()), end = bound(c.w.id() + 1);
    if (first >= end) return;
    kept const roots(c.resident);
    windows at(a, first, end);
    arrived from;
    if constexpr (early_windows) {
      from.fetch(a, at);
      from.measure(c, a);
      c.w.sync();  // all have exchanged
    }
    TK_ROLL
    for (int nth = first; nth < end; nth += S) {
      auto next = at;  // past the end it does no harm
      next.advance(a, nth, end);
      if constexpr (!early_windows) {
        if (nth + S < end) TK_UNROLL
        for (auto const& one : next.of) reader::prefetch(a.from, one);
        from.fetch(a, at);
      }
      convolve(c, a, roots, at, from, next);
      TK_UNROLL
      for (int i = 0; i < team::each; ++i)
        if (int const s = windows::number(i); nth + s < end)
          a.to.write(c.scratch.x, {at.of[i].b, a.to.first_column + at.of[i].h, at.of[i].block}, s);
      at = next;
      c.w.sync();  // all have read
    }
  }

 private:
  struct nothing {
    TK_DEVICE explicit nothing(Factors const&) {}
  };
  using kept = std::conditional_t<whole, whole_roots, nothing>;
  using reader = window_reader<T, N2, Both, S, whole>;
  using team = teams<S>;
  static constexpr bool pairs = in_pairs<T>;
  // Whether windows are read and measured while those before them are transformed back: large ones
  // want the registers.
  static constexpr bool early_windows = sizes::P == 1;
  // Of U columns of a filter there are so many parts, of which some are read while products run:
  // fp32 ones would be too large.
  static constexpr int parts = sizes::U / sizes::part,
                       early = !pairs         ? 0
                               : S > 1        ? parts
                               : sizes::P > 1 ? (Both ? 0 : 3)
                                              : ceil_div(parts, 2),
                       held = pairs ? parts : 1;
  using filter_part = typename spectra<N2, kept_spectra<T>>::part;

  // Of S windows from the first-th on those of this lane's team; of what is past the end the last
  // one, again.
  struct windows {
    window_place of[team::each];
    TK_DEVICE windows(args const& a, int first, int end) {
      TK_UNROLL
      for (int i = 0; i < team::each; ++i) {
        int const nth = first + number(i);
        of[i] = window_place::by_channel(a.from, nth < end ? nth : end - 1);
      }
    }
    TK_DEVICE void advance(args const& a, int first, int end) {
      TK_UNROLL
      for (int i = 0; i < team::each; ++i) {
        int const nth = first + number(i), left = end - 1 - nth;
        if (left > 0) of[i].advance(a.from, left < S ? left : S);
      }
    }
    static TK_DEVICE int number(int i) { return team::mine() + i * team::count; }
  };
  // What comes of windows, by this lane's team.
  struct arrived {
    typename reader::fetched from[team::each];
    magnitudes size[team::each];
    float bound[team::each];  // of the filter's spectrum
    TK_DEVICE void fetch(args const& a, windows const& at) {
      TK_UNROLL
      for (int i = 0; i < team::each; ++i) {
        from[i] = reader::fetch(a.from, at.of[i]);
        bound[i] = a.filters.bounds[filter_of(a, at.of[i])];
      }
    }
    template <class Context> TK_DEVICE void measure(Context& c, args const& a) {
      TK_UNROLL
      for (int i = 0; i < team::each; ++i)
        size[i] = reader::measure(a.from, from[i], c.scratch.exchange, c.w);
    }
  };
  static TK_DEVICE int filter_of(args const& a, window_place const& at) {
    return a.share == 1 ? at.h : at.h / a.share;
  }

  // What becomes of S windows, in c.scratch.x; then `from` is of the next ones.
  template <class Context>
  static TK_DEVICE void convolve(Context& c, args const& a, kept const& roots, windows const& at,
                                 arrived& from, windows const& next) {
    auto& x = c.scratch.x;
    auto& of = c.scratch.of;
    side_by_side mine{};  // where there is one
    TK_UNROLL
    for (int i = 0; i < team::each; ++i) {
      int const s = windows::number(i);
      auto const scale = reader::template put<false, early_windows>(
          x, a.from, at.of[i], from.from[i], c.scratch.exchange, c.w, window_bits, s, from.size[i]);
      mine = {filter_of(a, at.of[i]), inverse_of_power(scale.by) *
                                          inverse_of_power(scale_of_spectrum(from.bound[i])) *
                                          ((whole ? 1 : 2) * N2 * N2 * sizes::step)};
      if (S > 1 && team::lane() == 0) of[s] = mine;
    }
    c.w.sync();
    auto const filter = [&](int s) { return S > 1 ? of[s].filter : mine.filter; };
    auto const put = [&](auto& through, auto& y) {
      a.to.put(through, y, [&](int s) { return S > 1 ? of[s].back : mine.back; });
    };
    auto const ahead = [&] {
      if constexpr (early_windows) from.fetch(a, next);
    };
    auto const meanwhile = [&] {
      if constexpr (early_windows) from.measure(c, a);
    };
    if constexpr (whole) convolve_whole(c, a, roots, filter, ahead, meanwhile, put);
    else convolve_between(c, a, filter, ahead, meanwhile, put);
    c.w.sync();  // it is there
  }
  template <class Context, class Filter, class Ahead, class Meanwhile, class Put>
  static TK_DEVICE void convolve_between(Context& c, args const& a, Filter filter, Ahead ahead,
                                         Meanwhile meanwhile, Put put) {
    auto& x = c.scratch.x;
    packed_complex<N2> p[S];
    filter_part k[held];
    auto const load_early = [&](int part, int s) {
      TK_UNROLL
      for (int i = 0; i < early; ++i) load(k[i], a.filters, filter(s), part * parts + i);
    };
    transform<Both, N2, S>(
        x, c.resident, c.w,
        [&](int part, int s) {
          if (s == 0) load_early(part, s);
        },
        [&](int part, int s, auto& y) {
          if (s > 0 && filter(s) != filter(s - 1)) load_early(part, s);
          auto const z = product(y, k, a, filter(s), part * parts);
          if constexpr (sizes::P == 1) {
            p[s].push(z);
          } else {  // out of the registers, which the spectrum's other parts need
            store(x[part][0], z.re);
            store(x[part][1], z.im);
          }
        });
    c.w.sync();  // all have exchanged, and what was stored is there
    if constexpr (sizes::P > 1) {
      TK_UNROLL
      for (int part = 0; part < sizes::P; ++part) {
        load(p[0].re.of[part], x[part][0]);
        load(p[0].im.of[part], x[part][1]);
      }
      be::publish_shared();
      c.w.sync();  // all have loaded
    }
    transform_back(x, p, c.resident, c.w, ahead, meanwhile, put);
  }
  // At whole frequencies, of windows that are whole sequences (whole_transform.hpp).
  template <class Context, class Filter, class Ahead, class Meanwhile, class Put>
  static TK_DEVICE void convolve_whole(Context& c, args const& a, kept const& roots, Filter filter,
                                       Ahead ahead, Meanwhile meanwhile, Put put) {
    constexpr int M = N2 / 2, each = parts / 2;  // parts of A, and of B
    auto& x = c.scratch.x;
    packed_complex<M> p[S];
    filter_part k[parts];
    packed_complex_tile<64, M> z;
    auto const load_half = [&](int s, int first) {
      TK_UNROLL
      for (int i = 0; i < each; ++i) load(k[first + i], a.filters, filter(s), first + i);
    };
    transform_whole<N2, S>(
        x[0][0], roots, c.resident, c.w, [&] { load_half(0, 0); }, [&] { load_half(0, each); },
        [&](int i, packed_complex_tile<64, M>& y) {
          if (i % 2 == 0) {
            if (i > 0 && filter(i / 2) != filter(i / 2 - 1)) {
              load_half(i / 2, 0);
              load_half(i / 2, each);
            }
            z = y;
            TK_UNROLL
            for (int part = 0; part < each; ++part) {
              if (a.sign < 0) multiply_conjugate(z, part, k[part]);
              else multiply(z, part, k[part]);
            }
          } else {
            if (a.sign < 0) y = {negative(y.re), negative(y.im)};
            TK_UNROLL
            for (int part = 0; part < each; ++part) {
              if (a.sign < 0) multiply_add<true>(z, y, part, k[each + part]);
              else multiply_add(z, y, part, k[each + part]);
            }
            p[i / 2].push(z);
          }
        });
    ahead();
    transform_whole_back(x, p, roots, c.resident, c.w, meanwhile, put);
  }
  // U columns of the spectrum times those of the filter from the first-th part on, of which the
  // early ones are in k, or of its conjugate.
  template <class Sums>
  static TK_DEVICE packed_complex_tile<64, sizes::U> product(Sums& s, filter_part (&k)[held],
                                                             args const& a, int filter, int first) {
    if constexpr (pairs) {
      TK_UNROLL
      for (int i = early; i < parts; ++i) load(k[i], a.filters, filter, first + i);
      auto y = pack(s);
      TK_UNROLL
      for (int i = 0; i < parts; ++i) {
        if (a.sign < 0) multiply_conjugate(y, i, k[i]);
        else multiply(y, i, k[i]);
      }
      return y;
    } else {
      TK_UNROLL
      for (int i = 0; i < parts; ++i) {
        load(k[0], a.filters, filter, first + i);
        multiply(s, i, k[0], a.sign);
      }
      return pack(s);
    }
  }
};

}  // namespace tk
