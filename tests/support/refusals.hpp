// SPDX-License-Identifier: MIT
// Every refusal: its status, a sentence that names argument and value, and memory as it was before.
// An op's program tries what can be wrong with any tensor on each of its own, and its own table of
// faults; the statuses that it met are counted at the end.
#pragma once
#include <functional>
#include <limits>
#include <set>

#include "tests/support/scene.hpp"

namespace scene {

// tk_supports and tk_workspace do not look at data pointers.
enum class seen { by_all, by_launch_only };

// What is done to a scene, and the refusal it must meet.
template <class Scene> struct spoiled {
  char const* what;
  std::function<void(Scene&)> spoil;
  tk_status expected;
  std::vector<std::string> parts;
  seen by = seen::by_all;
};

inline constexpr auto launch_only = seen::by_launch_only;

inline constexpr auto huge = std::numeric_limits<std::int64_t>::max();
inline constexpr auto tiny = std::numeric_limits<std::int64_t>::min();
inline constexpr auto past = (std::int64_t(1) << 31) - 1024;  // one more than the largest size

inline std::set<tk_status>& statuses_met() {
  static std::set<tk_status> met;
  return met;
}

inline void expect_refused(tk_status status, tk_status expected, std::string const& call,
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

inline int other_device_type() { return tk_device_type() == kDLCPU ? kDLCUDA : kDLCPU; }

inline std::vector<fault> faults() {
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
      {"fp8 e4m3",
       [](tensor& t) { t.dl.dtype = {TK_DL_FLOAT8_E4M3FN, 8, 1}; },
       TK_BAD_TYPE,
       {"is fp8 e4m3"}},
      {"fp8 e5m2",
       [](tensor& t) { t.dl.dtype = {TK_DL_FLOAT8_E5M2, 8, 1}; },
       TK_BAD_TYPE,
       {"is fp8 e5m2"}},
      {"bool", [](tensor& t) { t.dl.dtype = {TK_DL_BOOL, 8, 1}; }, TK_BAD_TYPE, {"is bool"}},
      {"bf32", [](tensor& t) { t.dl.dtype = {kDLBfloat, 32, 1}; }, TK_BAD_TYPE, {"code 4", "32"}},
      {"two lanes", [](tensor& t) { t.dl.dtype.lanes = 2; }, TK_BAD_TYPE, {"lanes 2"}},
      {"rank 0", [](tensor& t) { t.dl.ndim = 0; }, TK_BAD_RANK, {"0 dimensions"}},
      {"rank -1", [](tensor& t) { t.dl.ndim = -1; }, TK_BAD_RANK, {"-1 dimensions"}},
      {"rank 5", [](tensor& t) { t.dl.ndim = 5; }, TK_BAD_RANK, {"5 dimensions"}},
      {"negative size", [](tensor& t) { t.shape[0] = -3; }, TK_BAD_SHAPE, {"-3", "2147482623"}},
      {"too large",
       [](tensor& t) { t.shape[0] = past; },
       TK_BAD_SHAPE,
       {"2147482624", "2147482623"}},
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
inline std::vector<fault> stride_faults() {
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
      {"row-major past 2^63", row_major, TK_BAD_SHAPE, {"2147482623", "row-major"}},
  };
}

template <class Scene> void try_faults(std::vector<fault> const& list, int least_rank) {
  for (std::size_t i = 0; i < Scene().arguments().size(); ++i) {
    for (auto const& f : list) {
      Scene s;
      auto const argument = s.arguments()[i];
      if (argument.of->dl.ndim < least_rank) continue;
      if (argument.optional && std::string(f.what) == "no tensor") continue;
      if (argument.any_stride && says(f.what, "last stride")) continue;
      if (argument.takes_fp8 && says(f.what, "fp8")) continue;
      if (argument.is_boolean && says(f.what, "bool")) continue;
      if (argument.is_fp8 && says(f.what, "fp8")) continue;
      // No odd address, and 2^62 elements are less than 2^63 bytes.
      if (argument.is_fp8 || argument.is_boolean)
        if (says(f.what, "odd") || says(f.what, "2^62")) continue;
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

// ---- the struct: of any size from its first version's up, with zeros behind what is known
template <class Scene> void try_struct() {
  using problem_type = typename Scene::problem_type;
  constexpr std::size_t known = sizeof(problem_type), first = Scene::first_size, largest = 1024;
  Scene s;
  // As long as it says and no longer, so that AddressSanitizer sees a read past its end.
  auto const with_size = [&](std::size_t size, std::size_t says) {
    std::vector<std::size_t> words((size + sizeof(std::size_t) - 1) / sizeof(std::size_t));
    auto* const at = reinterpret_cast<unsigned char*>(words.data());
    std::memcpy(at, s.get(), std::min(size, known));
    std::memcpy(at, &says, sizeof says);
    return words;
  };
  for (std::size_t size = first; size <= known; size += sizeof size) {
    CAPTURE(size);
    auto const x = with_size(size, size);
    EXPECT_OK(tk_supports(Scene::op, x.data()));
  }
  for (std::size_t const size : {known + 8, largest}) {
    CAPTURE(size);
    auto x = with_size(size, size);
    EXPECT_OK(tk_supports(Scene::op, x.data()));
    reinterpret_cast<unsigned char*>(x.data())[size - 1] = 9;
    expect_refused(tk_supports(Scene::op, x.data()), TK_BAD_STRUCT, "tk_supports",
                   {"size is " + std::to_string(size), std::to_string(known),
                    "byte at " + std::to_string(size - 1) + " is 9"});
  }
  for (std::size_t const size :
       {std::size_t{0}, first - 8, first - 1, first + 4, largest + 8, ~std::size_t{7}}) {
    auto const x = with_size(known, size);
    expect_refused(tk_supports(Scene::op, x.data()), TK_BAD_STRUCT, "tk_supports",
                   {"size is " + std::to_string(size), std::to_string(first)});
  }
  s.problem.reserved = 1;
  try_refusal(s, TK_BAD_STRUCT, seen::by_all, {"reserved is 1"});
  s.problem.reserved = 0;
  s.problem.repeat = as<tk_repeat>(2);
  try_refusal(s, TK_BAD_VALUE, seen::by_all, {"repeat is 2", "TK_REPEAT_RUN or TK_REPEAT_ROW"});
}

template <class Scene> void try_calls() {
  Scene s;
  expect_refused(Scene::call(nullptr), TK_NULL_POINTER, Scene::call_name, {"problem is NULL"});
  expect_refused(tk_workspace(Scene::op, s.get(), nullptr), TK_NULL_POINTER, "tk_workspace",
                 {"bytes is NULL"});
}

// ---- overlaps: Scene::outputs names what is written
// From a tensor's first byte to its last; no stride is negative.
inline std::int64_t extent_of(tensor const& t) {
  std::int64_t dense = 1, strided = 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.dl.ndim); ++i) {
    dense *= t.shape[i];
    strided += (t.shape[i] - 1) * t.strides[i];
  }
  return (t.dl.strides ? strided : dense) * t.dl.dtype.bits / 8;
}
template <class Scene> bool is_in_place(std::string const& output, std::string const& input) {
  if constexpr (requires { Scene::in_place; })
    for (in_place_pair const& pair : Scene::in_place)
      if (pair.output == output && pair.input == input) return true;
  return false;
}
template <class Scene> std::vector<std::string> names_of() {
  std::vector<std::string> names;
  for (auto const& argument : Scene().arguments()) names.push_back(argument.name);
  return names;
}
template <class Scene> tensor* find(Scene& x, std::string const& name) {
  for (auto const& argument : x.arguments())
    if (argument.name == name && argument.of->given) return argument.of;
  return nullptr;
}

// Each output and each other tensor that are given: the smaller at the beginning of the larger and
// at its end. Two that may be one are apart by an element, or as many as are aligned together.
template <class Scene> void try_overlaps() {
  int tried = 0;
  for (std::string const output : Scene::outputs)
    for (auto const& other : names_of<Scene>())
      for (bool const moved : {false, true}) {
        Scene x;
        auto *small = find(x, output), *large = find(x, other);
        if (small == large || !small || !large) continue;
        bool const may_be_one = is_in_place<Scene>(output, other);
        if (!moved && may_be_one) continue;
        CAPTURE(output);
        CAPTURE(other);
        CAPTURE(moved);
        if (extent_of(*small) > extent_of(*large)) std::swap(small, large);
        std::int64_t const element = small->dl.dtype.bits / 8;
        auto const room = (extent_of(*large) - extent_of(*small)) / element * element;
        if (moved && room == 0 && !may_be_one) continue;
        small->dl.data = large->dl.data;
        if (moved) small->move(room > 0 ? room : std::max<std::int64_t>(element, 4));
        try_refusal(x, TK_BAD_OVERLAP, seen::by_launch_only,
                    {" " + output + " at", " " + other + " at"});
        ++tried;
      }
  CHECK(tried > 0);
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

// ---- a program's work
// The scene is a correct problem and writes its output.
template <class Scene> void check_scene() {
  Scene x;
  auto const before = x.arena.content();
  EXPECT_OK(call(x));
  CHECK(x.arena.content() != before);
  EXPECT_OK(tk_supports(Scene::op, x.get()));
}

// What every op refuses, and what own() tries. Tensors of `rank` dimensions and more have strides
// to spoil; a problem whose tensors have `sizes` may want a workspace. Every status must have been
// met that all ops give, and `others`.
template <class Scene, class Own>
void check_refusals(int rank, std::vector<std::vector<std::int64_t>> const& sizes,
                    std::set<tk_status> const& others, Own const& own) {
  try_faults<Scene>(faults(), 1);
  try_faults<Scene>(stride_faults(), rank);
  own();
  try_overlaps<Scene>();
  try_struct<Scene>();
  try_calls<Scene>();
  Scene large;
  enlarge(large, sizes);
  bool const asks_for_workspace = try_workspace(large);
  std::set<tk_status> expected{TK_NULL_POINTER, TK_BAD_STRUCT, TK_BAD_DEVICE, TK_BAD_TYPE,
                               TK_BAD_RANK,     TK_BAD_SHAPE,  TK_BAD_STRIDE, TK_BAD_ALIGNMENT,
                               TK_BAD_OVERLAP,  TK_BAD_VALUE};
  if (asks_for_workspace) expected.insert(TK_SMALL_WORKSPACE);
  expected.insert(others.begin(), others.end());
  CHECK(statuses_met() == expected);
}

}  // namespace scene
