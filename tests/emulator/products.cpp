// SPDX-License-Identifier: MIT
// wgmma: every n, element, operand form, order and swizzle against the plain product of small whole
// numbers, which is exact; then the steps that a kernel may not forget.
#include "backends/emulator/wgmma.hpp"

#include <atomic>

#include "tests/emulator/maps.hpp"

using namespace tk::emulator;
using namespace tk::test;

namespace {

// An operand of 16 k, or 32 of fp8, by some mn in shared memory: bytes of its elements and its
// descriptor.
struct operand {
  bool mn_contiguous;
  int span;  // of the swizzle, 0 for none
  int size = 2;

  int byte(int mn, int k) const {
    if (!span) {  // matrices of 8 rows of 16 bytes, those along k next to one another
      int const each = 16 / size;
      int const inside = mn_contiguous ? k % 8 * 16 + mn % 8 * 2 : mn % 8 * 16 + k % each * size;
      return mn / 8 * 256 + k / each * 128 + inside;
    }
    if (!mn_contiguous) return swizzled_byte(mn * span + k * size, span);
    int const width = span / 2;  // panels of 16 rows
    return mn / width * 16 * span + swizzled_byte(k * span + mn % width * 2, span);
  }
  std::uint64_t descriptor(std::uint32_t start) const {
    std::uint64_t const mode = span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0;
    std::uint64_t const leading = !span ? 128 : mn_contiguous ? 16 * span : 16;
    std::uint64_t const stride = !span ? 256 : 8 * span;
    return mode << 62 | stride >> 4 << 32 | leading >> 4 << 16 | (start & 0x3ffff) >> 4;
  }
};

int left(int m, int k) { return (m * 5 + k * 3) % 7 - 3; }
int right(int k, int n) { return (k * 2 + n * 11) % 9 - 4; }
std::uint32_t bits(operand_kind kind, int x) {
  std::uint32_t y = 0;
  with_kind(kind, [&]<class T>(T) { y = tk::round_to<T>(static_cast<float>(x)).bits; });
  return y;
}
int row_of(int lane, int r) { return lane / 32 * 16 + lane % 32 / 4 + (r >> 1 & 1) * 8; }
int col_of(int lane, int r) { return r / 4 * 8 + lane % 4 * 2 + (r & 1); }

struct kinds {
  operand_kind a, b;
};
constexpr kinds bf16s{operand_kind::bf16, operand_kind::bf16};
constexpr kinds fp16s{operand_kind::fp16, operand_kind::fp16};

struct setting {
  kinds of;
  int n;
  operand a, b;
  bool a_in_registers;
  int depth() const { return 32 / b.size; }
};
product_form form_in(setting const& s, char* a, char* b, bool keep) {
  product_form form;
  form.n = s.n, form.a_kind = s.of.a, form.b_kind = s.of.b;
  form.keep = keep, form.a_in_registers = s.a_in_registers;
  form.a_mn_contiguous = !s.a_in_registers && s.a.mn_contiguous;
  form.b_mn_contiguous = s.b.mn_contiguous;
  if (!s.a_in_registers) form.a = s.a.descriptor(shared_address(a));
  form.b = s.b.descriptor(shared_address(b));
  return form;
}
void issue(product_form const& form, float* d, std::uint32_t const* a = nullptr,
           location where = location::current()) {
  wgmma_issue(form, d, a, where);
}
void put(char* to, operand const& x, operand_kind kind, int mn, int k, int value) {
  auto const word = bits(kind, value);
  std::memcpy(to + x.byte(mn, k), &word, static_cast<std::size_t>(x.size));
}
void fill(setting const& s, char* a, char* b, std::uint32_t (&registers)[4]) {
  int const t = thread_index(), depth = s.depth(), each = depth / 8;
  for (int i = t; i < 64 * depth; i += 128)
    put(a, s.a, s.of.a, i / depth, i % depth, left(i / depth, i % depth));
  for (int i = t; i < s.n * depth; i += 128)
    put(b, s.b, s.of.b, i / depth, i % depth, right(i % depth, i / depth));
  for (int r = 0; r < 4; ++r) {
    int const m = t / 32 * 16 + t % 32 / 4 + r % 2 * 8, k = (t % 4 + r / 2 * 4) * each;
    registers[r] = 0;
    for (int e = 0; e < each; ++e) registers[r] |= bits(s.of.a, left(m, k + e)) << e * 8 * s.a.size;
  }
}

// How many elements of a b + a b, added to zero in two groups, are wrong.
int wrong_in(setting const& s, std::uint64_t seed) {
  std::atomic<int> wrong = 0;
  REQUIRE(report_of(
              form_of(1, 128, 48 * 1024),
              [&] {
                char* const a = tile_memory();
                char* const b = a + 8192;
                std::uint32_t registers[4];
                fill(s, a, b, registers);
                proxy_fence();
                sync_block();
                float d[128] = {};
                for (int i = 0; i < 2; ++i) {
                  wgmma_fence();
                  issue(form_in(s, a, b, i > 0), d, s.a_in_registers ? registers : nullptr);
                  wgmma_commit();
                }
                wgmma_wait(0);
                for (int r = 0; r < s.n / 2; ++r) {
                  int sum = 0;
                  for (int k = 0; k < s.depth(); ++k)
                    sum += left(row_of(thread_index(), r), k) * right(k, col_of(thread_index(), r));
                  if (d[r] != static_cast<float>(2 * sum)) ++wrong;
                }
              },
              seed) == "");
  return wrong;
}

enum class fault {
  none,
  no_fence,
  no_second_fence,
  no_proxy_fence,
  no_commit,
  no_wait,
  early_wait,
  accumulator_read,
  accumulator_written,
  registers_written,
  shared_written,
  other_tile,
  other_form,
  one_lane,
  overlap
};
std::string run(fault f, std::uint64_t seed = 0) {
  setting const s{bf16s, 32, {false, 128}, {false, 128}, true};
  return report_of(
      form_of(1, 128, 48 * 1024),
      [&] {
        char* const a = tile_memory();
        char* const b = a + 8192;
        std::uint32_t registers[4];
        fill(s, a, b, registers);
        if (f != fault::no_proxy_fence) proxy_fence();
        sync_block();
        float d[16] = {}, e[16] = {};
        bool const odd = thread_index() == 77;
        if (f == fault::one_lane && odd) return;
        if (f != fault::no_fence) wgmma_fence();
        product_form form = form_in(s, a, b, false);
        if (f == fault::other_form && odd) form.b += 2;
        issue(form, d, registers);
        if (f == fault::other_tile && odd) issue(form, e, registers);
        else issue(form, f == fault::overlap ? d + 8 : d, registers);
        if (f != fault::no_commit) wgmma_commit();
        if (f != fault::no_second_fence) wgmma_fence();
        issue(form, e, registers);
        wgmma_commit();
        if (f == fault::accumulator_written && odd) d[3] = 0;
        if (f == fault::registers_written && odd) registers[2] = 0;
        if (f == fault::shared_written) sync_block();
        if (f == fault::shared_written && odd) b[0] = 1;
        if (f == fault::accumulator_read) check_settled(d[0]);
        if (f == fault::no_wait) return;
        wgmma_wait(f == fault::early_wait ? 1 : 0);
        check_settled(d[0]);
        check_settled(e[0]);
      },
      seed);
}

}  // namespace

