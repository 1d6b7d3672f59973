// SPDX-License-Identifier: MIT
// Element-wise operators and functions over tiles, packed tiles, columns, rows and numbers, in
// every combination that compiles, for each shape. Values are small whole numbers and powers of
// two: results are exact. Each form is written once and read twice: by the device as tiles, here as
// numbers.
#include "tests/contract/support.hpp"

namespace tk::test {

// Functions of numbers, with the names of those of tiles.
inline float max(float a, float b) { return a > b ? a : b; }
inline float min(float a, float b) { return a < b ? a : b; }
inline float abs(float a) { return a < 0 ? -a : a; }

struct square {
  TK_BOTH float operator()(float x) const { return x * x; }
};
inline float squared(float x) { return square{}(x); }
template <class X> TK_DEVICE auto squared(X&& x) { return tk::map<square>(static_cast<X&&>(x)); }

// A form of up to four operands: x, y tiles (or what stands for them), c a column, r a row.
#define TK_FORM(NAME, RESULT)                                                             \
  struct NAME {                                                                           \
    template <class A, class B> static TK_DEVICE auto tile(A& x, B& y) { return RESULT; } \
    static float number(float x, float y) { return RESULT; }                              \
  };
TK_FORM(sum, x + y)
TK_FORM(difference, x - y)
TK_FORM(product, x* y)
TK_FORM(quotient, x / y)
TK_FORM(largest, max(x, y))
TK_FORM(smallest, min(x, y))
#undef TK_FORM

#define TK_FORM(NAME, RESULT)                                 \
  struct NAME {                                               \
    template <class A, class B, class C, class D>             \
    static TK_DEVICE auto tile(A& x, B& y, C& c, D& r) {      \
      (void)x, (void)y, (void)c, (void)r;                     \
      return RESULT;                                          \
    }                                                         \
    static float number(float x, float y, float c, float r) { \
      (void)x, (void)y, (void)c, (void)r;                     \
      return RESULT;                                          \
    }                                                         \
  };
TK_FORM(negative, -x)
TK_FORM(absolute, abs(x))
TK_FORM(mapped, squared(x))
TK_FORM(nested, (x + y) * (x - y))
TK_FORM(nested_column, max(x * 2.f - c, -y) * c)
TK_FORM(nested_row, min(abs(x - r), 3.f) + y * r)
TK_FORM(all_operands, ((x + c) * (y - r)) / 4.f + max(c, 1.f) * r)
TK_FORM(number_first, 1.f - 2.f * squared(3.f - x))
TK_FORM(column_at_once, x + (c * 2.f - 1.f) / 2.f + abs(-c))
TK_FORM(row_at_once, x* abs(r) + squared(r))
TK_FORM(outer, c* r)
#undef TK_FORM

inline constexpr int pair_forms = 15, pair_ops = 6, free_forms = 11;
inline constexpr int outputs = pair_forms + free_forms;

template <int R, int C> struct elementwise : simple_op {
  using tile = reg_tile<float, R, C>;
  struct args {
    int cases;
    float const *x, *y, *col, *row;
    bf16 const* row16;
    float number;
    float* out;
    int* ran;
  };

  template <class F>
  static TK_DEVICE void pairs(tile const& x, tile const& y, reg_tile<bf16, R, C> const& p,
                              args const& a, float* out) {
    auto const c = load_col<R>(a.col, R, 0.f);
    row_of<float, C> const r{a.row, C};
    row_of<bf16, C> const h{a.row16, C};
    float const n = a.number;
    tile o;
    auto const put = [&](int i) { write_tile(out, i, o); };
    o = F::tile(x, y), put(0);
    o = F::tile(x, n), put(1);
    o = F::tile(n, y), put(2);
    o = F::tile(x, c), put(3);
    o = F::tile(c, y), put(4);
    o = F::tile(x, r), put(5);
    o = F::tile(r, y), put(6);
    o = F::tile(c, r), put(7);
    o = F::tile(r, c), put(8);
    o = F::tile(r, n), put(9);
    o = F::tile(p, y), put(10);
    o = F::tile(x, h), put(11);
    // Columns with columns and numbers: computed at once.
    reg_col<float, R> d = F::tile(c, c);
    o = tile(0.f), o = o + d, put(12);
    d = F::tile(c, n);
    o = tile(0.f), o = o + d, put(13);
    d = F::tile(n, c);
    o = tile(0.f), o = o + d, put(14);
  }

  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    tile x, y;
    read_tile(x, a.x, 0);
    read_tile(y, a.y, 0);
    reg_tile<bf16, R, C> const p = cast<bf16>(x);
    float* const out = a.out + t.index * (outputs * R * C);
    switch (t.index) {
      case 0: pairs<sum>(x, y, p, a, out); break;
      case 1: pairs<difference>(x, y, p, a, out); break;
      case 2: pairs<product>(x, y, p, a, out); break;
      case 3: pairs<quotient>(x, y, p, a, out); break;
      case 4: pairs<largest>(x, y, p, a, out); break;
      case 5: pairs<smallest>(x, y, p, a, out); break;
      default: free(x, y, a, out);
    }
    report(k, a, t.index, t.index < pair_ops ? pair_forms : free_forms);
  }

