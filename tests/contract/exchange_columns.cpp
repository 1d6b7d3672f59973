// SPDX-License-Identifier: MIT
// Columns of register tiles that change places (core/exchange_columns.hpp), of every type, for
// every exchange and every bit; and partial sums in shared memory. Values are moved, bit for bit;
// products are rounded once.
#include "core/exchange_columns.hpp"
#include "core/partial_tiles.hpp"
#include "tests/contract/support.hpp"
#include "tests/core/shapes.hpp"

namespace tk::test {

// What a lane holds of a tile, as numbers.
template <class T, int R, int C> TK_DEVICE auto numbers_of(reg_tile<T, R, C> const& x) {
  reg_tile<float, R, C> y;
  y = x * 1.f;
  return y;
}
template <class T, int R, int C>
TK_DEVICE void read_as(reg_tile<T, R, C>& x, float const* from, int tile) {
  if constexpr (sizeof(T) == 4) {
    read_tile(x, from, tile);
  } else {
    reg_tile<float, R, C> y;
    read_tile(y, from, tile);
    x = cast<T>(y * 1.f);
  }
}

// xor_cols<S> of one tile for each S below 16, then choose_cols<Bit> of two for each bit of them:
// all in one kernel, as compilers take longer for each kernel than for what is in it.
inline constexpr int xors = 15, exchanges = xors + 4;
constexpr int columns_of_exchange(int nth) { return nth < xors ? nth + 1 : 1 << (nth - xors); }
template <class T, int R, int C> struct exchanged : simple_op {
  struct args {
    int cases;
    float const* x;
    float* out;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<T, R, C> x, y;
    read_as(x, a.x, 2 * t.index);
    read_as(y, a.x, 2 * t.index + 1);
    write_from<0>(a, t, x, y);
    report(k, a, t.index);
  }
  template <int Nth>
  static TK_DEVICE void write_from(args const& a, task const& t, reg_tile<T, R, C> const& x,
                                   reg_tile<T, R, C> const& y) {
    if constexpr (Nth < exchanges) {
      constexpr int S = columns_of_exchange(Nth);
      float* const out = a.out + t.index * exchanges * R * C;
      if constexpr (Nth < xors) write_tile(out, Nth, numbers_of(xor_cols<S>(x)) * 1.f);
      else write_tile(out, Nth, numbers_of(choose_cols<S>(x, y)) * 1.f);
      write_from<Nth + 1>(a, t, x, y);
    }
  }
};
template <class T, int R, int C> void check_exchanges() {
  constexpr int tasks = 3, size = R * C;
  auto const x = wholes(at(2 * tasks * size), R + C, 120);
  device_array<float> const dx(x), out(untouched<float>(at(tasks * exchanges * size)));
  run<exchanged<T, R, C>>({tasks, dx.data(), out.data(), nullptr});
  std::vector<float> expected;
  for (int tile = 0; tile < tasks; ++tile)
    for (int nth = 0; nth < exchanges; ++nth)
      for (int i = 0; i < size; ++i) {
        int const col = i % C, s = columns_of_exchange(nth), first = 2 * tile * size;
        if (nth < xors) expected.push_back(x[at(first + i / C * C + (col ^ s))]);
        else expected.push_back(x[at(first + (col & s ? size : 0) + i)]);
      }
  check_same(out.read(), expected);
}
TEST_CASE_TEMPLATE("columns change places", T, bf16, fp16, float) {
  expect_cases const counted(3 * 3);
  check_exchanges<T, M, 16>();
  check_exchanges<T, M, 48>();
  check_exchanges<T, tall, 32>();
}

// A tile of a few columns as each of the equal parts of a wider one.
template <class T, int R, int C, int V> struct put : simple_op {
  struct args {
    int cases;
    float const* x;
    float* out;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<T, R, C> y;
    TK_UNROLL
    for (int part = 0; part < C / V; ++part) {
      reg_tile<T, R, V> x;
      read_as(x, a.x, t.index * (C / V) + part);
      put_columns(y, x, part);
      reg_tile<T, R, V> const back = columns<V>(y, part);
      put_columns(y, back, part);
    }
    write_tile(a.out, t.index, numbers_of(y) * 1.f);
    report(k, a, t.index);
  }
};
template <class T, int R, int C, int V> void check_put() {
  constexpr int tasks = 3, size = R * C;
  auto const x = wholes(at(tasks * size), R + C, 120);
  device_array<float> const dx(x), out(untouched<float>(at(tasks * size)));
  run<put<T, R, C, V>>({tasks, dx.data(), out.data(), nullptr});
  std::vector<float> expected;
  for (int tile = 0; tile < tasks; ++tile)
    for (int i = 0; i < size; ++i) {
      int const row = i / C, col = i % C;
      expected.push_back(x[at(tile * size + col / V * R * V + row * V + col % V)]);
    }
  check_same(out.read(), expected);
}
TEST_CASE_TEMPLATE("a tile of others' columns", T, bf16, fp16) {
  expect_cases const counted(3 * 3);
  check_put<T, M, 160, 16>();
  check_put<T, M, 96, 32>();
  check_put<T, tall, 32, 16>();
}

template <class T, int R, int C> struct multiplied : simple_op {
  struct args {
    int cases;
    float const* x;
    float* out;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<T, R, C> x, y;
    read_as(x, a.x, 2 * t.index);
    read_as(y, a.x, 2 * t.index + 1);
    write_tile(a.out, t.index, numbers_of(rounded_product(x, y)) * 1.f);
    report(k, a, t.index);
  }
};
template <class T, int R, int C> void check_products() {
  constexpr int tasks = 3, size = R * C;
  std::vector<float> x;
  for (int i = 0; i < 2 * tasks * size; ++i) {
    // Of all sizes, some so small that their products are below the least normal number.
    auto const n = static_cast<std::uint64_t>(i);
    float const small = std::ldexp(1.f, -random_below(i % 5 == 0 ? 14 : 5, 93, n));
    x.push_back(widen(round_to<T>(static_cast<float>(random_unit(92, n)) * small)));
  }
  device_array<float> const dx(x), out(untouched<float>(at(tasks * size)));
  run<multiplied<T, R, C>>({tasks, dx.data(), out.data(), nullptr});
  std::vector<float> expected;
  for (int tile = 0; tile < tasks; ++tile)
    for (int i = 0; i < size; ++i)
      expected.push_back(
          widen(round_to<T>(x[at(2 * tile * size + i)] * x[at((2 * tile + 1) * size + i)])));
  check_same(out.read(), expected);
}
TEST_CASE_TEMPLATE("products rounded once", T, bf16, fp16) {
  expect_cases const counted(3 * 2);
  check_products<T, M, 16>();
  check_products<T, tall, 48>();
}

// Sums in shared memory: stored, added to, read back whole and in parts.
template <int R, int C, int V> struct kept : simple_op {
  struct scratch {
    shared_partial<R, C> sums;
  };
  struct args {
    int cases;
    float const* x;
    float* out;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<float, R, C> x, y;
    read_tile(x, a.x, 2 * t.index);
    read_tile(y, a.x, 2 * t.index + 1);
    tk::store(k.scratch.sums, x);
    add(k.scratch.sums, y);
    tk::load(x, k.scratch.sums);
    write_tile(a.out, 2 * t.index, x * 1.f);
    x = 0.f;
    TK_UNROLL
    for (int part = 0; part < C / V; ++part) {
      reg_tile<float, R, V> z;
      tk::load(z, k.scratch.sums, part);
      TK_UNROLL
      for (int i = 0; i < be::fragment_map<R, V>::count; ++i)
        x.e[be::fragment_map<R, C>::template part<V>(i, part)] = z.e[i];
    }
    write_tile(a.out, 2 * t.index + 1, x * 1.f);
    report(k, a, t.index);
  }
};
template <int R, int C, int V> void check_kept() {
  constexpr int tasks = 3, size = R * C;
  auto const x = wholes(at(2 * tasks * size), R + C, 9);
  device_array<float> const dx(x), out(untouched<float>(at(2 * tasks * size)));
  run<kept<R, C, V>>({tasks, dx.data(), out.data(), nullptr});
  std::vector<float> expected;
  for (int i = 0; i < 2 * tasks * size; ++i) {
    int const first = i / (2 * size) * 2 * size + i % size;
    expected.push_back(x[at(first)] + x[at(first + size)]);
  }
  check_same(out.read(), expected);
}
TEST_CASE("sums that a worker keeps in shared memory") {
  expect_cases const counted(3 * 3);
  check_kept<M, 160, 16>();
  check_kept<M, 64, 32>();
  check_kept<tall, 32, 16>();
}

}  // namespace tk::test