TEST_CASE("every n, with operands of every form") {
  std::vector<operand> forms;
  for (bool mn_contiguous : {false, true})
    for (int span : {0, 32, 64, 128}) forms.push_back({mn_contiguous, span});
  int const step = sanitizer::sees_races ? 88 : 8;
  for (kinds const of : {bf16s, fp16s})
    for (int n = 8; n <= 256; n += step)
      for (std::size_t i = 0; i < forms.size(); ++i) {
        // The other operand's form changes along, so that with all n all pairs meet.
        auto const& other = forms[(i + static_cast<std::size_t>(n / 8)) % forms.size()];
        CAPTURE(n);
        CAPTURE(i);
        CHECK(wrong_in({of, n, other, forms[i], false}, i % 2) == 0);
        CHECK(wrong_in({of, n, other, forms[i], true}, i % 2) == 0);
      }
}

TEST_CASE("fp8 of either kind times either, k contiguous") {
  constexpr operand_kind fp8[] = {operand_kind::e4m3, operand_kind::e5m2};
  constexpr int spans[] = {0, 32, 64, 128};
  for (int i = 0; i < 16; ++i) {
    setting const s{{fp8[i % 2], fp8[i / 2 % 2]},
                    8 + 16 * i,
                    {false, spans[i / 4], 1},
                    {false, spans[(i + i / 4) % 4], 1},
                    false};
    CAPTURE(i);
    CHECK(wrong_in(s, 0) == 0);
    setting in_registers = s;
    in_registers.a_in_registers = true;
    CHECK(wrong_in(in_registers, 1) == 0);
  }
  auto const report = report_of(form_of(1, 128, 48 * 1024), [&] {
    setting const s{{fp8[0], fp8[0]}, 64, {false, 128, 1}, {true, 128, 1}, false};
    float d[32] = {};
    wgmma_fence();
    issue(form_in(s, tile_memory(), tile_memory(), false), d);
  });
  CHECK(contains(report, "k is not contiguous in an operand of fp8"));
}

