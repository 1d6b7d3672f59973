// SPDX-License-Identifier: MIT
// tk_last_error() belongs to the thread: many threads are refused at once, each for a number of its
// own, and each reads its own sentence. A success leaves the last sentence; a new thread has none.
#include <atomic>
#include <barrier>
#include <thread>

#include "tests/ops/gemm/scene.hpp"

using namespace scene;

TEST_CASE("each thread has its own last error") {
  constexpr int threads = 8, rounds = 200;
  std::atomic<int> wrong_status{0}, wrong_sentence{0}, not_empty{0};
  std::barrier start(threads);
  auto const body = [&](int id) {
    if (*tk_last_error() != 0) ++not_empty;
    gemm s;
    s.get();
    start.arrive_and_wait();
    for (int i = 0; i < rounds; ++i) {
      std::int64_t const k = 1000 + threads * i + id;
      s.b.shape[1] = k;
      if (tk_supports(gemm::op, &s.problem) != TK_BAD_SHAPE) ++wrong_status;
      std::this_thread::yield();
      if (!says(tk_last_error(), "rows = " + std::to_string(k) + " ")) ++wrong_sentence;
    }
    s.b.shape[1] = 16;
    if (tk_supports(gemm::op, &s.problem) != TK_OK) ++wrong_status;
    if (!says(tk_last_error(), std::to_string(1000 + threads * (rounds - 1) + id)))
      ++wrong_sentence;
  };
  std::vector<std::thread> all;
  for (int id = 0; id < threads; ++id) all.emplace_back(body, id);
  for (auto& t : all) t.join();
  CHECK(wrong_status == 0);
  CHECK(wrong_sentence == 0);
  CHECK(not_empty == 0);
}