  static TK_DEVICE void free(tile const& x, tile const& y, args const& a, float* out) {
    auto const c = load_col<R>(a.col, R, 0.f);
    row_of<float, C> const r{a.row, C};
    tile o;
    auto const put = [&](int i) { write_tile(out, i, o); };
    o = negative::tile(x, y, c, r), put(0);
    o = absolute::tile(x, y, c, r), put(1);
    o = mapped::tile(x, y, c, r), put(2);
    o = nested::tile(x, y, c, r), put(3);
    o = nested_column::tile(x, y, c, r), put(4);
    o = nested_row::tile(x, y, c, r), put(5);
    o = all_operands::tile(x, y, c, r), put(6);
    o = number_first::tile(x, y, c, r), put(7);
    o = column_at_once::tile(x, y, c, r), put(8);
    o = row_at_once::tile(x, y, c, r), put(9);
    o = outer::tile(x, y, c, r), put(10);
  }
};

struct numbers {
  float x, y, c, r, n;
};
template <class F> float pair_form(int form, numbers const& v) {
  float const left[] = {v.x, v.x, v.n, v.x, v.c, v.x, v.r, v.c, v.r, v.r, v.x, v.x, v.c, v.c, v.n};
  float const right[] = {v.y, v.n, v.y, v.c, v.y, v.r, v.y, v.r, v.c, v.n, v.y, v.r, v.c, v.n, v.c};
  return F::number(left[form], right[form]);
}
inline float free_form(int form, numbers const& v) {
  auto const in = [&]<class F>(F) { return F::number(v.x, v.y, v.c, v.r); };
  float const results[] = {in(negative{}),     in(absolute{}),      in(mapped{}),
                           in(nested{}),       in(nested_column{}), in(nested_row{}),
                           in(all_operands{}), in(number_first{}),  in(column_at_once{}),
                           in(row_at_once{}),  in(outer{})};
  return results[form];
}
inline float expected_value(int op, int form, numbers const& v) {
  switch (op) {
    case 0: return pair_form<sum>(form, v);
    case 1: return pair_form<difference>(form, v);
    case 2: return pair_form<product>(form, v);
    case 3: return pair_form<quotient>(form, v);
    case 4: return pair_form<largest>(form, v);
    case 5: return pair_form<smallest>(form, v);
    default: return free_form(form, v);
  }
}

// Plus or minus 1, 2, 4 or 8: quotients are exact, too.
inline float power(std::uint64_t seed, int position) {
  auto const bits = static_cast<int>(random_below(8, seed, static_cast<std::uint64_t>(position)));
  float const x = static_cast<float>(1 << bits / 2);
  return bits % 2 ? -x : x;
}

template <int R, int C> void check_elementwise(std::uint64_t seed) {
  constexpr int size = R * C, tasks = pair_ops + 1;
  std::vector<float> x(size), y(size), col(R), row(C);
  std::vector<bf16> row16(C);
  for (int i = 0; i < size; ++i) x[at(i)] = power(seed, i), y[at(i)] = power(seed + 1, i);
  for (int i = 0; i < R; ++i) col[at(i)] = power(seed + 2, i);
  for (int i = 0; i < C; ++i) row[at(i)] = power(seed + 3, i), row16[at(i)] = to<bf16>(row[at(i)]);
  float const number = power(seed + 4, 0);
  device_array<float> const dx(x), dy(y), dcol(col), drow(row);
  device_array<bf16> const drow16(row16);
  device_array<float> const out(untouched<float>(at(tasks * outputs * size)));
  run<elementwise<R, C>>({tasks, dx.data(), dy.data(), dcol.data(), drow.data(), drow16.data(),
                          number, out.data(), nullptr});
  auto expected = untouched<float>(at(tasks * outputs * size));
  for (int op = 0; op < tasks; ++op)
    for (int form = 0; form < (op < pair_ops ? pair_forms : free_forms); ++form)
      for (int i = 0; i < size; ++i)
        expected[at((op * outputs + form) * size + i)] =
            expected_value(op, form, {x[at(i)], y[at(i)], col[at(i / C)], row[at(i % C)], number});
  check_same(out.read(), expected);
}

TEST_CASE("element-wise operators and functions, every kind of operand") {
  expect_cases const counted(3 * 2 * (pair_ops * pair_forms + free_forms));
  for (std::uint64_t seed : {1, 100}) {
    check_elementwise<M, 16>(seed);
    check_elementwise<M, 80>(seed);
    check_elementwise<2 * M, 32>(seed);
  }
}

}  // namespace tk::test
