// SPDX-License-Identifier: MIT
// What the suites share (benchmark.hpp).
#include "benchmarks/benchmark.hpp"

#include <algorithm>
#include <stdexcept>

#include "backends/runtime.hpp"
#include "core/status.hpp"

namespace tk::bench {
namespace {

// Made at first use: entries of other sources may come before this one's own constants.
std::map<std::string, suite>& registered_suites() {
  static std::map<std::string, suite> all;
  return all;
}
std::map<std::string, std::string (*)()>& registered_peers() {
  static std::map<std::string, std::string (*)()> all;
  return all;
}

}  // namespace

suite_entry::suite_entry(std::string const& name, std::set<std::string> words,
                         std::unique_ptr<benchmark> (*make)(bench_case const&)) {
  if (!registered_suites().emplace(name, suite{std::move(words), make}).second)
    throw std::logic_error("two suites are called " + name);
}

peer_entry::peer_entry(std::string const& name, std::string (*version)()) {
  registered_peers().emplace(name, version);
}

std::map<std::string, suite> const& suites() { return registered_suites(); }

std::string names_of_suites() {
  std::string text;
  std::size_t left = suites().size();
  for (auto const& [name, x] : suites()) {
    --left;
    text += name + (left > 1 ? ", " : left == 1 ? " and " : "");
  }
  return text;
}

suite const& find_suite(std::string const& x) {
  auto const found = suites().find(x);
  if (found == suites().end())
    throw std::runtime_error("no suite is called '" + x + "'; there are " + names_of_suites());
  return found->second;
}

std::unique_ptr<benchmark> make_benchmark(bench_case const& x) {
  return find_suite(x.suite).make(x);
}

std::map<std::string, std::string> peer_versions() {
  std::map<std::string, std::string> versions;
  for (auto const& [name, ask] : registered_peers())
    if (auto version = ask(); !version.empty()) versions.emplace(name, std::move(version));
  return versions;
}

void check(tk_status code) {
  if (code != TK_OK)
    throw error(static_cast<status>(code),
                std::string(tk_status_name(code)) + ": " + tk_last_error());
}

tensor make_workspace(tk_op op, void const* problem) {
  std::size_t bytes = 0;
  check(tk_workspace(op, problem, &bytes));
  tensor space(dtype::fp32, {std::max<std::int64_t>(4, static_cast<std::int64_t>(bytes + 3) / 4)});
  be::rt::fill(space.data(), 0, static_cast<std::size_t>(space.bytes()));
  return space;
}

}  // namespace tk::bench
