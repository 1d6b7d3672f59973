// SPDX-License-Identifier: MIT
// embedding backward: dtable[r, :] = sum of dy[i, :] over the tokens i that name row r.
// Shapes    dy[b, s, n, d], a token's row by its number; tokens sorted by row, `none` and more for
//           those that count for nothing; dtable[v, d].
// Numerics  fp32; rounded once.
// Order     a row's tokens are cut into pieces of 128, each summed in ascending order. A row of one
//           piece is done; sums of several are left in the workspace, and added in their order.
//           Nothing else decides the bits of a row.
// Tasks     a worker has the pieces that begin among 32 sorted tokens, and some of their columns:
//           as many loads are on their way whether pieces are long or short. Others have some rows
//           of dtable, and fill with zeros those that no token names.
#pragma once
#include "backends/kernel.hpp"
#include "core/rows.hpp"
#include "ops/embedding/backward_problem.hpp"
#include "ops/embedding/token_rows.hpp"

namespace tk {

// Tokens in the order of the rows that they name.
struct named_tokens {
  sorted_items sorted;
  int count;
  std::uint32_t none;  // the number of rows: those that name none come last

  // The row of the i-th; none where there is no such token.
  TK_BOTH std::uint32_t row(int i) const { return i < count ? sorted.keys[i] : none; }
  // The first of [first, last) that names `row` or one behind it; else last.
  TK_BOTH int first_of(std::uint32_t row, int first, int last) const {
    while (first < last) {
      int const middle = first + (last - first) / 2;
      if (sorted.keys[middle] < row) first = middle + 1;
      else last = middle;
    }
    return first;
  }
};

// Sums of pieces: of the window of sorted tokens in which a piece begins, that of a row's first
// piece, or of another.
TK_BOTH constexpr int sum_of_piece(int begin, bool is_first) {
  return begin / piece_tokens * 2 + (is_first ? 0 : 1);
}

template <class T, class D> struct embedding_backward_args {
  named_tokens tokens;
  counted_rows<T const> dy;
  tensor<D> dtable;
  tensor<float> sums;  // of pieces
  int dy_vector_width, dtable_vector_width;
  int column_parts;  // workers share the columns of a piece
};

// What the kernels have in common.
struct embedding_backward_shape {
  static constexpr int workers = whole_rows ? 1 : 4, cluster = 1, stages = 1, own_slots = 1;
  static constexpr int N = whole_rows ? 1024 : 8 * be::worker_lanes;  // columns at a time
  static constexpr int some = 32;  // tokens, rows or windows of a worker
  static_assert(some <= piece_tokens);
  using tile = reg_tile<float, 1, N>;
  struct stage {};
  struct own {};
  struct scratch {
    int is[some];
  };
  struct task {
    int index, steps;
  };
  template <class Args> static TK_BOTH task task_at(Args const&, int i, int) { return {i, 0}; }
  template <class Args>
  static TK_DEVICE void load(stage&, Args const&, task const&, int, be::arrival) {}

