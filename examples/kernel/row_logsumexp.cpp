// SPDX-License-Identifier: MIT
// One's own kernel in one file: y[row] = log(sum over col of exp(x[row, col])), x[rows, cols] of
// bf16, y of fp32, any sizes. A step of the ring brings a tile of N columns for each worker; the
// running maximum and sum are those of the online softmax. The same file is built for the host, for
// an emulated chip and for a card: CMakeLists.txt, README.md.
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include <backends/kernel.hpp>
#include <backends/runtime.hpp>
#include <core/activation.hpp>
#include <core/reduce.hpp>
#include <core/schedule.hpp>

using namespace tk;

struct row_logsumexp {
  static constexpr int M = be::worker_rows, N = 128;
  static constexpr int workers = 2, cluster = 1, stages = 3, own_slots = 1;
  struct stage {  // a slot of the ring
    shared_tile<bf16, M, N> x[workers];
  };
  struct own {};
  struct scratch {};
  struct args {
    be::source<bf16, M, N> x;
    float* y;
    int rows, cols;
  };
  struct task {
    int row, steps;
  };

  static TK_BOTH int tasks(args const& a) { return ceil_div(a.rows, workers * M); }
  static TK_BOTH task task_at(args const& a, int i, int) {
    return {i * workers * M, ceil_div(a.cols, N)};
  }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    for (int w = 0; w < workers; ++w)
      load_async(s.x[w], window(a.x, t.row + w * M, step * N), done);
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const row = t.row + c.w.id() * M;
    reg_col<float, M> running_max = std::numeric_limits<float>::lowest(), running_sum = 0.f;
    for (int step = 0; step < t.steps; ++step) {
      reg_tile<bf16, M, N> x;
      tk::load(x, c.in.take().x[c.w.id()]);
      release_loaded(c.w, c.in);  // all lanes have x in registers: the slot may be filled again
      reg_tile<float, M, N> s;
      s = x * log2_e;
      keep_cols(s, a.cols - step * N, -inf);
      auto const top = tk::max(running_max, row_max(s));
      running_sum = running_sum * exp2(running_max - top) + row_sum(exp2(s - top));
      running_max = top;
    }
    store(a.y + row, (running_max + log2(running_sum)) * ln_2, a.rows - row);
  }
};

int main() {
  int const rows = 300, cols = 1000;
  std::vector<bf16> x(rows * cols);
  for (int i = 0; i < rows * cols; ++i) x[i] = round_to<bf16>(5 * std::sin(0.37f * i));
  std::vector<float> y(rows);

  auto* const device_x = static_cast<bf16*>(be::rt::allocate(x.size() * sizeof(bf16)));
  auto* const device_y = static_cast<float*>(be::rt::allocate(y.size() * sizeof(float)));
  be::rt::copy_in(device_x, x.data(), x.size() * sizeof(bf16));
  tensor<bf16 const> const matrix{device_x, rows, cols, cols};
  row_logsumexp::args const args{be::read_from<row_logsumexp::M, row_logsumexp::N>(matrix),
                                 device_y, rows, cols};
  be::launch<row_logsumexp>(args, nullptr);
  be::rt::synchronize();
  be::rt::copy_out(y.data(), device_y, y.size() * sizeof(float));
  be::rt::release(device_x);
  be::rt::release(device_y);

  double worst = 0;
  for (int row = 0; row < rows; ++row) {
    double sum = 0;
    for (int col = 0; col < cols; ++col) sum += std::exp(double{widen(x[row * cols + col])});
    worst = std::fmax(worst, std::fabs(y[row] - std::log(sum)));
  }
  std::printf("%d rows of %d on %s: largest error %.1e\n", rows, cols,
              be::rt::device().name.c_str(), worst);
  return worst < 1e-5 ? 0 : 1;
}
