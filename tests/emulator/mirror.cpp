// SPDX-License-Identifier: MIT
// An emulated chip has every function of the real one's intrinsics and runtime, by name: a chip's
// folder below backends/emulator is held against its folder below backends.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

namespace {

// Names of what is declared with TK_DEVICE or inline and has parameters, of types and of constants.
std::set<std::string> names_in(std::filesystem::path const& file) {
  std::ifstream in(file);
  REQUIRE(in);
  std::string const source{std::istreambuf_iterator<char>(in), {}};
  std::set<std::string> names;
  std::regex const declared(
      R"((?:TK_DEVICE|inline|struct|class|using|void)\s[^;{}()#"]*?\b([a-z_0-9]+)\s*(?=[({;=]))");
  for (std::sregex_iterator i(source.begin(), source.end(), declared), end; i != end; ++i)
    names.insert((*i)[1]);
  return names;
}

}  // namespace

TEST_CASE("emulated chips lack no function") {
  std::filesystem::path const emulated = "backends/emulator";
  // What only the real runtimes need to speak to their vendor's.
  std::set<std::string> const vendors = {"check",    "attribute",  "properties",
                                         "constant", "capability", "words",
                                         "open",     "await",      "with_config"};
  int chips = 0;
  for (auto const& chip : std::filesystem::directory_iterator(emulated)) {
    if (!chip.is_directory()) continue;
    ++chips;
    auto const common = names_in(emulated / "runtime.hpp");
    std::size_t found = 0;
    for (char const* file : {"intrinsics.hpp", "runtime.hpp", "warp.hpp", "device.hpp"}) {
      auto const source = "backends" / chip.path().filename() / file;
      if (!std::filesystem::exists(source)) continue;  // shared with another chip
      auto const real = names_in(source);
      bool const mirrored = std::filesystem::exists(chip.path() / file);
      auto const ours = names_in(chip.path() / (mirrored ? file : "runtime.hpp"));
      found += real.size();
      for (auto const& name : real) {
        CAPTURE(chip.path().string());
        CAPTURE(file);
        CAPTURE(name);
        CHECK((ours.count(name) || common.count(name) || vendors.count(name)));
      }
    }
    CHECK(found > 20);
  }
  CHECK(chips >= 3);
}