  // body(first column) for those of a part.
  template <class Args, class Body>
  static TK_DEVICE void for_columns(Args const& a, int part, Body body) {
    for (std::int64_t col = std::int64_t{part} * N; col < a.dtable.cols;
         col += std::int64_t{a.column_parts} * N)
      body(static_cast<int>(col));
  }
  // body(i) for the i below `some` of which is(i); lanes ask for one each.
  template <class Context, class Is, class Body>
  static TK_DEVICE void for_some(Context& c, Is is, Body body) {
    for (int i = c.w.lane(); i < some; i += be::worker_lanes) c.scratch.is[i] = is(i);
    c.w.sync();
    for (int i = 0; i < some; ++i)
      if (c.scratch.is[i]) body(i);
    c.w.sync();
  }
};

template <class T, class D> struct embedding_backward_rows : embedding_backward_shape {
  using args = embedding_backward_args<T, D>;
  static constexpr int at_once = 16 / static_cast<int>(sizeof(T));

  static TK_BOTH int token_units(args const& a) {
    return ceil_div(a.tokens.count, some) * a.column_parts;
  }
  static TK_BOTH int row_units(args const& a) {
    return ceil_div(static_cast<int>(a.dtable.rows), some);
  }
  static TK_BOTH int tasks(args const& a) {
    return ceil_div(token_units(a) + row_units(a), workers);
  }

  // The sorted tokens of the pieces that begin among `some` of them.
  struct range {
    int first, last;
    bool continues;  // the first piece is not its row's first
  };
  static TK_DEVICE range pieces_from(args const& a, int from) {
    auto const& x = a.tokens;
    int const to = from + some < x.count ? from + some : x.count;
    range r{from, to, false};
    if (std::uint32_t const row = x.row(from); from > 0 && x.row(from - 1) == row) {
      // In a piece of an earlier token: to its end, or the row's.
      int const in = (from - x.first_of(row, 0, from)) % piece_tokens;
      int const next = in > 0 ? from + piece_tokens - in : from;
      r.first = x.first_of(row + 1, from, next < to ? next : to);
      r.continues = r.first == next && x.row(next) == row;
    }
    if (r.first == to || x.row(r.first) >= x.none) return {to, to, false};
    std::uint32_t const row = x.row(to - 1);
    if (row >= x.none) {
      r.last = x.first_of(x.none, r.first, to);
    } else if (x.row(to) == row) {
      // The last piece goes on behind them.
      int const past = x.first_of(row, r.first, to) + piece_tokens;
      r.last = x.first_of(row + 1, to, past < x.count ? past : x.count);
    }
    return r;
  }

  static TK_DEVICE void add_tokens(args const& a, range const& r, int col) {
    auto const& x = a.tokens;
    tile sum = 0.f;
    int length = 0;  // of the piece so far
    bool continues = r.continues;
    for (int i = r.first; i < r.last; i += at_once) {
      reg_tile<T, 1, N> dy[at_once];
      TK_UNROLL
      for (int k = 0; k < at_once; ++k)
        tk::load(dy[k], a.dy, a.dy_vector_width, i + k < r.last ? x.sorted.numbers[i + k] : x.count,
                 col);
      TK_UNROLL
      for (int k = 0; k < at_once; ++k) {
        int const at = i + k;
        if (at >= r.last) break;
        if (length == 0) sum = 0.f;
        sum = sum + dy[k];
        ++length;
        std::uint32_t const row = x.row(at);
        bool const more = x.row(at + 1) == row;
        if (more && length < piece_tokens) continue;
        if (more || continues)
          store(a.sums, chunk_of<float>, sum_of_piece(at + 1 - length, !continues), col,
                cast<float>(sum));
        else store(a.dtable, a.dtable_vector_width, static_cast<int>(row), col, cast<D>(sum));
        continues = more;
        length = 0;
      }
    }
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const unit = t.index * workers + c.w.id(), row_unit = unit - token_units(a);
    if (row_unit >= row_units(a)) return;
    if (row_unit < 0) {
      auto const r = pieces_from(a, unit / a.column_parts * some);
      for_columns(a, unit % a.column_parts, [&](int col) { add_tokens(a, r, col); });
      return;
    }
    auto const is_unnamed = [&](int i) {
      int const row = row_unit * some + i;
      auto const key = static_cast<std::uint32_t>(row);
      return row < a.dtable.rows && a.tokens.row(a.tokens.first_of(key, 0, a.tokens.count)) != key;
    };
    tile const zero = 0.f;
    for_some(c, is_unnamed, [&](int i) {
      for (int col = 0; col < a.dtable.cols; col += N)
        store(a.dtable, a.dtable_vector_width, row_unit * some + i, col, cast<D>(zero));
    });
  }
};

// Rows of several pieces, by the window of sorted tokens in which they begin.
template <class T, class D> struct embedding_backward_long_rows : embedding_backward_shape {
  using args = embedding_backward_args<T, D>;
  static constexpr int at_once = 8;

  static TK_BOTH int units(args const& a) {
    return ceil_div(ceil_div(a.tokens.count, piece_tokens), some) * a.column_parts;
  }
  static TK_BOTH int tasks(args const& a) { return ceil_div(units(a), workers); }

  // The first token of a row of several pieces that begins in a window, or -1: it names the token
  // behind the window.
  static TK_DEVICE int first_in(named_tokens const& x, int window) {
    if (window >= x.count / piece_tokens) return -1;
    int const from = window * piece_tokens, past = from + piece_tokens;
    std::uint32_t const row = x.row(past);
    if (row >= x.none || x.row(past - 1) != row || (from > 0 && x.row(from - 1) == row)) return -1;
    int const first = x.first_of(row, from, past);
    return x.row(first + piece_tokens) == row ? first : -1;
  }

  static TK_DEVICE void add_pieces(args const& a, std::uint32_t row, int first, int pieces,
                                   int col) {
    tile sum = 0.f;
    for (int i = 0; i < pieces; i += at_once) {
      tile x[at_once];
      TK_UNROLL
      for (int k = 0; k < at_once; ++k)
        tk::load(x[k],
                 tensor<float const>{a.sums.data, a.sums.rows, a.sums.cols, a.sums.row_stride},
                 chunk_of<float>,
                 i + k < pieces ? sum_of_piece(first + (i + k) * piece_tokens, i + k == 0)
                                : static_cast<int>(a.sums.rows),
                 col);
      TK_UNROLL
      for (int k = 0; k < at_once; ++k)
        if (i + k < pieces) sum = sum + x[k];
    }
    store(a.dtable, a.dtable_vector_width, static_cast<int>(row), col, cast<D>(sum));
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const unit = t.index * workers + c.w.id();
    if (unit >= units(a)) return;
    auto const& x = a.tokens;
    int const windows = unit / a.column_parts * some;
    for_some(
        c, [&](int i) { return first_in(x, windows + i) >= 0; },
        [&](int i) {
          int const first = first_in(x, windows + i);
          std::uint32_t const row = x.row(first);
          int const count = x.first_of(row + 1, first + piece_tokens, x.count) - first;
          for_columns(a, unit % a.column_parts, [&](int col) {
            add_pieces(a, row, first, ceil_div(count, piece_tokens), col);
          });
        });
  }
};

}  // namespace tk
