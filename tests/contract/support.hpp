// SPDX-License-Identifier: MIT
// How a contract test runs a primitive: as an op of the block template, launched like any other, so
// that the same body runs on every backend. A case is one piece of work that device code did and
// reported; expect_cases checks that a test did as many as its lists promise, so that a body that
// never ran, or ran twice, fails. The program's total is printed, as .ci/support_matrix wants it; a
// program fails in which a TEST_CASE promised nothing or promises were not kept.
#pragma once
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iostream>
#include <vector>

#include "backends/kernel.hpp"
#include "backends/runtime.hpp"
#include "core/product.hpp"
#include "tests/support/random.hpp"

namespace tk::test {

// Rows of a register tile: what a worker holds at least, and more than once that.
inline constexpr int M = be::worker_rows, tall = M < 64 ? 64 : 2 * M;

// ---- counting
inline int cases_ran = 0, cases_promised = 0, promises = 0;

// So many tasks, or more, that a card's blocks are dealt several each, as the emulator's few are.
inline int tasks_at_least(int few) { return std::max(few, 3 * be::rt::multiprocessors() + 1); }

class expect_cases {
 public:
  explicit expect_cases(int count) : before_(cases_ran), count_(count) {
    cases_promised += count;
    ++promises;
  }
  ~expect_cases() {
    if (std::uncaught_exceptions() == 0) CHECK(cases_ran - before_ == count_);
  }

 private:
  int before_, count_;
};

struct print_total : doctest::IReporter {
  explicit print_total(doctest::ContextOptions const&) {}
  void report_query(doctest::QueryData const&) override {}
  void test_run_start() override {}
  void test_run_end(doctest::TestRunStats const&) override {
    std::cout << TK_TEST_NAME ": " << cases_ran << " cases\n";
    if (without_) std::cout << "cases did not run: " << without_ << " TEST_CASEs promise none\n";
    if (cases_ran != cases_promised)
      std::cout << "cases did not run: " << cases_promised << " were promised\n";
  }
  void test_case_start(doctest::TestCaseData const&) override { before_ = promises; }
  void test_case_reenter(doctest::TestCaseData const&) override {}
  void test_case_end(doctest::CurrentTestCaseStats const&) override {
    without_ += promises == before_;
  }
  void test_case_exception(doctest::TestCaseException const&) override {}
  void subcase_start(doctest::SubcaseSignature const&) override {}
  void subcase_end() override {}
  void log_assert(doctest::AssertData const&) override {}
  void log_message(doctest::MessageData const&) override {}
  void test_case_skipped(doctest::TestCaseData const&) override {}

 private:
  int before_ = 0, without_ = 0;
};
REGISTER_LISTENER("total", 1, print_total);

// ---- memory
template <class T> class device_array {
 public:
  explicit device_array(std::vector<T> const& host)
      : size_(host.size()), data_(static_cast<T*>(be::rt::allocate(bytes()))) {
    be::rt::copy_in(data_, host.data(), bytes());
  }
  explicit device_array(std::size_t size) : device_array(std::vector<T>(size)) {}
  ~device_array() { be::rt::release(data_); }
  device_array(device_array const&) = delete;
  device_array& operator=(device_array const&) = delete;

  T* data() const { return data_; }
  std::vector<T> read() const {
    std::vector<T> host(size_);
    be::rt::copy_out(host.data(), data_, bytes());
    return host;
  }

 private:
  std::size_t bytes() const { return size_ * sizeof(T); }
  std::size_t size_;
  T* data_;
};

// What outputs hold before a launch: no result is that.
template <class T> T untouched() {
  T x;
  std::memset(&x, 0xa5, sizeof x);
  return x;
}
template <class T> std::vector<T> untouched(std::size_t size) {
  return std::vector<T>(size, untouched<T>());
}

// ---- values
template <class T> T to(float x) { return round_to<T>(x); }
inline std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Whole numbers from -most to most, a function of seed and position: sums of their products are
// exact.
inline float whole(std::uint64_t seed, std::int64_t position, int most = 3) {
  return static_cast<float>(random_below(2 * most + 1, seed, static_cast<std::uint64_t>(position)) -
                            most);
}
template <class T = float>
std::vector<T> wholes(std::size_t size, std::uint64_t seed, int most = 3) {
  std::vector<T> x(size);
  for (std::size_t i = 0; i < size; ++i)
    x[i] = to<T>(whole(seed, static_cast<std::int64_t>(i), most));
  return x;
}

// Equal in value; of 16-bit numbers in every bit. NaN equals NaN.
inline bool same(float x, float y) { return x == y || (x != x && y != y); }
inline bool same(int x, int y) { return x == y; }
template <class T> bool same(T x, T y) {
  return x.bits == y.bits || (std::isnan(tk::widen(x)) && std::isnan(tk::widen(y)));
}
template <class T> void check_same(std::vector<T> const& found, std::vector<T> const& expected) {
  REQUIRE(found.size() == expected.size());
  std::size_t wrong = 0, first = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!same(found[i], expected[i]) && wrong++ == 0) first = i;
  CAPTURE(first);
  CHECK(wrong == 0);
}

