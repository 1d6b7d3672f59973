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
#include "benchmarks/peers.hpp"

namespace tk::bench {
namespace {

// TFLOP/s, or TB/s where operations are not what counts.
double tera_per_s(row const& x) { return (x.flops > 0 ? x.flops : x.bytes) / x.time.ms / 1e9; }

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
  if (auto const version = cublaslt_version(); !version.empty()) json["cublaslt"] = version;
  if (auto const version = cudnn_version(); !version.empty()) json["cudnn"] = version;
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

void report::print_head(int repeats) const {
  fmt::print("{}, {}; TFLOP/s (copies, norm: TB/s), medians of {}; xR: tk / peer\n",
             be::rt::device().name, tk_version(), repeats);
  std::fflush(stdout);
}

void report::print_case(bench_case const& x, std::vector<row> const& found) const {
  std::string text = fmt::format("{:9s} {:33s}", x.suite, x.name);
  if (found.empty() || found.front().implementation != "tk") text += " tk       -";
  for (row const& r : found) {
    text += fmt::format(" {} {:7.4g}", r.implementation, tera_per_s(r));
    row const* const own = own_row(found, r);
    if (own && own != &r) text += fmt::format(" x{:5.3f} ", r.time.ms / own->time.ms);
  }
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

void report::print_tail() const {
  std::map<std::pair<std::string, std::string>, std::vector<double>> ratios;
  for (row const& x : rows)
    if (row const* const own = own_row(rows, x); own && own != &x)
      ratios[{x.suite, x.implementation}].push_back(x.time.ms / own->time.ms);
  for (auto const& [key, values] : ratios) {
    double logs = 0;
    for (double x : values) logs += std::log(x);
    auto const [least, most] = std::minmax_element(values.begin(), values.end());
    fmt::print("{}: tk is {:.3f} x {} in the geometric mean of {} cases, {:.3f} to {:.3f}\n",
               key.first, std::exp(logs / static_cast<double>(values.size())), key.second,
               values.size(), *least, *most);
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
                            {"dtype", name_of(x.type)},
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
