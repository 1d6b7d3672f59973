// SPDX-License-Identifier: MIT
// The C++ interface: views and DLTensors alike, defaults, refusals as exceptions that carry the
// status and the sentence of the C interface.
#include "ops/based/based_call.hpp"

#include "tests/ops/based/scene.hpp"

using namespace scene;

TEST_CASE("Based's scale is 1 / 4 unless said, and all else is optional") {
  // Ones: q.k is 16, s 4 and a weight 13; o of token t = 0, 1, ... is 13 (t + 1), and 1 normalised.
  memory arena(arena_bytes);
  arena.write(ones(at_o));
  tk::tensor_view const q(arena.at(at_q), tk::dl_bf16, {2, 5, 2, 16});
  tk::tensor_view const k(arena.at(at_k), tk::dl_bf16, {2, 5, 2, 16});
  tk::tensor_view const v(arena.at(at_v), tk::dl_bf16, {2, 5, 2, 16});
  tk::output_view const o(arena.at(at_o), tk::dl_bf16, {2, 5, 2, 16});
  tk::based_options options;
  auto const run = [&](float first, float last) {
    memory workspace(tk::based_workspace(q, k, v, o, options) + 1);
    options.workspace = workspace.at();
    options.workspace_bytes = workspace.size() - 1;
    CHECK(!tk::based_refusal(q, k, v, o, options));
    tk::based(q, k, v, o, options);
    auto const host = arena.content();
    bytes expected(4);
    put_bf16(expected, 0, first);
    put_bf16(expected, 2, last);
    CHECK(std::equal(expected.begin(), expected.begin() + 2, host.begin() + at_o));
    CHECK(std::equal(expected.begin() + 2, expected.end(), host.begin() + at_o + 4 * 64));
    return fp32_at(host, at_final);
  };
  CHECK(run(13, 65) == 0);
  options.final_state = {arena.at(at_final), tk::dl_fp32, {2, 2, moments, 16}};
  CHECK(run(13, 65) == 5);
  options.scale = 0.125f;  // s 2, a weight 5
  CHECK(run(5, 25) == 5);
  options.normalise = true;
  options.final_sums = {arena.at(at_final_sums), tk::dl_fp32, {2, 2, moments}};
  CHECK(run(1, 1) == 5);
  CHECK(fp32_at(arena.content(), at_final_sums) == 5);

  auto host = arena.content();
  for (std::size_t i = 0; i < 2 * 2 * moments * 16; ++i) put_fp32(host, at_initial + 4 * i, 3);
  for (std::size_t i = 0; i < 2 * 2 * moments; ++i) put_fp32(host, at_initial_sums + 4 * i, 1);
  arena.write(host);
  options.initial_state = {arena.at(at_initial), tk::dl_fp32, {2, 2, moments, 16}};
  options.initial_sums = {arena.at(at_initial_sums), tk::dl_fp32, {2, 2, moments}};
  CHECK(run(2, 1.3359375f) == 8);  // one token more, of ones, whose value is 3; 8 / 6, rounded
}

TEST_CASE("packed sequences") {
  memory arena(arena_bytes);
  auto host = ones(at_o);
  put_int32(host, at_starts + 4, 4);
  put_int32(host, at_starts + 8, 10);
  arena.write(host);
  tk::tensor_view const q(arena.at(at_q), tk::dl_bf16, {10, 2, 16});
  tk::tensor_view const k(arena.at(at_k), tk::dl_bf16, {10, 2, 16});
  tk::tensor_view const v(arena.at(at_v), tk::dl_bf16, {10, 2, 16});
  tk::output_view const o(arena.at(at_o), tk::dl_bf16, {10, 2, 16});
  tk::based_options options;
  options.final_state = {arena.at(at_final), tk::dl_fp32, {2, 2, moments, 16}};
  options.starts = {arena.at(at_starts), tk::dl_int32, {3}};
  memory workspace(tk::based_workspace(q, k, v, o, options) + 1);
  options.workspace = workspace.at();
  options.workspace_bytes = workspace.size() - 1;
  tk::based(q, k, v, o, options);
  CHECK(fp32_at(arena.content(), at_final) == 4);
  CHECK(fp32_at(arena.content(), at_final + 4 * 2 * moments * 16) == 6);
  options.final_state = {arena.at(at_final), tk::dl_fp32, {3, 2, moments, 16}};
  auto const refused = tk::based_refusal(q, k, v, o, options);
  REQUIRE(refused.has_value());
  CHECK(refused->code() == tk::status::bad_shape);
}

TEST_CASE("refusals are exceptions, or optional errors") {
  memory arena(arena_bytes);
  tk::output_view const o(arena.at(8192), tk::dl_fp32, {8, 24});
  tk::tensor_view const flat(arena.at(), tk::dl_bf16, {16});
  expect_error(tk::status::bad_rank, "q has 1 dimensions", [&] { tk::based(flat, flat, flat, o); });
  expect_error(tk::status::null_pointer, "q is NULL", [&] { tk::based({}, flat, flat, o); });
  CHECK(tk::based_refusal(flat, flat, flat, o)->code() == tk::status::bad_rank);
}
