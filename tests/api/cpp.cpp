// SPDX-License-Identifier: MIT
// The C++ interface: views and DLTensors alike, defaults, refusals as exceptions that carry the
// status and the sentence of the C interface.
#include "ops/tk_ops.hpp"

#include <cmath>
#include <utility>

#include "tests/api/scene.hpp"

namespace {

using namespace scene;

constexpr std::size_t at_q = 0, at_k = 4096, at_v = 8192, at_o = 12288, at_lse = 16384;

template <class Body> void expect_error(tk::status code, std::string const& part, Body&& body) {
  try {
    body();
    FAIL_CHECK("no exception");
  } catch (tk::error const& e) {
    INFO(e.what());
    CHECK(e.code() == code);
    CHECK(says(e.what(), part));
  }
}

// All ones: q . k is d for every pair.
bytes ones() {
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < at_o; i += 2) put_bf16(host, i, 1);
  return host;
}

}  // namespace

TEST_CASE("gemm of views") {
  memory arena(arena_bytes);
  arena.write(ones());
  tk::tensor_view const a(arena.at(at_q), tk::dl_bf16, {8, 16});
  tk::tensor_view const b(arena.at(at_k), tk::dl_bf16, {24, 16});
  tk::output_view const d(arena.at(at_o), tk::dl_fp32, {8, 24}, {32, 1});
  tk::gemm_options options{.transpose_b = true, .alpha = 2};
  auto const needed = tk::gemm_workspace(a, b, d, options);
  memory workspace(needed + 1);
  options.workspace = workspace.at();
  options.workspace_bytes = needed;
  CHECK(!tk::gemm_refusal(a, b, d, options));
  tk::gemm(a, b, d, options);
  auto const host = arena.content();
  for (std::size_t i = 0; i < 8; ++i) {
    for (std::size_t j = 0; j < 32; ++j) {
      REQUIRE(fp32_at(host, at_o + 4 * (32 * i + j)) == (j < 24 ? 32 : 0));
    }
  }
  // views written in the call, the sum so far as c
  options.beta = 1;
  options.c = d;
  tk::gemm({arena.at(at_q), tk::dl_bf16, {8, 16}}, {arena.at(at_k), tk::dl_bf16, {24, 16}}, d,
           options);
  CHECK(fp32_at(arena.content(), at_o) == 64);
}

TEST_CASE("gemm of DLTensors") {
  gemm s;
  s.arena.write(ones());
  s.problem.beta = 0;
  auto const* problem = s.get();
  auto const needed = tk::gemm_workspace(problem->a, problem->b, problem->d);
  memory workspace(needed + 1);
  tk::gemm(problem->a, problem->b, problem->d,
           {.workspace = workspace.at(), .workspace_bytes = needed});
  CHECK(fp32_at(s.arena.content(), at_o) == 16);
}

TEST_CASE("a copy of a view has its own sizes and strides") {
  tk::tensor_view copy;
  CHECK(copy.get() == nullptr);
  {
    float x = 0;
    tk::tensor_view const first(&x, tk::dl_fp32, {2, 3}, {5, 1}, 4);
    copy = first;
    CHECK(copy.get()->shape != first.get()->shape);
    CHECK(copy.get()->data == &x);
  }
  tk::tensor_view const moved = std::move(copy);
  auto const& t = *moved.get();
  CHECK(t.ndim == 2);
  CHECK(t.shape[0] == 2);
  CHECK(t.shape[1] == 3);
  CHECK(t.strides[0] == 5);
  CHECK(t.strides[1] == 1);
  CHECK(t.byte_offset == 0);
  CHECK(t.device.device_id == 4);
  CHECK(t.device.device_type == tk_device_type());
  CHECK(tk::tensor_view(nullptr, tk::dl_fp16, {2, 3}).get()->strides == nullptr);
  DLTensor given{};
  CHECK(tk::tensor_view(&given).get() == &given);
  std::vector<std::int64_t> const shape{7};
  CHECK(tk::tensor_view(nullptr, tk::dl_fp16, shape).get()->shape[0] == 7);
}

