// SPDX-License-Identifier: MIT
// The C++ interface of the backward, as in cpp.cpp.
#include "ops/mamba2/mamba2_backward_call.hpp"

#include "tests/ops/mamba2/scene.hpp"

using namespace scene;

TEST_CASE("gradients of ones, with and without what is optional") {
  // Ones, p = s = 16, dt 1, A 0, two heads of a group: S_t is t, G_t is 6 - t, of five tokens.
  memory arena(arena_bytes);
  auto host = ones(at_dx);
  for (std::size_t i = 0; i < 160; ++i)
    put_bf16(host, at_B + 2 * i, 1), put_bf16(host, at_C + 2 * i, 1);
  for (std::size_t i = 0; i < 20; ++i) put_fp32(host, at_dt + 4 * i, 1);
  arena.write(host);
  tk::mamba2_backward_inputs in{
      {arena.at(at_x), tk::dl_bf16, {2, 5, 2, 16}}, {arena.at(at_dt), tk::dl_fp32, {2, 5, 2}},
      {arena.at(at_A), tk::dl_fp32, {2}},           {arena.at(at_B), tk::dl_bf16, {2, 5, 1, 16}},
      {arena.at(at_C), tk::dl_bf16, {2, 5, 1, 16}}, {arena.at(at_y), tk::dl_bf16, {2, 5, 2, 16}}};
  tk::mamba2_backward_outputs out{{arena.at(at_dx), tk::dl_bf16, {2, 5, 2, 16}},
                                  {arena.at(at_ddt), tk::dl_fp32, {2, 5, 2}},
                                  {arena.at(at_dA), tk::dl_fp32, {2}},
                                  {arena.at(at_dB), tk::dl_bf16, {2, 5, 1, 16}},
                                  {arena.at(at_dC), tk::dl_bf16, {2, 5, 1, 16}}};
  tk::mamba2_backward_options options;
  auto const run = [&] {
    memory workspace(tk::mamba2_backward_workspace(in, out, options) + 1);
    options.workspace = workspace.at();
    options.workspace_bytes = workspace.size() - 1;
    CHECK(!tk::mamba2_backward_refusal(in, out, options));
    tk::mamba2_backward(in, out, options);
    return arena.content();
  };
  auto const is = [](bytes const& after, std::size_t at, float x) {
    bytes expected(2);
    put_bf16(expected, 0, x);
    CHECK(std::equal(expected.begin(), expected.end(), after.begin() + std::ptrdiff_t(at)));
  };
  auto after = run();
  is(after, at_dx, 16 * 5);
  is(after, at_dx + 4 * 64, 16 * 1);
  is(after, at_dB, 2 * 16 * 5);
  is(after, at_dC + 4 * 32, 2 * 16 * 5);
  CHECK(fp32_at(after, at_ddt) == 256 * 5);
  // g_t = <S_(t-1), G_t>: 0, 4, 6, 6, 4 times 256, in two batches.
  CHECK(fp32_at(after, at_dA) == 2 * 256 * 20);
  out.dinitial_state = {arena.at(at_dinitial), tk::dl_fp32, {2, 2, 16, 16}};
  in.D = {arena.at(at_D), tk::dl_fp32, {2}};  // zeros
  out.dD = {arena.at(at_dD), tk::dl_fp32, {2}};
  after = run();
  CHECK(fp32_at(after, at_dinitial) == 5);
  CHECK(fp32_at(after, at_dD) == 2 * 5 * 16);
}

TEST_CASE("refusals are exceptions, or optional errors") {
  memory arena(arena_bytes);
  tk::output_view const o(arena.at(8192), tk::dl_fp32, {8, 24});
  tk::tensor_view const flat(arena.at(), tk::dl_bf16, {16});
  tk::mamba2_backward_inputs const in{flat, flat, flat, flat, flat, flat};
  tk::mamba2_backward_outputs const out{o, o, o, o, o};
  expect_error(tk::status::bad_rank, "x has 1 dimensions", [&] { tk::mamba2_backward(in, out); });
  expect_error(tk::status::null_pointer, "x is NULL", [&] { tk::mamba2_backward({}, out); });
  CHECK(tk::mamba2_backward_refusal(in, out)->code() == tk::status::bad_rank);
}
