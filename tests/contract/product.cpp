// SPDX-License-Identifier: MIT
// shards: 7
// Products of every form: both operands in shared memory, in each of four transposes, or the left
// one in registers; written and added, and that last one subtracted; bf16 and fp16; every number of
// columns to 256, every length of the sum to 128. Each width meets one length in each form, and
// another in the next, so that all pairs occur. The same of fp8 in the form that there is, every
// type with every other. Whole numbers: sums are exact in any order, in fp16 too, and in the 14
// bits that some chips keep of fp8's.
#include "tests/contract/support.hpp"

#include "tests/core/shapes.hpp"

namespace tk::test {

enum form { ab, abt, atb, atbt, ab_register, abt_register };
constexpr bool left_transposed(form f) { return f == atb || f == atbt; }
constexpr bool right_transposed(form f) { return f == abt || f == atbt || f == abt_register; }
constexpr bool left_in_register(form f) { return f == ab_register || f == abt_register; }

template <class A, class B, form Form, int R, int N, int K, class S = float>
struct multiply : simple_op {
  using a_tile =
      std::conditional_t<left_transposed(Form), shared_tile<A, K, R>, shared_tile<A, R, K>>;
  using b_tile =
      std::conditional_t<right_transposed(Form), shared_tile<B, N, K>, shared_tile<B, K, N>>;
  struct stage {
    a_tile a;
    b_tile b;
  };
  struct args {
    int cases;
    be::source<A, a_tile::rows, a_tile::cols> a;
    be::source<B, b_tile::rows, b_tile::cols> b;
    float *written, *added, *subtracted;  // from the last of what was added to
    int* ran;
  };
  static TK_BOTH task task_at(args const&, int i, int) { return {i, 1}; }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int, be::arrival done) {
    load_async(s.a, window(a.a, 0, 0, t.index), done);
    load_async(s.b, window(a.b, 0, 0, t.index), done);
  }
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    auto const write = [&](float* to, reg_tile<S, R, N> const& x) {
      write_tile<float>(to, t.index, x * 1.f);
    };
    reg_tile<S, R, N> d;
    reg_tile<A, R, K> left;
    stage& s = k.in.take();
    if constexpr (left_in_register(Form)) tk::load(left, s.a);
    if constexpr (Form == ab) mm_ab(d, s.a, s.b);
    if constexpr (Form == abt) mm_abt(d, s.a, s.b);
    if constexpr (Form == atb) mm_atb(d, s.a, s.b);
    if constexpr (Form == atbt) mm_atbt(d, s.a, s.b);
    if constexpr (Form == ab_register) mm_ab(d, left, s.b);
    if constexpr (Form == abt_register) mm_abt(d, left, s.b);
    wait<0>(d);
    write(a.written, d);
    if constexpr (std::is_same_v<S, float>) d = d * 2.f + 1.f;
    else d = cast<S>(d * 2.f + 1.f);
    if constexpr (Form == ab) mma_ab(d, s.a, s.b);
    if constexpr (Form == abt) mma_abt(d, s.a, s.b);
    if constexpr (Form == atb) mma_atb(d, s.a, s.b);
    if constexpr (Form == atbt) mma_atbt(d, s.a, s.b);
    if constexpr (Form == ab_register) mma_ab(d, left, s.b);
    if constexpr (Form == abt_register) mma_abt(d, left, s.b);
    wait<0>(d);
    if constexpr (Form != ab_register) k.in.release();
    write(a.added, d);
    if constexpr (Form == ab_register) {
      mms_ab(d, left, s.b);
      wait<0>(d);
      k.in.release();
      write(a.subtracted, d);
    }
    report(k, a, t.index, 2);
  }
};

// d = a b for a [m, k] or [k, m], b [k, n] or [n, k], in whole numbers.
template <class A, class B>
std::vector<float> multiplied(std::vector<A> const& a, bool at_, std::vector<B> const& b, bool bt,
                              int m, int n, int k) {
  std::vector<float> d(at(m * n)), row(at(n));
  for (int r = 0; r < m; ++r) {
    row.assign(at(n), 0.f);
    for (int i = 0; i < k; ++i) {
      float const left = tk::widen(a[at(at_ ? i * m + r : r * k + i)]);
      for (int c = 0; c < n; ++c) row[at(c)] += left * tk::widen(b[at(bt ? c * k + i : i * n + c)]);
    }
    std::copy(row.begin(), row.end(), d.begin() + r * n);
  }
  return d;
}

