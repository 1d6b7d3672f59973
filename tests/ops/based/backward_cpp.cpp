// SPDX-License-Identifier: MIT
// The C++ interface of the backward: defaults, and refusals as exceptions.
#include "ops/based/based_backward_call.hpp"

#include "tests/ops/based/backward_scene.hpp"

using namespace scene;

TEST_CASE("gradients of ones") {
  // q.k is 16, s 4, a weight 13 and its slope 1 + s = 5. One head of two sequences of five tokens:
  // dv_t = 13 (5 - t); dq_t = scale 5 (t + 1) dv columns, dk_t = scale 5 (5 - t) dv columns.
  memory arena(arena_bytes);
  auto host = ones(at_o);
  for (std::size_t i = 0; i < 1024; i += 2) put_bf16(host, at_dout + i, 1);
  arena.write(host);
  auto const tokens = [&](std::size_t at) {
    return tk::tensor_view(arena.at(at), tk::dl_bf16, {2, 5, 2, 16});
  };
  auto const gradient = [&](std::size_t at) {
    return tk::output_view(arena.at(at), tk::dl_bf16, {2, 5, 2, 16});
  };
  tk::based_backward_inputs const in{tokens(at_q), tokens(at_k), tokens(at_v), tokens(at_dout)};
  tk::based_backward_outputs out{gradient(at_dq), gradient(at_dk), gradient(at_dv)};
  tk::based_backward_options options;
  auto const run = [&] {
    memory workspace(tk::based_backward_workspace(in, out, options) + 1);
    options.workspace = workspace.at();
    options.workspace_bytes = workspace.size() - 1;
    CHECK(!tk::based_backward_refusal(in, out, options));
    tk::based_backward(in, out, options);
    return arena.content();
  };
  auto const expect = [&](bytes const& got, std::size_t at, float value) {
    bytes wanted(2);
    put_bf16(wanted, 0, value);
    CHECK(std::equal(wanted.begin(), wanted.end(), got.begin() + std::ptrdiff_t(at)));
  };
  auto got = run();
  expect(got, at_dv, 65);
  expect(got, at_dv + 4 * 64, 13);
  expect(got, at_dq, 20);
  expect(got, at_dq + 4 * 64, 100);
  expect(got, at_dk, 100);
  expect(got, at_dk + 4 * 64, 20);
  options.scale = 0.125f;  // s 2, a weight 5, its slope 3
  options.normalise = true;
  out.dinitial_sums = {arena.at(at_dinitial_sums), tk::dl_fp32, {2, 2, moments}};
  got = run();  // o is 1: of q and k there is no gradient
  expect(got, at_dv + 4 * 64, 0.2001953125f);
}

TEST_CASE("refusals are exceptions, or optional errors") {
  memory arena(arena_bytes);
  tk::output_view const o(arena.at(8192), tk::dl_bf16, {16});
  tk::tensor_view const flat(arena.at(), tk::dl_bf16, {16});
  expect_error(tk::status::bad_rank, "q has 1 dimensions",
               [&] { tk::based_backward({flat, flat, flat, flat}, {o, o, o}); });
  expect_error(tk::status::null_pointer, "q is NULL",
               [&] { tk::based_backward({{}, flat, flat, flat}, {o, o, o}); });
  CHECK(tk::based_backward_refusal({flat, flat, flat, flat}, {o, o, o})->code() ==
        tk::status::bad_rank);
}
