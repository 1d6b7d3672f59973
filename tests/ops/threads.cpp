// SPDX-License-Identifier: MIT
// timeout: 300
// Launches from several threads at once, each with problems and workspace of its own, are as right
// as launches one by one.
#include <array>
#include <atomic>
#include <thread>

#include "tests/support/attention_oracle.hpp"
#include "tests/support/gemm_oracle.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

constexpr int threads = 4;

gemm_case product(int i) {
  gemm_case x{.m = 60 + 17 * (i % 3), .n = 130 - 9 * (i % 5), .k = 40 + i % 7};
  x.transpose_b = i % 2;
  x.values = data::integers;
  x.out = i % 3 ? dtype::bf16 : dtype::fp32;
  return x;
}
attention_case attention(int i) {
  attention_case x{.b = 1, .hq = 2, .hk = 1, .nq = 50 + i % 30, .nk = 90, .d = 64, .dv = 64};
  x.mask = i % 2 ? TK_MASK_CAUSAL : TK_MASK_NONE;
  x.values = scores::select;
  return x;
}

TEST_CASE("launches from many threads at once") {
  int const each = test_level() == level::quick ? 6 : 60;
  std::array<std::string, threads> wrong;
  std::atomic<int> ran{0}, waiting{threads};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      for (--waiting; waiting > 0;) std::this_thread::yield();
      for (int i = 0; i < each; ++i, ++ran) {
        auto const v =
            (t + i) % 2 ? run_guarded(product(t * each + i)) : run_guarded(attention(t * each + i));
        if (!v.ok() && wrong[t].empty()) wrong[t] = v.wrong;
      }
    });
  for (auto& t : all) t.join();
  for (auto const& sentence : wrong) CHECK(sentence == "");
  CHECK(ran == threads * each);
}

}  // namespace
}  // namespace tk::test
