// SPDX-License-Identifier: MIT
// Table and JSON of a run (report.hpp).
#include "benchmarks/report.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "backends/runtime.hpp"
#include "benchmarks/numbers.hpp"

namespace tk::bench {
namespace {

// Of bytes where operations are not what counts.
double rate_of(row const& x) { return (x.flops > 0 ? x.flops : x.bytes) / (x.time.ms * 1e-3); }
std::string text_of_rate(row const& x) {
  return rate_text(rate_of(x), x.flops > 0 ? "FLOP/s" : "B/s");
}

bool is_noisy(row const& x) { return bench::is_noisy(x.time.ms, x.time.ms_iqr); }

char const* name_of(tk_repeat x) { return x == TK_REPEAT_ROW ? "row" : "run"; }

row const* own_row(std::vector<row> const& rows, row const& like) {
  for (row const& x : rows)
    if (x.implementation == "tk" && x.suite == like.suite && x.name == like.name) return &x;
  return nullptr;
}

nlohmann::ordered_json machine() {
  auto const device = be::rt::device();
  nlohmann::ordered_json json{{"device", device.name},
                              {"multiprocessors", device.multiprocessors},
                              {"memory_bytes", device.memory_bytes},
                              {"l2_bytes", device.l2_bytes},
                              {"cores", std::thread::hardware_concurrency()},
                              {"library", tk_version()}};
  for (auto const& [name, version] : peer_versions()) json[name] = version;
  return json;
}

std::string arch() {  // the second word of tk_version()
  std::istringstream words(tk_version());
  std::string version, name;
  words >> version >> name;
  return name;
}

}  // namespace

void ceilings::add(bench_case const& x, row const& found) {
  double const seconds = found.time.ms * 1e-3;
  if (x.get("rate", "") == "products") product_flops_per_s = found.flops / seconds;
  else if (x.get("rate", "") == "exp2") exp2_per_s = found.flops / seconds;
  else copies.push_back({found.bytes / 2, found.bytes / seconds});
  if (!copies.empty()) copy_bytes_per_s = copies.front().bytes_per_s;
}

void report::print_head(int repeats, tk_repeat repeat) const {
  fmt::print("{}, {}; repeat {}\n", be::rt::device().name, tk_version(), name_of(repeat));
  fmt::print(
      "rates of medians of {}, and the spread of the calls: how far their quartiles are apart\n"
      "xR: tk / peer; {} behind it: one of the two spreads is over {:.0f}%\n",
      repeats, noise_mark, 100 * noisy_share);
  std::fflush(stdout);
}

void report::print_case(bench_case const& x, std::vector<row> const& found) const {
  std::string text = fmt::format("{:16s} {:33s}", x.suite, x.name);
  if (found.empty() || found.front().implementation != "tk") text += " tk -";
  for (row const& r : found) {
    text += fmt::format("  {} {:>12s} {:>3s}", r.implementation, text_of_rate(r),
                        spread_text(r.time.ms, r.time.ms_iqr));
    row const* const own = own_row(found, r);
    if (own && own != &r)
      text += fmt::format(" x{:.3f}{}", rate_of(*own) / rate_of(r),
                          is_noisy(r) || is_noisy(*own) ? noise_mark : "");
  }
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

void report::print_tail() const {
  std::map<std::pair<std::string, std::string>, std::vector<double>> ratios;
  std::map<std::pair<std::string, std::string>, int> noisy;
  for (row const& x : rows) {
    row const* const own = own_row(rows, x);
    if (!own || own == &x) continue;
    ratios[{x.suite, x.implementation}].push_back(rate_of(*own) / rate_of(x));
    noisy[{x.suite, x.implementation}] += is_noisy(x) || is_noisy(*own);
  }
  for (auto const& [key, values] : ratios) {
    double logs = 0;
    for (double x : values) logs += std::log(x);
    auto const [least, most] = std::minmax_element(values.begin(), values.end());
    fmt::print("{}: tk is {:.3f} x {} in the geometric mean of {} cases, {:.3f} to {:.3f}{}\n",
               key.first, std::exp(logs / static_cast<double>(values.size())), key.second,
               values.size(), *least, *most,
               noisy[key] == 0 ? "" : fmt::format("; {} of them noisy", noisy[key]));
  }
  for (auto const& x : remarks) fmt::print("{}\n", x);
  for (auto const& x : failures) fmt::print("FAILED {}\n", x);
}

void report::write_json(std::string const& path) const {
  nlohmann::ordered_json json{{"machine", machine()},
                              {"arch", arch()},
                              {"commit", commit},
                              {"date", fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)))},
                              {"ceilings",
                               {{"copy_bytes_per_s", limits.copy_bytes_per_s},
                                {"product_flops_per_s", limits.product_flops_per_s},
                                {"exp2_per_s", limits.exp2_per_s},
                                {"copies", nlohmann::ordered_json::array()}}},
                              {"rows", nlohmann::ordered_json::array()}};
  for (auto const& x : limits.copies)
    json["ceilings"]["copies"].push_back({{"bytes", x.bytes}, {"bytes_per_s", x.bytes_per_s}});
  for (row const& x : rows)
    json["rows"].push_back({{"suite", x.suite},
                            {"case", x.name},
                            {"impl", x.implementation},
                            {"dtype", bench::name_of(x.type)},
                            {"repeat", name_of(x.repeat)},
                            {"ms", x.time.ms},
                            {"ms_min", x.time.ms_min},
                            {"ms_iqr", x.time.ms_iqr},
                            {"flops", x.flops},
                            {"bytes", x.bytes},
                            {"error", x.error},
                            {"share", x.share}});
  std::ofstream file(path);
  file << json.dump(1) << "\n";
  if (!file) throw std::runtime_error("cannot write " + path);
}

}  // namespace tk::bench
