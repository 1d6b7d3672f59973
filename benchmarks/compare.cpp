// SPDX-License-Identifier: MIT
// Tables of a comparison and their text (compare.hpp).
#include "benchmarks/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>

#include "benchmarks/numbers.hpp"

namespace tk::bench {
namespace {

void add_once(std::vector<std::string>& list, std::string const& x) {
  if (std::find(list.begin(), list.end(), x) == list.end()) list.push_back(x);
}

// Rates of the chip alone belong to no memory: they are in the line that describes a file.
bool is_case(result_row const& x) { return x.bytes > 0; }

std::vector<std::string> cases_of(std::vector<result> const& files, std::string const& suite) {
  std::vector<std::string> names;
  for (result const& file : files)
    for (result_row const& x : file.rows)
      if (x.suite == suite && is_case(x)) add_once(names, x.name);
  return names;
}

std::vector<std::string> peers_of(result const& file, std::string const& suite) {
  std::vector<std::string> names;
  for (result_row const& x : file.rows)
    if (x.suite == suite && x.implementation != "tk") add_once(names, x.implementation);
  return names;
}

bool same_work(result_row const& x, result_row const& y) {
  auto const near = [](double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(a, b); };
  return near(x.flops, y.flops) && near(x.bytes, y.bytes);
}

// One column: its cells, and what its mean is taken over.
class cells {
 public:
  void add(std::string text) { text_.push_back(std::move(text)); }
  void add_to_mean(double value, char const* form, bool noisy = false) {
    add(value > 0 ? fmt::format(fmt::runtime(form), value) + (noisy ? noise_mark : "") : "-");
    if (value <= 0) return;
    logs_ += std::log(value);
    ++count_;
  }
  std::vector<std::string> finish(char const* form) {
    bool const some = count_ > 0;
    text_.push_back(some ? fmt::format(fmt::runtime(form), std::exp(logs_ / count_)) : "");
    text_.push_back(some ? std::to_string(count_) : "");
    return std::move(text_);
  }

 private:
  std::vector<std::string> text_;
  double logs_ = 0;
  int count_ = 0;
};

constexpr char const *ratio_form = "{:.3f}", *share_form = "{:.2f}";

bool is_noisy(result_row const& x) { return bench::is_noisy(x.ms, x.ms_iqr); }

// "tk", "tk row", or "tk run, row" where a file has both.
std::string own_head(result const& file, std::string const& suite) {
  bool by_run = false, by_row = false;
  for (result_row const& x : file.rows)
    if (x.suite == suite && x.implementation == "tk") (x.repeat == "row" ? by_row : by_run) = true;
  return by_row ? by_run ? "tk run, row" : "tk row" : "tk";
}

// The unit that suits the fastest of a case's rows.
rate_unit unit_of_case(std::vector<result> const& files, std::string const& suite,
                       std::string const& name) {
  double most = 0;
  bool moves = false;
  for (result const& file : files)
    for (result_row const& x : file.rows)
      if (x.suite == suite && x.name == name) most = std::max(most, x.rate()), moves = x.moves();
  return unit_of(most, moves ? "B/s" : "FLOP/s");
}

class table_of_suite {
 public:
  table_of_suite(std::vector<result> const& files, std::string const& suite)
      : files_(files), suite_(suite), names_(cases_of(files, suite)) {
    table_.suite = suite;
    table_.rows.resize(names_.size() + 2);
    std::vector<std::string> units;
    units.reserve(names_.size() + 2);
    for (auto const& name : names_) units.push_back(unit_of_case(files, suite, name).name);
    auto titles = names_;
    titles.insert(titles.end(), {"geometric mean", "cases"});
    units.insert(units.end(), {"", ""});
    put(0, "case", std::move(titles));
    put(0, "unit", std::move(units));
    for (std::size_t i = 0; i < files.size(); ++i) add_file(i);
  }
  comparison_table take() { return std::move(table_); }

 private:
  // A column in which nothing is known is left out.
  void put(int file, std::string const& head, std::vector<std::string> column) {
    auto const cases = column.begin() + static_cast<std::ptrdiff_t>(names_.size());
    if (std::all_of(column.begin(), cases, [](auto const& cell) { return cell == "-"; })) return;
    table_.columns.push_back({file, head});
    for (std::size_t i = 0; i < column.size(); ++i) table_.rows[i].push_back(std::move(column[i]));
  }