TEST_CASE("attention's scale is 1 / sqrt(d) unless said, and lse is optional") {
  memory arena(arena_bytes);
  arena.write(ones());
  tk::tensor_view const q(arena.at(at_q), tk::dl_bf16, {2, 5, 4, 16});
  tk::tensor_view const k(arena.at(at_k), tk::dl_bf16, {2, 7, 2, 16});
  tk::tensor_view const v(arena.at(at_v), tk::dl_bf16, {2, 7, 2, 24});
  tk::output_view const o(arena.at(at_o), tk::dl_bf16, {2, 5, 4, 24});
  tk::attention_forward_options options;
  auto const needed = tk::attention_forward_workspace(q, k, v, o, options);
  memory workspace(needed + 1);
  options.workspace = workspace.at();
  options.workspace_bytes = needed;
  CHECK(!tk::attention_forward_refusal(q, k, v, o, options));
  tk::attention_forward(q, k, v, o, options);
  CHECK(arena.content()[at_o] == 0x80);  // 1 in bf16 is 0x3f80
  CHECK(arena.content()[at_o + 1] == 0x3f);
  CHECK(fp32_at(arena.content(), at_lse) == 0);

  // 7 keys of score d * scale each: lse = 16 scale + ln 7. The margin only tells scales apart.
  options.lse = {arena.at(at_lse), tk::dl_fp32, {2, 4, 5}};
  tk::attention_forward(q, k, v, o, options);
  CHECK(std::abs(fp32_at(arena.content(), at_lse) - (4 + std::log(7.f))) < 0.01f);
  options.scale = 0.5f;
  tk::attention_forward(q, k, v, o, options);
  CHECK(std::abs(fp32_at(arena.content(), at_lse) - (8 + std::log(7.f))) < 0.01f);
}

TEST_CASE("norm's operands are optional, eps is 1e-5 unless said") {
  memory arena(arena_bytes);
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < 6 * 20; ++i) put_fp32(host, at_q + 4 * i, i % 2 ? 3 : 1);
  for (std::size_t i = 0; i < 20; ++i) put_fp32(host, at_k + 4 * i, 8);
  arena.write(host);
  tk::tensor_view const x(arena.at(at_q), tk::dl_fp32, {6, 20});
  tk::output_view const y(arena.at(at_o), tk::dl_fp32, {6, 20}, {32, 1});
  CHECK(!tk::norm_refusal(x, y));
  tk::norm(x, y);
  CHECK(std::abs(fp32_at(arena.content(), at_o) + 1) < 1e-4f);
  tk::norm(x, y, {.weight = {arena.at(at_k), tk::dl_fp32, {20}}, .kind = TK_NORM_RMS, .eps = 11});
  CHECK(std::abs(fp32_at(arena.content(), at_o) - 2) < 1e-5f);
  CHECK(std::abs(fp32_at(arena.content(), at_o + 5 * 32 * 4 + 4) - 6) < 1e-5f);
  CHECK(fp32_at(arena.content(), at_o + 20 * 4) == 0);
  CHECK(tk::norm_refusal(x, {})->code() == tk::status::null_pointer);
  CHECK(tk::norm_workspace(x, y) == 0);
  CHECK(tk::norm_workspace({nullptr, tk::dl_bf16, {256, 256}},
                           {nullptr, tk::dl_bf16, {256, 256}}) == TK_COUNTER_BYTES);
}

TEST_CASE("refusals are exceptions, or optional errors") {
  memory arena(arena_bytes);
  tk::tensor_view const a(arena.at(), tk::dl_bf16, {8, 16});
  tk::tensor_view const b(arena.at(4096), tk::dl_bf16, {15, 24});
  tk::output_view const d(arena.at(8192), tk::dl_fp32, {8, 24});
  expect_error(tk::status::bad_shape, "tk_gemm: b has rows = 15", [&] { tk::gemm(a, b, d); });
  expect_error(tk::status::bad_shape, "tk_workspace: b has rows = 15",
               [&] { tk::gemm_workspace(a, b, d); });
  auto const refused = tk::gemm_refusal(a, b, d);
  REQUIRE(refused);
  CHECK(refused->code() == tk::status::bad_shape);
  CHECK(says(refused->what(), "tk_supports: b has rows = 15"));

  expect_error(tk::status::null_pointer, "a is NULL", [&] { tk::gemm({}, b, d); });
  tk::tensor_view const flat(arena.at(), tk::dl_bf16, {16});
  expect_error(tk::status::bad_rank, "q has 1 dimensions",
               [&] { tk::attention_forward(flat, flat, flat, d); });
  expect_error(tk::status::null_pointer, "q is NULL",
               [&] { tk::attention_forward({}, flat, flat, d); });
  CHECK(tk::attention_forward_refusal(flat, flat, flat, d)->code() == tk::status::bad_rank);
  expect_error(tk::status::bad_rank, "5 dimensions",
               [&] { tk::tensor_view(arena.at(), tk::dl_bf16, {1, 1, 1, 1, 1}); });
  expect_error(tk::status::bad_stride, "1 strides for 2 sizes",
               [&] { tk::tensor_view(arena.at(), tk::dl_bf16, {1, 1}, {1}); });
  CHECK(arena.content() == bytes(arena_bytes, 0));
}