// a and b hold one tile after another, for two tasks.
template <form Form, int R, int N, int K, class S = float, class A, class B>
void check_product(std::vector<A> const& a, std::vector<B> const& b, bool sums_are_whole = true) {
  using op = multiply<A, B, Form, R, N, K, S>;
  constexpr int tasks = 2, ta = left_transposed(Form), tb = right_transposed(Form);
  device_array<A> const da(a);
  device_array<B> const db(b);
  device_array<float> const written(untouched<float>(tasks * R * N)),
      added(untouched<float>(tasks * R * N)), subtracted(untouched<float>(tasks * R * N));
  auto const stacked = []<class T>(T* p, int rows, int cols) {
    return tensor<T const>{p, rows, cols, cols, tasks, rows * cols};
  };
  CAPTURE(R);
  CAPTURE(N);
  CAPTURE(K);
  using at_type = typename op::a_tile;
  using bt_type = typename op::b_tile;
  run<op>({tasks,
           be::read_from<at_type::rows, at_type::cols>(
               stacked(da.data(), at_type::rows, at_type::cols)),
           be::read_from<bt_type::rows, bt_type::cols>(
               stacked(db.data(), bt_type::rows, bt_type::cols)),
           written.data(), added.data(), subtracted.data(), nullptr});
  std::vector<float> once, twice, thrice;
  for (int t = 0; t < tasks; ++t) {
    auto const d =
        multiplied<A, B>({a.begin() + t * R * K, a.begin() + (t + 1) * R * K}, ta,
                         {b.begin() + t * K * N, b.begin() + (t + 1) * K * N}, tb, R, N, K);
    for (float const x : d)
      once.push_back(x), twice.push_back(2 * x + 1), thrice.push_back(3 * x + 1);
  }
  check_same(written.read(), once);
  if (sums_are_whole) check_same(added.read(), thrice);
  if (Form == ab_register && sums_are_whole) check_same(subtracted.read(), twice);
}
template <class A, class B, form Form, int R, int N, int K, class S = float>
void check_whole_numbers() {
  check_product<Form, R, N, K, S>(wholes<A>(2 * R * K, N + K), wholes<B>(2 * K * N, N + K + 1));
}

#if TK_SHARD < 6
// The longest sum up to K whose operands fit into a block's shared memory.
template <int R, int N> constexpr int fitting(int k) {
  while (2 * k * (R + N) + 8192 > be::smem_bytes) k -= 16;
  return k;
}

// The length that width 16 n meets.
template <class T, form Form> constexpr int length(int n) {
  return 16 * ((3 * n + Form + 6 * std::is_same_v<T, fp16>) % 8 + 1);
}

// Each form has its taller tiles in one of the types.
template <class T, form Form>
inline constexpr bool tall_too = std::is_same_v<T, bf16> == (Form % 2 == 0);

template <class T, form Form> void check_form() {
  for_each_int<1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16>([](auto n) {
    check_whole_numbers<T, T, Form, M, 16 * n, fitting<M, 16 * n>(length<T, Form>(n))>();
  });
  if constexpr (tall_too<T, Form>) {  // widths that blocks of 16 and of 32 columns cut differently
    check_whole_numbers<T, T, Form, 2 * M, 16, 80>();
    check_whole_numbers<T, T, Form, 2 * M, 32, 32>();
    check_whole_numbers<T, T, Form, 2 * M, 48, 64>();
    check_whole_numbers<T, T, Form, 2 * M, 80, 48>();
    check_whole_numbers<T, T, Form, 3 * M, 16, 64>();
    check_whole_numbers<T, T, Form, 3 * M, 48, 16>();
    check_whole_numbers<T, T, Form, tall, 48, 128>();
    check_whole_numbers<T, T, Form, tall, 64, 96>();
    check_whole_numbers<T, T, Form, tall, 128, 16>();
  }
}

