// SPDX-License-Identifier: MIT
// Every refusal: its status, a sentence that names argument and value, and memory as it was before.
// `faults` are tried on every tensor of every op, the other tables on one op each. At the end the
// statuses met are counted: all that a caller can provoke must be among them.
#include <functional>
#include <limits>
#include <set>

#include "tests/api/refused.hpp"

namespace {

using namespace scene;

constexpr auto huge = std::numeric_limits<std::int64_t>::max();
constexpr auto tiny = std::numeric_limits<std::int64_t>::min();
constexpr auto past = std::int64_t(1) << 31;  // one more than the largest size

std::set<tk_status>& statuses_met() {
  static std::set<tk_status> met;
  return met;
}

void expect_refused(tk_status status, tk_status expected, std::string const& call,
                    std::vector<std::string> const& parts) {
  std::string const sentence = tk_last_error();
  INFO(sentence);
  CHECK(std::string(tk_status_name(status)) == tk_status_name(expected));
  CHECK(sentence.rfind(call + ": ", 0) == 0);
  for (auto const& part : parts) CHECK_MESSAGE(says(sentence, part), "not said: ", part);
  statuses_met().insert(status);
}

template <class Scene>
void try_refusal(Scene& s, tk_status expected, seen by, std::vector<std::string> const& parts) {
  auto const before = s.arena.content();
  auto const* problem = s.get();
  expect_refused(Scene::call(problem), expected, Scene::call_name, parts);
  CHECK(s.arena.content() == before);

  std::size_t needed = 12345;
  if (by == seen::by_all) {
    expect_refused(tk_supports(Scene::op, problem), expected, "tk_supports", parts);
    expect_refused(tk_workspace(Scene::op, problem, &needed), expected, "tk_workspace", parts);
    CHECK(needed == 12345);
  } else {
    CHECK(tk_supports(Scene::op, problem) == TK_OK);
    CHECK(tk_workspace(Scene::op, problem, &needed) == TK_OK);
  }
}

// ---- what can be wrong with any tensor
struct fault {
  char const* what;
  std::function<void(tensor&)> spoil;
  tk_status expected;
  std::vector<std::string> parts;
  seen by = seen::by_all;
};

int other_device_type() { return tk_device_type() == kDLCPU ? kDLCUDA : kDLCPU; }

std::vector<fault> faults() {
  return {
      {"no tensor", [](tensor& t) { t.given = nullptr; }, TK_NULL_POINTER, {"NULL"}},
      {"no shape", [](tensor& t) { t.dl.shape = nullptr; }, TK_NULL_POINTER, {"shape", "NULL"}},
      {"no data",
       [](tensor& t) { t.dl.data = nullptr; },
       TK_NULL_POINTER,
       {"data", "NULL"},
       seen::by_launch_only},
      {"no data, an offset",
       [](tensor& t) {
         t.dl.data = nullptr;
         t.dl.byte_offset = 64;
       },
       TK_NULL_POINTER,
       {"data", "NULL"},
       seen::by_launch_only},
      {"kind of device",
       [](tensor& t) { t.on_device(other_device_type(), t.dl.device.device_id); },
       TK_BAD_DEVICE,
       {std::to_string(other_device_type()), std::to_string(tk_device_type())}},
      {"no kind of device", [](tensor& t) { t.on_device(99, 0); }, TK_BAD_DEVICE, {"99"}},
      {"device",
       [](tensor& t) { t.on_device(tk_device_type(), 57); },
       TK_BAD_DEVICE,
       {"57", std::to_string(rt::current_device())}},
      {"int16", [](tensor& t) { t.dl.dtype = {kDLInt, 16, 1}; }, TK_BAD_TYPE, {"code 0", "16"}},
      {"fp64", [](tensor& t) { t.dl.dtype = {kDLFloat, 64, 1}; }, TK_BAD_TYPE, {"code 2", "64"}},
      {"bf32", [](tensor& t) { t.dl.dtype = {kDLBfloat, 32, 1}; }, TK_BAD_TYPE, {"code 4", "32"}},
      {"two lanes", [](tensor& t) { t.dl.dtype.lanes = 2; }, TK_BAD_TYPE, {"lanes 2"}},
      {"rank 0", [](tensor& t) { t.dl.ndim = 0; }, TK_BAD_RANK, {"0 dimensions"}},
      {"rank -1", [](tensor& t) { t.dl.ndim = -1; }, TK_BAD_RANK, {"-1 dimensions"}},
      {"rank 5", [](tensor& t) { t.dl.ndim = 5; }, TK_BAD_RANK, {"5 dimensions"}},
      {"negative size", [](tensor& t) { t.shape[0] = -3; }, TK_BAD_SHAPE, {"-3", "2147483647"}},
      {"too large", [](tensor& t) { t.shape[0] = past; }, TK_BAD_SHAPE, {"2147483648"}},
      {"too large at the end",
       [](tensor& t) { t.shape[t.last()] = huge; },
       TK_BAD_SHAPE,
       {std::to_string(huge)}},
      {"last stride 2", [](tensor& t) { t.strides[t.last()] = 2; }, TK_BAD_STRIDE, {"stride 2"}},
      {"last stride 0", [](tensor& t) { t.strides[t.last()] = 0; }, TK_BAD_STRIDE, {"stride 0"}},
      {"last stride -1", [](tensor& t) { t.strides[t.last()] = -1; }, TK_BAD_STRIDE, {"stride -1"}},
      {"offset past the address space",
       [](tensor& t) { t.dl.byte_offset = ~std::uint64_t(0) - 3; },
       TK_BAD_STRIDE,
       {"18446744073709551612", "2^64"},
       seen::by_launch_only},
      {"odd data", [](tensor& t) { t.move(1); }, TK_BAD_ALIGNMENT, {"bytes"}, seen::by_launch_only},
      {"odd offset",
       [](tensor& t) { t.dl.byte_offset = 7; },
       TK_BAD_ALIGNMENT,
       {"+ 7"},
       seen::by_launch_only},
  };
}

// Of a tensor with at least two dimensions.
std::vector<fault> stride_faults() {
  auto const at_0 = [](std::int64_t stride) { return [=](tensor& t) { t.strides[0] = stride; }; };
  auto const row_major = [](tensor& t) {
    t.dl.strides = nullptr;
    for (int i = 0; i < t.dl.ndim; ++i) t.shape[i] = past - 1;
  };
  return {
      {"stride 2^63 - 1", at_0(huge), TK_BAD_STRIDE, {std::to_string(huge), "2^63"}},
      {"stride -2^63", at_0(tiny), TK_BAD_STRIDE, {std::to_string(tiny), "2^63"}},
      {"stride 2^62: 2^63 bytes", at_0(huge / 2 + 1), TK_BAD_STRIDE, {"4611686018427387904"}},
      {"below address 0",
       at_0(-(std::int64_t(1) << 60)),
       TK_BAD_STRIDE,
       {"-1152921504606846976", "2^64"},
       seen::by_launch_only},
      {"row-major past 2^63", row_major, TK_BAD_SHAPE, {"2147483647", "row-major"}},
  };
}

template <class Scene> void try_faults(std::vector<fault> const& list, int least_rank) {
  for (std::size_t i = 0; i < Scene().arguments().size(); ++i) {
    for (auto const& f : list) {
      Scene s;
      auto const argument = s.arguments()[i];
      if (argument.of->dl.ndim < least_rank) continue;
      static std::set<std::string> const optional{"lse", "residual", "weight", "r"};
      bool const may_be_absent = optional.contains(argument.name) ||
                                 (Scene::op == TK_OP_NORM && std::string(argument.name) == "bias");
      if (may_be_absent && std::string(f.what) == "no tensor") continue;
      CAPTURE(argument.name);
      CAPTURE(f.what);
      f.spoil(*argument.of);
      auto parts = f.parts;
      parts.push_back(std::string(": ") + argument.name);
      try_refusal(s, f.expected, f.by, parts);
    }
  }
}

template <class Scene> void try_all(std::vector<spoiled<Scene>> const& list) {
  for (auto const& x : list) {
    CAPTURE(x.what);
    Scene s;
    x.spoil(s);
    try_refusal(s, x.expected, x.by, x.parts);
  }
}

// ---- the workspace: of the scenes, and of large problems at addresses that nobody follows
template <class Scene> void enlarge(Scene& s, std::vector<std::vector<std::int64_t>> const& sizes) {
  std::int64_t place = 0;
  for (auto const& argument : s.arguments()) {
    auto& t = *argument.of;
    auto const& shape = sizes[static_cast<std::size_t>(place)];
    t.dl.strides = nullptr;
    t.move(++place << 40);
    std::copy(shape.begin(), shape.end(), t.shape.begin());
  }
}

// Does the problem ask for workspace?
template <class Scene> bool try_workspace(Scene& s) {
  auto const* problem = s.get();
  std::size_t needed = 0;
  REQUIRE(tk_workspace(Scene::op, problem, &needed) == TK_OK);
  if (needed == 0) return false;
  auto const before = s.arena.content();
  memory workspace(needed + 16);
  auto const name = std::string(Scene::call_name);
  auto const number = std::to_string(needed);
  expect_refused(Scene::call(problem, nullptr, 0), TK_NULL_POINTER, name, {"workspace", number});
  expect_refused(Scene::call(problem, nullptr, needed), TK_NULL_POINTER, name, {"workspace"});
  expect_refused(Scene::call(problem, workspace.at(), needed - 1), TK_SMALL_WORKSPACE, name,
                 {"workspace", number, std::to_string(needed - 1)});
  expect_refused(Scene::call(problem, workspace.at(8), needed), TK_BAD_ALIGNMENT, name,
                 {"workspace", "16"});
  for (auto const& argument : s.arguments()) {
    expect_refused(Scene::call(problem, argument.of->dl.data, needed), TK_BAD_OVERLAP, name,
                   {"workspace at", std::string(argument.name) + " at"});
  }
  CHECK(s.arena.content() == before);
  CHECK(workspace.content() == bytes(needed + 16, 0));
  return true;
}

bool try_workspaces() {
  gemm g, long_k;
  enlarge(long_k, {{1, 256, 1 << 20}, {1, 1 << 20, 256}, {1, 256, 256}, {1, 256, 256}, {256}});
  attention a, many_keys;
  enlarge(
      many_keys,
      {{2, 8192, 16, 64}, {2, 8192, 16, 64}, {2, 8192, 16, 64}, {2, 8192, 16, 64}, {2, 16, 8192}});
  int asking = 0;
  asking += try_workspace(g);
  asking += try_workspace(long_k);
  asking += try_workspace(a);
  asking += try_workspace(many_keys);
  return asking > 0;
}

}  // namespace