// ---- ops
// What an op that moves nothing has; args hold `cases` tasks and `ran`.
struct simple_op {
  static constexpr int workers = 1, cluster = 1, stages = 1, own_slots = 1;
  struct stage {};
  struct own {};
  struct scratch {};
  struct task {
    int index, steps;
  };
  template <class Args> static TK_BOTH int tasks(Args const& a) { return a.cases; }
  template <class Args> static TK_BOTH task task_at(Args const&, int i, int) { return {i, 0}; }
  template <class Stage, class Args, class Task>
  static TK_DEVICE void load(Stage&, Args const&, Task const&, int, be::arrival) {}
  template <class Own, class Args, class Task>
  static TK_DEVICE void load_own(Own&, Args const&, Task const&, int, be::arrival) {}
};

// A worker's word that it has done its part of `cases` cases in task `index`.
template <class Context, class Args>
TK_DEVICE void report(Context const& c, Args const& a, int index, int cases = 1) {
  int const workers = static_cast<int>(sizeof(c.scratches) / sizeof(c.scratches[0]));
  if (c.w.leader()) a.ran[index * workers + c.w.id()] += cases;
}

// Launches and waits; counts the cases that every worker of a task reports.
template <class Op> void run(typename Op::args a) {
  int const tasks = a.cases * Op::cluster;
  device_array<int> const ran(at(tasks * Op::workers));
  a.ran = ran.data();
  be::launch<Op>(a, nullptr);
  be::rt::synchronize();
  auto const reported = ran.read();
  for (int i = 0; i < tasks; ++i) {
    int const first = reported[at(i * Op::workers)];
    int disagree = first <= 0;
    for (int w = 0; w < Op::workers; ++w) disagree += reported[at(i * Op::workers + w)] != first;
    CAPTURE(i);
    REQUIRE(disagree == 0);
    cases_ran += first;
  }
}

// ---- tiles of global memory that hold one tile after another
template <int R, int C> TK_DEVICE tensor<float const> tiles_at(float const* p) {
  return {p, R, C, C, 1 << 20, R * C, 1, 0};
}
template <int R, int C>
TK_DEVICE void read_tile(reg_tile<float, R, C>& x, float const* from, int index) {
  x = reg_tile<float, R, C>(0.f);
  add_scaled(x, 1.f, tiles_at<R, C>(from), 1, 0, 0, index, 0);
}
template <class T, class X> TK_DEVICE void write_tile(T* to, int index, X&& x) {
  auto const y = cast<T>(static_cast<X&&>(x));
  constexpr int R = decltype(y)::rows, C = decltype(y)::cols;
  store_direct(tensor<T>{to, R, C, C, 1 << 20, R * C}, 0, 0, index, 0, y, 1);
}

}  // namespace tk::test
