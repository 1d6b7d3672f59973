// SPDX-License-Identifier: MIT
// The rows that a worker has at once, in the words of core/row_kernel.hpp: where they are, what has
// been read of them, and the passes over their columns.
#pragma once
#include "backends/kernel.hpp"
#include "core/column_adder.hpp"
#include "core/row_ends.hpp"
#include "core/row_exponents.hpp"
#include "core/row_inputs.hpp"
#include "core/row_numbers.hpp"
#include "core/row_outputs.hpp"
#include "core/row_part.hpp"
#include "core/row_random.hpp"
#include "core/row_vectors.hpp"

namespace tk {

template <class Kernel, class W, class Context> class row_group {
  using kernel = Kernel;
  using op = typename Kernel::op;
  static constexpr int R = kernel::R, N = kernel::N, abreast = kernel::abreast;
  static constexpr bool shared = kernel::shared, is_long = kernel::is_long,
                        shifted = kernel::shifted, across = kernel::across,
                        holds_vectors = kernel::template holds_vectors<W>;
  static constexpr int first_optional = extras_of<op>().vectors, inputs = row_inputs<kernel>::count;
  using places = flat_places<R, N, abreast>;
  using tile = reg_tile<float, R, N>;
  using ends = row_ends<kernel>;
  using numbers = row_numbers<kernel>;
  static constexpr int vector_count = op::vectors > 0 ? op::vectors : 1;
  template <int V> using vector_rows = reg_row<held_element<W>, R, V>[vector_count];
  template <int V> using vectors_in_place = rows_in_place<held_element<W>, R, V>[vector_count];
  // Whether values per column are read for each pass, and of how many parts of V columns at once:
  // 64 bytes of a lane, but where sums over rows, or short rows that begin anywhere, leave no room.
  static constexpr bool reads_vectors = op::vectors > 0 && !holds_vectors && !kernel::parks_vectors;
  template <int V, bool Optional> static constexpr int parts_read() {
    constexpr int each =
        static_cast<int>(sizeof(reg_row<W, R, V>)) * (Optional ? op::vectors : first_optional);
    bool const many =
        reads_vectors && !whole_rows && !across && (!shifted || is_long) && kernel::sums == 0;
    int n = many ? N / V : 1;
    while (n > 1 && (N / V % n != 0 || n * each > 64)) --n;
    return n;
  }

 public:
  static constexpr bool lean = kernel::lean;  // as row_extras says
  using column = reg_col<float, R>;

  TK_DEVICE row_group(Context& c, typename kernel::args const& a, [[maybe_unused]] int task)
      : c_(c), a_(a), in_(a) {
    if constexpr (kernel::sums > 0) sums_.begin(task);
    if constexpr (holds_vectors) {
      read_vectors<kernel, W>(vectors_, a, 0, kernel::col_of(0, kernel::worker_of(c)));
    } else if constexpr (kernel::parks_vectors) {
      vector_rows<N> all;
      read_vectors<kernel, W>(all, a, 0, kernel::col_of(0, kernel::worker_of(c)));
      park(c.scratch.vectors, all);
    }
  }
  // The next rows to begin with; what they read is on its way then, or caches are asked for it.
  TK_DEVICE void ask([[maybe_unused]] typename kernel::place const& at) {
    if constexpr (kernel::ahead || kernel::fetches)
      in_.ask(at, kernel::col_of(0, kernel::worker_of(c_)));
  }
  // The next rows that are read: numbers that say of which rows of tables.
  TK_DEVICE void ask_numbers(typename kernel::place const& at) { in_.ask_numbers(at); }
  TK_DEVICE void begin(typename kernel::place const& at) {
    at_ = at;
    pass_ = 0;
    if constexpr (kernel::sums > 0) sums_.begin_rows();
    ends_.find(a_, at.row);
    if constexpr (shifted) shift_ = shift_at(at);
    if constexpr (kernel::ahead) in_.take_asked(col_at(0));
    else in_.take_numbers(at);
    if constexpr (!kernel::ahead && !is_long) read(0);
    if constexpr (!is_long) col_ = col_at(0);
  }

  template <class F> TK_DEVICE auto keep(F f) {
    using value = decltype(f(*static_cast<part<kernel::kept_at_once, true>*>(nullptr)));
    if constexpr (is_long || is_columns_part<value>) return kept<F, no_memory>(f);
    else return computed(f);
  }
  template <class F> TK_DEVICE column sum(F f) { return reduce<plus>(f, 0.f); }
  template <class F> TK_DEVICE column max(F f) { return reduce<larger>(f, -inf); }

  template <class F, class G> TK_DEVICE two_sums<column> sum_both(F f, G g) {
    two_sums<column> all{column(0.f), column(0.f)};
    fold([&](auto const& p) __attribute__((always_inline)) {
      all.first = all.first + share<plus>(p, f(p), 0.f);
      all.second = all.second + share<plus>(p, g(p), 0.f);
    });
    add_up_both(all.first, all.second);
    return all;
  }

  // A row of -inf alone, or of nothing, has the sum 0.
  template <class F> TK_DEVICE auto max_and_sum(F f, float by = 1.f) { return max_and_sums(f, by); }
  template <class F, class G = nothing>
  TK_DEVICE auto keep_exp2(F f, float factor = 1.f, [[maybe_unused]] G g = {},
                           [[maybe_unused]] bool wants_other = false) {
    maximum_and_sums<column> y{0.f, 0.f, 0.f, 0.f};
    if constexpr (is_long) y = max_and_sums(f, factor, g, wants_other);
    else y.top = max(f), y.max = y.top * factor;
    auto const of_part = [f, base = exponents_below(y.top, factor)](auto const& p) {
      return exp2(f(p) * base.factor - base.shift);
    };
    exponentials<column, decltype(keep(of_part))> all{y, keep(of_part)};
    if constexpr (!is_long) {
      all.sum = sum([&](auto const& p) { return p(all.each); });
      if constexpr (!std::is_same_v<G, nothing>)
        if (wants_other) all.other = sum(g);
    }
    return all;
  }
  template <class F, class G = nothing>
  TK_DEVICE maximum_and_sums<column> max_and_sums(F f, float factor, [[maybe_unused]] G g = {},
                                                  bool wants_other = false) {
    maximum_and_sums<column> y{0.f, 0.f, 0.f, 0.f};
    constexpr bool is_one = std::is_same_v<G, nothing>;
    auto const add_other = [&](auto const& p) __attribute__((always_inline)) {
      if constexpr (!is_one) y.other = y.other + share<plus>(p, g(p), 0.f);
    };
    if constexpr (!is_long) {
      y.top = max(f);
      auto const base = exponents_below(y.top, factor);
      fold([&](auto const& p) __attribute__((always_inline)) {
        y.sum = y.sum + share<plus>(p, exp2(f(p) * base.factor - base.shift), 0.f);
      });
      if (wants_other) fold(add_other);
    } else {
      running_exponents<R> run(factor);  // of this lane
      auto const add = [&](auto const& p) __attribute__((always_inline)) {
        auto const add_up = [&](auto numbers) __attribute__((always_inline)) {
          run.expect(share<larger>(p, numbers(), -inf));
          run.sum = run.sum + share<plus>(p, run.of(numbers()), 0.f);
        };
        if constexpr (whole_rows) add_up([&] { return f(p); });
        else add_up([x = evaluated(f(p))]() -> auto const& { return x; });
        if (wants_other) add_other(p);
      };
      for_each_piece([&](bool inside)
                         __attribute__((always_inline)) { for_each_part_of_piece(inside, add); });
      y.top = total<larger>(run.top);
      y.sum = run.sum_below(y.top);
    }
    y.max = y.top * factor;
    if constexpr (is_one) y.sum = total<plus>(y.sum);
    else add_up_both(y.sum, y.other);
    return y;
  }
  template <class Body> TK_DEVICE void each(Body body) {
    out_.find(a_, at_);
    in_.find_next(at_);
    auto const all = [&](auto const& p) __attribute__((always_inline)) {
      in_.prefetch_next(p.col(), kernel::V);
      body(p);
    };
    if constexpr (first_optional < op::vectors) {
      if (!a_.vectors[first_optional].data) return pass<kernel::V, false>(all);
    }
    pass<kernel::V>(all);
  }

  template <class T, int I, class F> TK_DEVICE column value(row_value<I>, F f) const {
    return numbers::template value<T, I>(a_, at_, f);
  }
  using columns = row_columns<R>;
  template <class T, int I> TK_DEVICE columns column_of(row_value<I>) const {
    return numbers::template column_of<T, I>(a_, at_);
  }
  template <int I> TK_DEVICE auto element(row_input<I>, columns const& at) const {
    return numbers::template element<I>(a_, at_, at);
  }
  template <int I> TK_DEVICE void put(row_value<I>, column const& x) const {
    if (!a_.values[I].data || places::lane_col() != 0 || (shared && kernel::worker_of(c_) != 0))
      return;
    auto const of = kernel::template rows_of<float>(a_.values[I], a_, at_);
    numbers::for_each_row(a_, at_, [&](int r, int row) { *of.at(row, 0) = x.e[r]; });
  }

  // Leaves the sums over the rows of a task.
  TK_DEVICE void finish() {
    if constexpr (kernel::sums > 0) sums_.leave(c_, a_, col_);
  }

 private:
  // What lies in a function's outermost block g++ 12 returns without a copy.
  template <class F> TK_DEVICE kept<F, tile> computed(F f) {
    kept<F, tile> y(f);
    for_each_part<kernel::kept_at_once>([&](auto const& p) __attribute__((always_inline)) {
      auto&& x = f(p);
      put_part(y.x, p.index, x);
    });
    return y;
  }
  // V of this worker's columns; `index` says which. Without Optional, values per column that need
  // not be there are not. Those that were read are of some parts, of which this is the `nth`.
  // Inside: all of the rows have all of these columns.
  template <int V, bool Optional, bool Inside = false> struct part {
    row_group& rows;
    int index, nth;
    vector_rows<V * parts_read<V, Optional>()> const& vectors;
    // Or of this part alone: a member, since nvcc 13.0 reads what only a reference leads to from
    // generic memory, number by number; where a worker is one lane, they stay where they lie.
    static constexpr bool has_own =
        op::vectors > 0 && !holds_vectors && parts_read<V, Optional>() == 1;
    using own_rows = std::conditional_t<whole_rows, vectors_in_place<V>, vector_rows<V>>;
    [[no_unique_address]] std::conditional_t<has_own, own_rows, no_memory> own;

    template <int I> TK_DEVICE auto operator()(row_input<I>) const {
      if constexpr (lean && I >= extras_of<op>().inputs) return absent{};
      else return part_of<V>(std::as_const(rows.in_).template tile<I>(), index);
    }
    template <class F, class Tile> TK_DEVICE auto operator()(kept<F, Tile> const& x) const {
      if constexpr (std::is_same_v<Tile, no_memory>) return x.f(*this);
      else return part_of<V>(x.x, index);
    }
    template <int I> TK_DEVICE auto operator()(row_vector<I>) const {
      if constexpr (!Optional && I >= first_optional) return absent{};
      else if constexpr (holds_vectors) return part_of<V>(rows.vectors_[I], index);
      else if constexpr (has_own) return part_of<V>(own[I], 0);
      else return part_of<V>(vectors[I], nth);
    }
    TK_DEVICE int col() const { return rows.col_ + index * V; }
    TK_DEVICE auto one_at(row_columns<R> const& at) const {
      return one_column<R, V, abreast>(at, col());
    }
    TK_DEVICE bool has(row_columns<R> const& at) const {
      return any_within(at, col(), V / abreast);
    }
    template <class X> TK_DEVICE auto inside(X&& x) const {
      return within<R, V, abreast, shifted, std::remove_cvref_t<X>>(x, rows.ends_.of_lane(), col(),
                                                                    0.f);
    }
    template <class X> TK_DEVICE auto rotate_pairs(X&& x) const {
      static_assert(has_pairs<op>());
      return rotated_pairs<std::remove_cvref_t<X>>(x);
    }
    template <class X>
    TK_DEVICE auto keep_random(X&& x, random_plane const& plane, unsigned below) const {
      return kept_at_random<R, V, abreast, !shifted, std::remove_cvref_t<X>>(
          x, plane, below, numbers::first_row(rows.a_, rows.at_), col());
    }
    template <int I, class X> TK_DEVICE void add(column_sum<I>, [[maybe_unused]] X&& x) const {
      if constexpr (I < kernel::sums)
        if (rows.a_.sums[I]) rows.sums_.template add<I, V>(rows.a_, rows.at_.row, index, col(), x);
    }
    template <int I, class X> TK_DEVICE void write(row_output<I>, X&& x) const {
      write_as<typename op::template output<I>, I>(static_cast<X&&>(x));
    }
    template <class U, int I, class X>
    TK_DEVICE void write_either(row_output<I> of_x, X&& x, bool other) const {
      if constexpr (!whole_rows)
        rows.out_.template put_either<U, I, Inside>(rows.a_, rows.at_, col(), evaluated(x), other);
      else if (other) write_as<U, I>(static_cast<X&&>(x));
      else write(of_x, static_cast<X&&>(x));
    }
    template <int I, class X, int J, class Y>
    TK_DEVICE void write(row_output<I> of_x, X&& x, row_output<J> of_y, Y&& y) const {
      auto both = evaluated_together(static_cast<X&&>(x), static_cast<Y&&>(y));
      write(of_x, std::move(both.x)), write(of_y, std::move(both.y));
    }
    template <class T, int I, class X> TK_DEVICE void write_as(X&& x) const {
      if constexpr (lean && I >= extras_of<op>().outputs) return;
      if (!row_outputs<kernel>::template is_there<I>(rows.a_)) return;
      auto const put = [&](auto const& y) __attribute__((always_inline)) {
        rows.out_.template put<T, I, Inside>(rows.a_, rows.at_, col(), y);
      };
      auto const none_ends = [&] { return rows.ends_.template none_ends<V>(rows.a_, col()); };
      constexpr bool may_end = is_within<std::remove_cvref_t<X>>;
      if constexpr (whole_rows) {  // at once: what lies between two passes is memory
        if constexpr (may_end)
          if (none_ends()) return put(narrowed<T, decltype(x.x), saturates<T>>{x.x});
        put(rounded<T>(static_cast<X&&>(x)));
      } else {
        reg_tile<float, R, V> y;
        if constexpr (!may_end) put_part(y, 0, x);
        else if (none_ends()) put_elements(y, 0, x.x);
        else put_part(y, 0, x);
        put(rounded<T>(std::move(y)));
      }
    }
  };

  // Columns before this lane's row, from the boundary that its columns begin at.
  TK_DEVICE int shift_at(typename kernel::place const& at) const {
    if constexpr (kernel::shifts_by_output)
      if (a_.out[0].data) {
        auto const to = kernel::template rows_of<typename kernel::lead>(a_.out[0], a_, at);
        return lane_shift<R, N, abreast>(to, at.row);
      }
    return lane_shift<R, N, abreast>(kernel::template input_rows<0>(a_, at), at.row);
  }
  TK_DEVICE int col_at(int piece) const {
    return kernel::col_of(piece, kernel::worker_of(c_)) - (shifted ? shift_ : 0);
  }

  // All inputs of a piece: from memory, or if it is long from the ring, there from the slots that
  // are held, from the n-th on, where it does not `take` others.
  TK_DEVICE void read(int piece, [[maybe_unused]] bool take = false, [[maybe_unused]] int n = 0) {
    int const col = col_at(piece);
    if constexpr (across) return in_.read_across(at_, col);
    // Past a row's end nothing need be read; not so of several inputs: nvcc 13.0 would spill 2 KB.
    bool const ended = is_long && (whole_rows || inputs == 1) && col >= a_.width;
    for_each_index<inputs>([&](auto i) __attribute__((always_inline)) {
      auto& x = in_.template tile<i>();
      if constexpr (kernel::has_ring) {
        if (a_.through_ring && in_.is_there(i)) {
          auto const& s =
              kernel::template slot_of<i>(take ? c_.in.take() : c_.in.peek(n++), c_.w.id());
          if (!ended) tk::load(x, s);
          return;
        }
      }
      if (!ended) in_.template read<i>(x, at_, col);
    });
  }
  // The slots of a piece, the oldest ones, go back.
  TK_DEVICE void release() {
    if constexpr (kernel::has_ring) {
      if (!a_.through_ring) return;
      be::publish_shared(), c_.w.sync();  // as release_loaded()
      for (int i = 0; i < kernel::present(a_); ++i) c_.in.release();
    }
  }
  // body(p) for each part of what is in registers.
  template <int V, bool Optional = true, bool Inside = false, class Body>
  TK_DEVICE void for_each_part(Body body) {
    constexpr int n = parts_read<V, Optional>();
    TK_UNROLL
    for (int first = 0; first < N / V; first += n) {
      if ((is_long || whole_rows) && !Inside && col_ + first * V >= a_.width)
        return;  // nor have those after it
      vector_rows<V * n> of_columns;
      if constexpr (reads_vectors && n > 1)
        read_vectors<kernel, W, Optional>(of_columns, a_, at_.row, col_ + first * V);
      TK_UNROLL
      for (int i = 0; i < n; ++i) {
        part<V, Optional, Inside> p{*this, first + i, i, of_columns, {}};
        if constexpr (kernel::parks_vectors) take_parked(p.own, c_.scratch.vectors, first);
        else if constexpr (reads_vectors && n == 1)
          read_vectors<kernel, W, Optional>(p.own, a_, at_.row, col_ + first * V);
        body(std::as_const(p));
      }
    }
  }
  // body(p) for each part of the rows.
  template <int V, bool Optional = true, class Body> TK_DEVICE void pass(Body body) {
    if constexpr (!is_long) return for_each_part<V, Optional>(body);
    else
      for_each_piece([&](bool inside) __attribute__((always_inline)) {
        for_each_part_of_piece<V, Optional, shifted>(inside, body);
      });
  }
  // In code of its own where all rows have all of a piece's columns.
  template <int V = kernel::summed_at_once, bool Optional = true, bool Knows = true, class Body>
  TK_DEVICE void for_each_part_of_piece(bool inside, Body body) {
    if constexpr (Knows && !whole_rows)
      if (inside) return for_each_part<V, Optional, true>(body);
    for_each_part<V, Optional>(body);
  }
  // body(inside) for each piece of long rows, in registers; `inside`: all rows have all of it.
  template <class Body> TK_DEVICE void for_each_piece(Body body) {
    bool const take = !a_.pieces_fit_ring || pass_ == 0,
               last = !a_.pieces_fit_ring || pass_ == a_.passes - 1;
    for (int piece = 0; piece < a_.pieces; ++piece) {
      col_ = col_at(piece);
      bool const inside = !ends::differ(a_) && col_ >= 0 && col_ + N <= a_.width;
      read(piece, take, last ? 0 : piece * kernel::present(a_));
      if (last) release();
      body(inside);
    }
    ++pass_;
  }

  // F over a part's columns that are inside, of those this lane has.
  template <class F, int V, bool Optional, bool Inside, class X>
  TK_DEVICE column share(part<V, Optional, Inside> const& p, X const& x, float start) const {
    int const col = p.col();
    if constexpr (whole_rows) {
      if (ends_.template has_all<V>(col)) return row_share<F>(x, start);
      return row_share<F>(within<R, V, abreast, shifted, X>(x, ends_.of_lane(), col, start), start);
    } else {
      reg_tile<float, R, V> y;
      put_part(y, 0, x);
      if constexpr (Inside) return row_share<F>(y, start);
      if constexpr (kernel::whole) {
        constexpr int chunk = chunk_of<typename op::template input<0>>;
        int const left = a_.width - col - flat_places<R, V, abreast>::lane_col();
        if (!ends::differ(a_)) return share_of_chunks<F, chunk>(y, left, start);
      }
      if (!ends_.template has_all<V>(col)) {
        if constexpr (has_row_ends<op>())
          if (ends_.template has_none<V>(col)) return start;
        y = within<R, V, abreast, shifted, reg_tile<float, R, V>>(y, ends_.of_lane(), col, start);
      }
      return row_share<F>(y, start);
    }
  }
  template <class F, class G> TK_DEVICE column reduce(G g, float start) {
    column all = start;
    fold([&](auto const& p)
             __attribute__((always_inline)) { all = combine<F>(all, share<F>(p, g(p), start)); });
    return total<F>(all);
  }
  // body(p) for each part of the rows, of which total() then makes values of rows.
  template <class Body> TK_DEVICE void fold(Body body) {
    if constexpr (is_long) {
      for_each_piece([&](bool inside)
                         __attribute__((always_inline)) { for_each_part_of_piece(inside, body); });
    } else {
      for_each_part<kernel::summed_at_once>(body);
    }
  }
  template <class F> TK_DEVICE column total(column const& share_of_lane) {
    return row_total<F, shared, abreast>(c_, share_of_lane, buffer_);
  }
  TK_DEVICE void add_up_both(column& x, column& y) {
    column all[] = {x, y};
    row_totals<plus, shared, abreast>(c_, all, buffer_);
    x = all[0], y = all[1];
  }

  Context& c_;
  typename kernel::args const& a_;
  typename kernel::place at_{};
  int col_ = 0, shift_ = 0, buffer_ = 0, pass_ = 0;
  ends ends_;
  row_inputs<kernel> in_;
  row_outputs<kernel> out_;
  [[no_unique_address]] std::conditional_t<(kernel::sums > 0), column_adder<kernel>, no_memory>
      sums_;
  [[no_unique_address]] std::conditional_t<holds_vectors, vector_rows<N>, no_memory> vectors_;
};

}  // namespace tk