TEST_CASE("the scenes are correct problems and write their outputs") {
  gemm g;
  auto const before_gemm = g.arena.content();
  CHECK(call(g) == TK_OK);
  CHECK(g.arena.content() != before_gemm);
  attention a;
  auto const before_attention = a.arena.content();
  CHECK(call(a) == TK_OK);
  CHECK(a.arena.content() != before_attention);
  CHECK(tk_supports(gemm::op, g.get()) == TK_OK);
  CHECK(tk_supports(attention::op, a.get()) == TK_OK);
  norm n;
  auto const before_norm = n.arena.content();
  CHECK(call(n) == TK_OK);
  CHECK(n.arena.content() != before_norm);
  CHECK(tk_supports(norm::op, n.get()) == TK_OK);
}

TEST_CASE("refusals") {
  try_faults<gemm>(faults(), 1);
  try_faults<attention>(faults(), 1);
  try_faults<norm>(faults(), 1);
  try_faults<norm>(stride_faults(), 2);
  try_faults<gemm>(stride_faults(), 3);
  try_faults<attention>(stride_faults(), 3);
  try_all(gemm_shapes());
  try_all(gemm_types_and_values());
  try_all(gemm_overlaps());
  try_all(gemm_intricate());
  try_all(attention_problems());
  try_all(norm_problems());
  bool const some_ask_for_workspace = try_workspaces();

  gemm g;
  expect_refused(gemm::call(nullptr), TK_NULL_POINTER, "tk_gemm", {"problem is NULL"});
  expect_refused(attention::call(nullptr), TK_NULL_POINTER, "tk_attention_forward", {"problem"});
  expect_refused(tk_supports(gemm::op, nullptr), TK_NULL_POINTER, "tk_supports", {"problem"});
  expect_refused(tk_workspace(gemm::op, g.get(), nullptr), TK_NULL_POINTER, "tk_workspace",
                 {"bytes is NULL"});
  expect_refused(norm::call(nullptr), TK_NULL_POINTER, "tk_norm", {"problem is NULL"});
  for (int op : {3, -1}) {
    std::size_t needed = 0;
    auto const said = "op is " + std::to_string(op);
    expect_refused(tk_supports(as<tk_op>(op), g.get()), TK_BAD_VALUE, "tk_supports",
                   {said, "0 to 2"});
    expect_refused(tk_workspace(as<tk_op>(op), g.get(), &needed), TK_BAD_VALUE, "tk_workspace",
                   {said});
  }

  std::set<tk_status> expected{TK_NULL_POINTER, TK_BAD_STRUCT, TK_BAD_DEVICE, TK_BAD_TYPE,
                               TK_BAD_RANK,     TK_BAD_SHAPE,  TK_BAD_STRIDE, TK_BAD_ALIGNMENT,
                               TK_BAD_OVERLAP,  TK_BAD_VALUE,  TK_UNSUPPORTED};
  if (some_ask_for_workspace) expected.insert(TK_SMALL_WORKSPACE);
  CHECK(statuses_met() == expected);
}

TEST_CASE("every status has a name, every other number a harmless one") {
  std::set<std::string> names;
  for (int i = TK_OK; i <= TK_INTERNAL_ERROR; ++i) {
    std::string const name = tk_status_name(as<tk_status>(i));
    CHECK(name.rfind("TK_", 0) == 0);
    names.insert(name);
  }
  CHECK(names.size() == TK_INTERNAL_ERROR + 1);
  for (int i : {-1, TK_INTERNAL_ERROR + 1, 1 << 30}) {
    CHECK(std::string(tk_status_name(as<tk_status>(i))) == "not a tk_status");
  }
  CHECK(std::string(tk_status_name(TK_BAD_SHAPE)) == "TK_BAD_SHAPE");
}

TEST_CASE("version and device") {
  std::string const version = tk_version();
  CHECK(says(version, " "));
  CHECK(version.find_first_of("0123456789") == 0);
  CHECK(tk_device_type() == rt::dl_device_type);
}