TEST_CASE("16-bit numbers of every kind are widened as they are") {
  for (unsigned x = 0; x < 65536; ++x) {
    auto const word = static_cast<std::uint16_t>(x);
    auto const same = [](float a, float b) {
      return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
    };
    REQUIRE(same(widen_bf16(word), tk::widen(tk::bf16{word})));
    REQUIRE(same(widen_fp16(word), tk::widen(tk::fp16{word})));
  }
}

TEST_CASE("what a kernel may not forget") {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    CHECK(run(fault::none, seed) == "");
    CHECK(contains(run(fault::no_fence, seed), "no fence since the last commit or wait"));
    CHECK(contains(run(fault::no_second_fence, seed), "no fence since the last commit or wait"));
    CHECK(contains(run(fault::no_proxy_fence, seed), "without a proxy fence"));
    CHECK(contains(run(fault::no_wait, seed), "a lane ended without waiting for its products"));
    CHECK(contains(run(fault::early_wait, seed), "handed back while a product still writes it"));
    CHECK(contains(run(fault::accumulator_read, seed), "handed back while a product"));
    CHECK(contains(run(fault::accumulator_written, seed), "accumulator was written while"));
    CHECK(contains(run(fault::other_tile, seed), "accumulator is not the one"));
    CHECK(contains(run(fault::other_form, seed), "issue different products"));
    CHECK(contains(run(fault::overlap, seed), "accumulator overlaps"));
    // Without a commit both products are one group, and its end is the next commit.
    CHECK(run(fault::no_commit, seed) == "");
  }
  CHECK(contains(run(fault::registers_written), "left operand in registers changed"));
  CHECK(contains(run(fault::registers_written), "thread 77"));
  CHECK(contains(run(fault::shared_written), "changed while the product ran"));
  auto const report = run(fault::one_lane);
  CHECK(contains(report, "deadlock"));
  CHECK(contains(report, "was issued by 127 of 128 lanes"));
  CHECK(contains(report, "products.cpp:"));
}

TEST_CASE("a product without a commit gives nothing back") {
  setting const s{bf16s, 8, {false, 128}, {false, 128}, false};
  auto const report = report_of(form_of(1, 128, 48 * 1024), [&] {
    char* const a = tile_memory();
    std::uint32_t registers[4];
    fill(s, a, a + 8192, registers);
    proxy_fence();
    sync_block();
    float d[4] = {};
    wgmma_fence();
    issue(form_in(s, a, a + 8192, true), d);
    wgmma_wait(0);
    check_settled(d[0]);
  });
  CHECK(contains(report, "handed back while a product still writes it"));
}

TEST_CASE("only whole warpgroups, inside shared memory") {
  CHECK(
      contains(report_of(form_of(1, 96, 1024), [] { wgmma_fence(); }), "not in a whole warpgroup"));
  setting const s{bf16s, 256, {false, 128}, {false, 128}, true};
  auto const report = report_of(form_of(1, 128, 8192), [&] {
    float d[128] = {};
    std::uint32_t registers[4] = {};
    wgmma_fence();
    issue(form_in(s, tile_memory(), tile_memory(), false), d, registers);
    wgmma_commit();
    wgmma_wait(0);
  });
  CHECK(contains(report, "operand b leaves shared memory"));
}

TEST_CASE("two warpgroups work side by side, and wait for their own") {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    setting const s{fp16s, 64, {true, 64}, {true, 128}, false};
    std::atomic<int> wrong = 0;
    CHECK(report_of(
              form_of(1, 256, 32 * 1024),
              [&] {
                int const group = thread_index() / 128, lane = thread_index() % 128;
                char* const a = tile_memory() + group * 2048;
                char* const b = tile_memory() + 8192;
                for (int i = lane; i < 1024; i += 128)
                  put(a, s.a, s.of.a, i / 16, i % 16, left(i / 16, i % 16) + group);
                if (group == 0)
                  for (int i = lane; i < 1024; i += 128)
                    put(b, s.b, s.of.b, i / 16, i % 16, right(i % 16, i / 16));
                proxy_fence();
                sync_block();
                float d[32] = {};
                for (int turn = 0; turn < 3; ++turn) {
                  wgmma_fence();
                  issue(form_in(s, a, b, true), d);
                  wgmma_commit();
                  wgmma_wait(0);
                }
                for (int r = 0; r < 32; ++r) {
                  int sum = 0;
                  for (int k = 0; k < 16; ++k)
                    sum += 3 * (left(row_of(lane, r), k) + group) * right(k, col_of(lane, r));
                  if (d[r] != static_cast<float>(sum)) ++wrong;
                }
              },
              seed) == "");
    CHECK(wrong == 0);
  }
}
