// SPDX-License-Identifier: MIT
// The C++ interface: views and DLTensors alike, defaults, refusals as exceptions that carry the
// status and the sentence of the C interface.
#include "ops/mamba2/mamba2_call.hpp"

#include "tests/ops/mamba2/scene.hpp"

using namespace scene;

TEST_CASE("all but steps and operands is optional") {
  // Ones, s = 16, dt 1 and A 0: y of token t = 0, 1, ... is 16 (t + 1), S_5 is 5.
  memory arena(arena_bytes);
  auto host = ones(at_dt);
  for (std::size_t i = 0; i < 20; ++i) put_fp32(host, at_dt + 4 * i, 1);
  for (std::size_t i = 0; i < 2; ++i) put_fp32(host, at_D + 4 * i, 3), put_fp32(host, at_bias, 1);
  arena.write(host);
  tk::tensor_view const x(arena.at(at_x), tk::dl_bf16, {2, 5, 2, 16});
  tk::tensor_view const dt(arena.at(at_dt), tk::dl_fp32, {2, 5, 2}),
      A(arena.at(at_A), tk::dl_fp32, {2});
  tk::tensor_view const B(arena.at(at_B), tk::dl_bf16, {2, 5, 1, 16});
  tk::tensor_view const C(arena.at(at_C), tk::dl_bf16, {2, 5, 1, 16});
  tk::output_view const y(arena.at(at_y), tk::dl_bf16, {2, 5, 2, 16});
  tk::mamba2_inputs in{x, dt, A, B, C};
  tk::mamba2_options options;
  auto const run = [&](float first, float last) {
    memory workspace(tk::mamba2_workspace(in, y, options) + 1);
    options.workspace = workspace.at();
    options.workspace_bytes = workspace.size() - 1;
    CHECK(!tk::mamba2_refusal(in, y, options));
    tk::mamba2(in, y, options);
    auto const after = arena.content();
    bytes expected(4);
    put_bf16(expected, 0, first);
    put_bf16(expected, 2, last);
    CHECK(std::equal(expected.begin(), expected.begin() + 2, after.begin() + at_y));
    CHECK(std::equal(expected.begin() + 2, expected.end(), after.begin() + at_y + 4 * 64));
    return fp32_at(after, at_final);
  };
  CHECK(run(16, 80) == 0);
  options.final_state = {arena.at(at_final), tk::dl_fp32, {2, 2, 16, 16}};
  CHECK(run(16, 80) == 5);
  options.dt_max = 0.5f;
  CHECK(run(8, 40) == 2.5f);
  options.dt_min = 0.5f, options.dt_max = 4;
  CHECK(run(16, 80) == 5);
  in.D = {arena.at(at_D), tk::dl_fp32, {2}};
  CHECK(run(19, 83) == 5);
  in.dt_bias = {arena.at(at_bias), tk::dl_fp32, {2}};  // of the first head
  CHECK(run(35, 163) == 10);
}

TEST_CASE("refusals are exceptions, or optional errors") {
  memory arena(arena_bytes);
  tk::output_view const y(arena.at(8192), tk::dl_fp32, {8, 24});
  tk::tensor_view const flat(arena.at(), tk::dl_bf16, {16});
  tk::mamba2_inputs const in{flat, flat, flat, flat, flat};
  expect_error(tk::status::bad_rank, "x has 1 dimensions", [&] { tk::mamba2(in, y); });
  expect_error(tk::status::null_pointer, "x is NULL", [&] { tk::mamba2({}, y); });
  CHECK(tk::mamba2_refusal(in, y)->code() == tk::status::bad_rank);
}
