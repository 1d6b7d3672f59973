// SPDX-License-Identifier: MIT
// What is no op's: statuses' names, version and device, ops that are none.
#include <set>

#include "ops/tk_op_list.hpp"
#include "tests/support/refusals.hpp"

using namespace scene;

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

TEST_CASE("a number that is no op is refused by name") {
  for (int const op : {-1, 1 << 20}) {
    std::size_t needed = 12345;
    std::vector<std::string> parts{"op is " + std::to_string(op)};
#define TK_SAID(NUMBER, NAME, ENUMERATOR) parts.push_back(#ENUMERATOR);
    TK_FOR_EACH_OP(TK_SAID)
#undef TK_SAID
    expect_refused(tk_supports(as<tk_op>(op), nullptr), TK_BAD_VALUE, "tk_supports", parts);
    expect_refused(tk_workspace(as<tk_op>(op), nullptr, &needed), TK_BAD_VALUE, "tk_workspace",
                   parts);
    CHECK(needed == 12345);
  }
}

TEST_CASE("every op of the list answers for itself") {
#define TK_NULL_PROBLEM(NUMBER, NAME, ENUMERATOR)                                                \
  static_assert(ENUMERATOR == NUMBER);                                                           \
  expect_refused(tk_supports(ENUMERATOR, nullptr), TK_NULL_POINTER, "tk_supports", {"problem"}); \
  expect_refused(tk_workspace(ENUMERATOR, nullptr, nullptr), TK_NULL_POINTER, "tk_workspace",    \
                 {"bytes is NULL"});
  TK_FOR_EACH_OP(TK_NULL_PROBLEM)
#undef TK_NULL_PROBLEM
}