TEST_CASE_TEMPLATE("products", T, bf16, fp16) {
  static_assert(TK_SHARDS == 7, "a shard is a form, and the last one fp8");
  constexpr auto shard = static_cast<form>(TK_SHARD);
  expect_cases const counted((16 + (tall_too<T, shard> ? 9 : 0)) * 2 * 2);
  check_form<T, shard>();
}
TEST_CASE("products with sums of fp16") {
  constexpr auto shard = static_cast<form>(TK_SHARD);
  expect_cases const counted(4 * 2 * 2);
  check_whole_numbers<fp16, fp16, shard, M, 16, 64, fp16>();
  check_whole_numbers<fp16, fp16, shard, M, 96, 16, fp16>();
  check_whole_numbers<fp16, fp16, shard, 2 * M, 64, 128, fp16>();
  check_whole_numbers<fp16, fp16, shard, M, 256, 32, fp16>();
}

#else
// Four widths and four lengths for a pair of types, others for the next.
template <class A, class B, int Part> void check_pair() {
  for_each_int<0, 1, 2, 3>([](auto i) {
    constexpr int n = 4 * i + 1 + (Part + i) % 4, k = 32 * ((Part + 2 * i) % 4 + 1);
    check_whole_numbers<A, B, abt, M, 16 * n, k>();
  });
}
TEST_CASE("products of fp8") {
  expect_cases const counted((4 * 4 + 7) * 2 * 2);
  check_pair<fp8_e4m3, fp8_e4m3, 0>();
  check_pair<fp8_e4m3, fp8_e5m2, 1>();
  check_pair<fp8_e5m2, fp8_e4m3, 2>();
  check_pair<fp8_e5m2, fp8_e5m2, 3>();
  check_whole_numbers<fp8_e4m3, fp8_e4m3, abt, M, 48, 160>();
  check_whole_numbers<fp8_e4m3, fp8_e5m2, abt, M, 32, 224>();
  check_whole_numbers<fp8_e4m3, fp8_e4m3, abt, 2 * M, 32, 32>();
  check_whole_numbers<fp8_e5m2, fp8_e4m3, abt, 2 * M, 80, 64>();
  check_whole_numbers<fp8_e4m3, fp8_e5m2, abt, 3 * M, 48, 96>();
  check_whole_numbers<fp8_e5m2, fp8_e5m2, abt, tall, 128, 32>();
  check_whole_numbers<fp8_e4m3, fp8_e4m3, abt, tall, 64, 128>();
}

// All patterns of T, 32 in a row of finite ones, and the others in rows of their own: they make NaN
// of zeros.
template <class T> std::vector<T> every_pattern(int rows) {
  std::vector<T> x, alone;
  for (int i = 0; i < 256; ++i) {
    T const v{static_cast<std::uint8_t>(i)};
    (std::isfinite(tk::widen(v)) ? x : alone).push_back(v);
  }
  while (x.size() % 32 != 0) x.push_back(to<T>(1));
  for (T const v : alone) {
    x.insert(x.end(), 32, to<T>(-2));
    x[x.size() - 1 - v.bits % 32] = v;
  }
  REQUIRE(x.size() <= at(rows * 32));
  x.resize(at(2 * rows * 32), to<T>(0));
  return x;
}
// A one in each row, for each k.
template <class T> std::vector<T> one_hot(int rows) {
  std::vector<T> x(at(2 * rows * 32), to<T>(0));
  for (int r = 0; r < 2 * rows; ++r) x[at(r * 32 + r % 32)] = to<T>(1);
  return x;
}
TEST_CASE_TEMPLATE("every fp8 pattern comes out of a product as it is", T, fp8_e4m3, fp8_e5m2) {
  expect_cases const counted(2 * 2 * 2);
  check_product<abt, M, 32, 32>(every_pattern<T>(M), one_hot<T>(32), false);
  check_product<abt, 2 * M, 16, 32>(one_hot<T>(2 * M), every_pattern<T>(16), false);
}
#endif

}  // namespace tk::test
