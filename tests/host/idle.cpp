// SPDX-License-Identifier: MIT
// What a call costs beside its work: no thread for a single task and 5 us at most, and no time of
// the CPU while threads wait, neither between calls nor where other processes take all processors.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/host/call.hpp"

using namespace tk::test;

namespace {

int threads() {
  auto const tasks = std::filesystem::directory_iterator("/proc/self/task");
  return static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

// Of the whole process, in microseconds.
double cpu_time() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  auto const us = [](timeval const& t) { return 1e6 * double(t.tv_sec) + double(t.tv_usec); };
  return us(used.ru_utime) + us(used.ru_stime);
}

// The CPU's time of a call, the least mean of some rounds.
double cost_of_call(product& s, int calls = 20) {
  constexpr int rounds = 8;
  double least = 1e30;
  for (int i = 0; i < rounds; ++i) {
    double const before = cpu_time();
    for (int j = 0; j < calls; ++j) s.call();
    least = std::min(least, (cpu_time() - before) / calls);
  }
  return least;
}

// A process for each processor that does nothing but take its time.
class busy_processors {
 public:
  busy_processors() {
    for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) {
      pid_t const id = fork();
      if (id == 0) {
        give_up_after(60);
        for (std::atomic<unsigned> n{0};;) ++n;
      }
      children_.push_back(id);
    }
  }
  ~busy_processors() {
    for (pid_t const id : children_) {
      kill(id, SIGKILL);
      waitpid(id, nullptr, 0);
    }
  }

 private:
  std::vector<pid_t> children_;
};

// What main(2, ...) prints, of a process whose libraries may have one thread.
double in_one_thread(std::string const& program) {
  setenv("OMP_NUM_THREADS", "1", 1);
  setenv("KOKKOS_NUM_THREADS", "1", 1);
  double cost = 0;
  FILE* const from = popen((program + " alone").c_str(), "r");
  if (!from || std::fscanf(from, "%lf", &cost) != 1) cost = 0;
  if (from) pclose(from);
  return cost;
}

}  // namespace

int main(int count, char** program) {
  give_up_after(120);
  if (count > 1) {
    product medium(256);
    std::printf("%f\n", cost_of_call(medium));
    return 0;
  }
  product small(one_task), large(many_tasks);
  bool good = true;
  for (int i = 0; i < 10; ++i) good &= small.works();
  int failed = report(good && threads() == 1, "a single task starts no thread");

#if !defined(__SANITIZE_ADDRESS__)
  double const least_call = cost_of_call(small, 2000);
  std::printf("us of the CPU: %.2f a call of a single task\n", least_call);
  failed += report(least_call <= 5, "a single task opens no file and wakes nobody");
#endif

  good = large.works();
  double least = 1e30;  // other processes don't add to it, but a system's own threads might
  for (int i = 0; i < 5; ++i) {
    large.call();
    double const before = cpu_time();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    least = std::min(least, cpu_time() - before);
  }
  std::printf("50 ms after a call: %.0f us of the CPU\n", least);
  failed += report(good && least < 500, "threads sleep between calls");

  // Idle processors are not to be had everywhere, and who spins for want of them would spin in a
  // call that is measured to compare with, too. A process with one thread waits for nobody.
  product medium(256);
  double const idle = cost_of_call(medium), work = in_one_thread(program[0]);
  double busy = 0;
  {
    busy_processors const others;
    busy = cost_of_call(medium);
  }
  std::printf(
      "us of the CPU: %.0f a call, %.0f with busy processors, %.0f its work in one thread\n", idle,
      busy, work);
  failed += report(idle < 2 * work && busy < 2 * work, "threads sleep while they wait");
  return failed;
}
