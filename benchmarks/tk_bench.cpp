// SPDX-License-Identifier: MIT
// tk_bench list | run: the cases of every suite (cases.hpp) through libtk_ops, each result checked
// against an fp64 oracle and then timed beside the vendor's libraries that are found at run time.
// tk_bench compare: what several runs wrote, side by side (compare.hpp). Exit status: 0; 1 if a
// result was wrong, missing or not repeatable, or a file is none; other numbers for bad options.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "backends/runtime.hpp"
#include "benchmarks/compare.hpp"
#include "benchmarks/report.hpp"
#include "ops/tk_ops.h"
#include "tk_bench_config.hpp"  // made by CMake: built_in_cases

namespace tk::bench {
namespace {

constexpr int least_repeats = 3;

std::string commit_of_library() {  // the last word of tk_version()
  std::string const version = tk_version();
  return version.substr(version.rfind(' ') + 1);
}

struct options {
  std::string suite, filter, json, cases_file, html, repeat, commit = commit_of_library();
  std::vector<std::string> files;
  bool quick = false;
  std::optional<int> repeats;
  int calls() const { return repeats.value_or(quick ? 5 : 20); }
};

// The repeat that a name stands for: what of a result is equal bit for bit.
tk_repeat parse_repeat(std::string const& name) {
  if (name.empty() || name == "run") return TK_REPEAT_RUN;
  if (name == "row") return TK_REPEAT_ROW;
  throw std::runtime_error("--repeat is '" + name + "'; it is run or row");
}

std::regex parse_filter(std::string const& text) {
  try {
    return std::regex(text);
  } catch (std::regex_error const&) {
    throw std::runtime_error("--filter '" + text + "' is no regular expression");
  }
}

std::string text_of_cases(options const& given) {
  if (given.cases_file.empty()) return built_in_cases;
  std::ifstream file(given.cases_file);
  if (!file) throw std::runtime_error("cannot read " + given.cases_file);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Throws std::runtime_error where no case is chosen.
std::vector<bench_case> chosen_cases(options const& given, bool all_sizes) {
  if (!given.suite.empty()) find_suite(given.suite);
  std::regex const pattern = parse_filter(given.filter);
  std::vector<bench_case> chosen;
  std::size_t others = 0;  // match, but are of the other sizes
  for (bench_case& x : read_cases(text_of_cases(given))) {
    if ((!given.suite.empty() && x.suite != given.suite) ||
        !std::regex_search(x.suite + " " + x.name, pattern))
      continue;
    if (all_sizes || x.quick == given.quick) chosen.push_back(std::move(x));
    else ++others;
  }
  if (chosen.empty())
    throw std::runtime_error(fmt::format(
        "no case {}matches '{}' in the suite{} {}{}; `tk_bench list` names the cases",
        given.quick ? "for --quick " : "", given.filter, given.suite.empty() ? "s" : "",
        given.suite.empty() ? names_of_suites() : given.suite,
        others == 0
            ? ""
            : fmt::format(", but {} do {} --quick", others, given.quick ? "without" : "with")));
  return chosen;
}

// Part of every run, whatever is chosen: the built-in ones, first.
std::vector<bench_case> with_ceilings(options const& given, std::vector<bench_case> cases) {
  std::erase_if(cases, [](bench_case const& x) { return x.suite == "ceilings"; });
  options limits;
  limits.suite = "ceilings";
  limits.quick = given.quick;
  auto all = chosen_cases(limits, false);
  all.insert(all.end(), std::make_move_iterator(cases.begin()),
             std::make_move_iterator(cases.end()));
  return all;
}

void fill_nan(benchmark& x) {
  for (tensor* t : x.outputs()) t->fill_nan();
}

// Runs it on outputs full of NaN and compares; throws if the result is wrong.
double checked_error(benchmark& x, implementation const& which, double tolerance) {
  fill_nan(x);
  which.call();
  be::rt::synchronize();
  verdict const v = which.compare ? which.compare() : x.compare();
  if (!(v.error <= tolerance * v.limit))
    throw std::runtime_error(fmt::format("wrong: error {:.3e}, limit {:.3e}", v.error, v.limit));
  return v.error;
}

// Throws unless a second call gives the bits that the outputs hold.
void check_repeatable(benchmark& x, implementation const& which) {
  std::vector<std::vector<std::byte>> first;
  for (tensor* t : x.outputs()) first.push_back(t->copy_out());
  fill_nan(x);
  which.call();
  be::rt::synchronize();
  for (std::size_t i = 0; i < first.size(); ++i)
    if (x.outputs()[i]->copy_out() != first[i])
      throw std::runtime_error("not repeatable: two calls gave different bits");
}

// A peer that ran once and fails now takes all peers along: who it was, and what it left, is
// unknown.
std::vector<timing> time_all(std::vector<implementation>& ready, options const& given,
                             stopwatch const& watch, std::string const& title, report& found) {
  constexpr double seconds = 10;
  try {
    return watch.time(ready, given.calls(), seconds);
  } catch (std::runtime_error const& fault) {
    std::erase_if(ready, [](implementation const& x) { return x.name != "tk"; });
    found.remarks.push_back(fmt::format("no peers in {}: {}", title, fault.what()));
    return watch.time(ready, given.calls(), seconds);
  }
}

std::vector<row> run_case(bench_case const& c, options const& given, stopwatch const& watch,
                          report& found) {
  std::string const title = c.suite + " " + c.name;
  std::unique_ptr<benchmark> x;
  try {
    x = make_benchmark(c);
  } catch (std::exception const& fault) {
    found.failures.push_back(title + ": " + fault.what());
    return {};
  }
  std::vector<implementation> ready;
  std::vector<double> errors;
  try {
    implementation own = x->tk();
    errors.push_back(checked_error(*x, own, 1));
    check_repeatable(*x, own);
    ready.push_back(std::move(own));
  } catch (std::runtime_error const& fault) {
    errors.clear();
    found.failures.push_back(title + ": " + fault.what());
  }
  peer_list peers = x->peers();
  for (implementation& peer : peers.present) {
    try {  // a peer may round more often; ten limits off it computes something else
      double const error = checked_error(*x, peer, 10);
      if (peer.repeats) check_repeatable(*x, peer);
      errors.push_back(error);
      ready.push_back(std::move(peer));
    } catch (std::runtime_error const& fault) { peers.absent.push_back({peer.name, fault.what()}); }
  }
  for (absence const& peer : peers.absent)
    found.remarks.push_back(fmt::format("no {} in {}: {}", peer.name, title, peer.reason));
  std::vector<row> rows;
  auto const times = time_all(ready, given, watch, title, found);
  for (std::size_t i = 0; i < ready.size(); ++i) {
    double const flops = ready[i].flops > 0 ? ready[i].flops : x->flops();
    rows.push_back({c.suite, c.name, ready[i].name, x->type(), x->repeat(), times[i], flops,
                    x->bytes(), errors[i], 0});
    if (c.suite == "ceilings") found.limits.add(c, rows.back());
    if (double const rate = found.limits.copy_bytes_per_s; rate > 0)
      rows.back().share = x->bytes() / (times[i].ms * 1e-3) / rate;
  }
  return rows;
}

void show_progress(std::string const& text) {
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r\033[K{}", text);
}

// Throws std::runtime_error if the file cannot be written; leaves what is there.
void check_writable(std::string const& path) {
  bool const there = std::filesystem::exists(path);
  bool const opened = static_cast<bool>(std::ofstream(path, std::ios::app));
  if (!opened) throw std::runtime_error("--json: cannot write " + path);
  if (!there) std::filesystem::remove(path);
}

int run(options const& given) {
  tk_repeat const repeat = parse_repeat(given.repeat);
  if (given.calls() < least_repeats)
    throw std::runtime_error(fmt::format(
        "--repeats is {}; a median and its spread take at least {}", given.calls(), least_repeats));
  auto cases = with_ceilings(given, chosen_cases(given, false));
  for (bench_case& x : cases) x.repeat = repeat;
  if (!given.json.empty()) check_writable(given.json);
  stopwatch const watch;
  report found;
  found.commit = given.commit;
  found.print_head(given.calls(), repeat);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    show_progress(fmt::format("{}/{} {}", i + 1, cases.size(), cases[i].name));
    auto const rows = run_case(cases[i], given, watch, found);
    show_progress("");
    found.print_case(cases[i], rows);
    found.rows.insert(found.rows.end(), rows.begin(), rows.end());
    if (!given.json.empty()) found.write_json(given.json);
  }
  found.print_tail();
  return found.failures.empty() ? 0 : 1;
}

int list(options const& given) {
  for (bench_case const& x : chosen_cases(given, true)) {
    std::string text = fmt::format("{:16s} {:33s}", x.suite, x.name);
    for (auto const& [key, value] : x.words) text += fmt::format(" {}={}", key, value);
    fmt::print("{}{}\n", text, x.quick ? " quick" : "");
  }
  return 0;
}

void add_choice(CLI::App& command, options& given) {
  command.add_option("--suite", given.suite, names_of_suites());
  command.add_option("--filter", given.filter, "regular expression, searched in 'suite case'");
  command.add_option("--cases", given.cases_file, "a file to read in place of the built-in cases");
}

}  // namespace
}  // namespace tk::bench

int main(int argc, char** argv) {
  tk::bench::options given;
  CLI::App app{"tk_bench: checks TK's kernels and times them beside their peers"};
  app.require_subcommand(1);
  auto* const list = app.add_subcommand("list", "the suites and their cases");
  auto* const run = app.add_subcommand("run", "check and time");
  tk::bench::add_choice(*list, given);
  tk::bench::add_choice(*run, given);
  run->add_flag("--quick", given.quick, "the small cases, for CPUs");
  run->add_option("--json", given.json, "a file to write, anew after each case");
  run->add_option("--repeats", given.repeats, "timed calls; 20, or 5 with --quick");
  run->add_option("--repeat", given.repeat,
                  "run (as if unsaid), or row: a row's bits do not depend on the other rows");
  run->add_option("--commit", given.commit, "recorded in the JSON");
  auto* const compare = app.add_subcommand("compare", "what runs wrote, side by side");
  compare->add_option("files", given.files, "files that run --json or peers.py wrote")->required();
  compare->add_option("--html", given.html, "a page to write: the same, and a roofline plot");
  CLI11_PARSE(app, argc, argv);
  try {
    if (*compare) tk::bench::compare(given.files, given.html);
    else return *list ? tk::bench::list(given) : tk::bench::run(given);
    return 0;
  } catch (std::exception const& fault) {
    fmt::print(stderr, "tk_bench: {}\n", fault.what());
    return 1;
  }
}