  void add_file(std::size_t index) {
    result const& file = files_[index];
    int const number = static_cast<int>(index) + 1;
    cells rates, spreads, shares, to_first;
    for (auto const& name : names_) {
      result_row const* const own = file.find(suite_, name, "tk");
      double const unit = unit_of_case(files_, suite_, name).size;
      rates.add(own ? three_digits(own->rate() / unit) : "-");
      spreads.add(own ? spread_text(own->ms, own->ms_iqr) : "-");
      shares.add_to_mean(own ? file.ceilings.share(*own) : 0, share_form);
      result_row const* const first = files_.front().find(suite_, name, "tk");
      bool const both = own && first && same_work(*own, *first);
      to_first.add_to_mean(both ? first->ms / own->ms : 0, ratio_form,
                           both && (is_noisy(*own) || is_noisy(*first)));
    }
    put(number, own_head(file, suite_), rates.finish(""));
    put(number, "+-", spreads.finish(""));
    put(number, "roof", shares.finish(share_form));
    for (auto const& peer : peers_of(file, suite_)) {
      cells ratios;
      for (auto const& name : names_) {
        result_row const* const own = file.find(suite_, name, "tk");
        result_row const* const other = file.find(suite_, name, peer);
        bool const both = own && other;
        ratios.add_to_mean(both ? own->speed_over(*other) : 0, ratio_form,
                           both && (is_noisy(*own) || is_noisy(*other)));
      }
      put(number, "/" + peer, ratios.finish(ratio_form));
    }
    if (index > 0) put(number, "/1", to_first.finish(ratio_form));
  }

  std::vector<result> const& files_;
  std::string const& suite_;
  std::vector<std::string> names_;
  comparison_table table_;
};

std::string text_of(comparison_table const& table) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    widths.push_back(table.columns[c].head.size());
    for (auto const& row : table.rows) widths[c] = std::max(widths[c], row[c].size());
  }
  auto const line = [&](auto const& cell) {
    std::string text;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      bool const new_file = c > 0 && table.columns[c].file != table.columns[c - 1].file;
      text += c == 0 ? "" : new_file ? "   " : " ";
      text += table.columns[c].file == 0 ? fmt::format("{:<{}}", cell(c), widths[c])
                                         : fmt::format("{:>{}}", cell(c), widths[c]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::string text = line([&](std::size_t c) {
    if (c == 0) return table.suite;
    bool const first = table.columns[c].file != table.columns[c - 1].file;
    return first ? std::to_string(table.columns[c].file) : std::string();
  });
  text += line([&](std::size_t c) { return table.columns[c].head; });
  for (auto const& row : table.rows) text += line([&](std::size_t c) { return row[c]; });
  return text;
}

}  // namespace

std::vector<std::string> suites_of(std::vector<result> const& files) {
  std::vector<std::string> names;
  for (result const& file : files)
    for (result_row const& x : file.rows)
      if (is_case(x)) add_once(names, x.suite);
  return names;
}

std::string describe(result const& x) {
  bool const hash = x.commit.find_first_not_of("0123456789abcdef") == std::string::npos;
  std::string text = fmt::format("{}, {}, {}, {}: copy ", x.device, x.arch,
                                 hash ? x.commit.substr(0, 12) : x.commit, x.date.substr(0, 10));
  auto const add = [&](double rate, char const* what) {
    text += rate > 0 ? rate_text(rate, what) : "not measured";
  };
  add(x.ceilings.copy_bytes_per_s, "B/s");
  text += ", products ";
  add(x.ceilings.product_flops_per_s, "FLOP/s");
  text += ", exp2 ";
  add(x.ceilings.exp2_per_s, "/s");
  return text;
}

std::vector<comparison_table> compare(std::vector<result> const& files) {
  std::vector<comparison_table> tables;
  for (auto const& suite : suites_of(files)) tables.push_back(table_of_suite(files, suite).take());
  return tables;
}

void compare(std::vector<std::string> const& paths, std::string const& html) {
  std::vector<result> files;
  files.reserve(paths.size());
  for (auto const& path : paths) files.push_back(read_result(path));
  for (std::size_t i = 0; i < files.size(); ++i) fmt::print("{} {}\n", i + 1, describe(files[i]));
  fmt::print(
      "tk: rate; +-: spread of the calls; roof: share of the ceilings; /peer and /1: speed over a "
      "peer's\nand the first file's, {} where a spread is over {:.0f}%\n",
      noise_mark, 100 * noisy_share);
  for (auto const& table : compare(files)) fmt::print("\n{}", text_of(table));
  if (html.empty()) return;
  std::ofstream page(html);
  page << html_page(files);
  page.close();
  if (!page) throw std::runtime_error("cannot write " + html);
}

}  // namespace tk::bench
