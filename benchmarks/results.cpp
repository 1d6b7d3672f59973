// SPDX-License-Identifier: MIT
// The form of a result file, checked member by member (results.hpp).
#include "benchmarks/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace tk::bench {
namespace {

using nlohmann::json;

// A place in a file, for sentences.
struct place {
  std::string file, where;  // "rows[3]", "machine", or nothing

  [[noreturn]] void fail(std::string const& what) const {
    throw std::runtime_error(fmt::format("{}: {}", file, what));
  }
  std::string name(char const* key) const {
    return where.empty() ? fmt::format("'{}'", key) : fmt::format("'{}' of {}", key, where);
  }
  json const& member(json const& from, char const* key) const {
    auto const found = from.find(key);
    if (found == from.end()) fail(name(key) + " is missing");
    return *found;
  }
  std::string text(json const& from, char const* key) const {
    json const& x = member(from, key);
    if (!x.is_string()) fail(fmt::format("{} is a {}, not a string", name(key), x.type_name()));
    return x.get<std::string>();
  }
  double number(json const& from, char const* key, bool zero_too) const {
    json const& x = member(from, key);
    if (!x.is_number()) fail(fmt::format("{} is a {}, not a number", name(key), x.type_name()));
    double const value = x.get<double>();
    if (!std::isfinite(value) || value < 0 || (value == 0 && !zero_too))
      fail(fmt::format("{} is {}, not {}", name(key), value,
                       zero_too ? "zero or more" : "more than zero"));
    return value;
  }
  double number_or_zero(json const& from, char const* key) const {
    return from.contains(key) ? number(from, key, true) : 0;
  }
  json const& object(json const& from, char const* key) const {
    json const& x = member(from, key);
    if (!x.is_object()) fail(fmt::format("{} is a {}, not an object", name(key), x.type_name()));
    return x;
  }
};

result_row read_row(place const& at, json const& x) {
  if (!x.is_object()) at.fail(fmt::format("{} is a {}, not an object", at.where, x.type_name()));
  result_row row{at.text(x, "suite"),        at.text(x, "case"),        at.text(x, "impl"),
                 at.text(x, "dtype"),        at.number(x, "ms", false), at.number(x, "flops", true),
                 at.number(x, "bytes", true)};
  row.ms_iqr = at.number_or_zero(x, "ms_iqr");
  if (x.contains("repeat")) row.repeat = at.text(x, "repeat");
  if (row.repeat != "run" && row.repeat != "row")
    at.fail(fmt::format("{} is '{}', not run or row", at.name("repeat"), row.repeat));
  return row;
}

json parse(std::string const& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  try {
    return json::parse(file);
  } catch (json::parse_error const& fault) {
    throw std::runtime_error(fmt::format("{}: no JSON, at byte {}", path, fault.byte));
  }
}

}  // namespace

double result_ceilings::share(result_row const& x) const {
  bool const copy = copy_bytes_per_s > 0, product = product_flops_per_s > 0;
  if ((x.bytes > 0 && !copy) || (x.flops > 0 && !product) || x.bytes == 0) return 0;
  double const moving = copy ? x.bytes / copy_bytes_per_s : 0;
  double const multiplying = product ? x.flops / product_flops_per_s : 0;
  return std::max(moving, multiplying) / (x.ms * 1e-3);
}

result_row const* result::find(std::string const& suite, std::string const& name,
                               std::string const& implementation) const {
  for (result_row const& x : rows)
    if (x.suite == suite && x.name == name && x.implementation == implementation) return &x;
  return nullptr;
}

result read_result(std::string const& path) {
  json const all = parse(path);
  place const top{path, ""};
  if (!all.is_object()) top.fail(fmt::format("it holds a {}, not an object", all.type_name()));
  result x;
  x.path = path;
  x.device = place{path, "machine"}.text(top.object(all, "machine"), "device");
  x.arch = top.text(all, "arch");
  x.commit = top.text(all, "commit");
  x.date = top.text(all, "date");
  json const& limits = top.object(all, "ceilings");
  place const at_limits{path, "ceilings"};
  x.ceilings = {at_limits.number(limits, "copy_bytes_per_s", true),
                at_limits.number_or_zero(limits, "product_flops_per_s"),
                at_limits.number_or_zero(limits, "exp2_per_s")};
  json const& rows = top.member(all, "rows");
  if (!rows.is_array()) top.fail(fmt::format("'rows' is a {}, not an array", rows.type_name()));
  if (rows.empty()) top.fail("it has no rows");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    result_row row = read_row({path, fmt::format("rows[{}]", i)}, rows[i]);
    if (x.find(row.suite, row.name, row.implementation))
      top.fail(fmt::format("rows[{}] is '{}' in {} {} once more", i, row.implementation, row.suite,
                           row.name));
    x.rows.push_back(std::move(row));
  }
  return x;
}

}  // namespace tk::bench
