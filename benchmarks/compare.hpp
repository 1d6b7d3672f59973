// SPDX-License-Identifier: MIT
// tk_bench compare: files of several cards, archs or commits side by side. A table for each suite
// has a row for each case and these columns for each file:
//   tk      its rate; "tk row" where rows were to have equal bits whatever the others (--repeat)
//   +-      the distance of the quartiles of its times, in parts of their median
//   roof    the share of the device's ceilings that it reaches (result_ceilings::share)
//   /PEER   its speed over that of a peer in the same file, one column for each peer
//   /1      its speed over that in the first file, if both did the same work
// A ratio is marked where one of its two rows is noisy (numbers.hpp).
#pragma once
#include <string>
#include <vector>

#include "benchmarks/results.hpp"

namespace tk::bench {

struct comparison_table {
  std::string suite;
  struct column {
    int file;  // 0: of the case, 1...: of that file
    std::string head;
  };
  std::vector<column> columns;
  std::vector<std::vector<std::string>> rows;  // the last two: geometric means, how many cases
};

// One line: device, arch, commit, date, and its ceilings.
std::string describe(result const& x);
std::vector<comparison_table> compare(std::vector<result> const& files);

// One page, complete in itself: a roofline plot of every file, and the tables.
std::string html_page(std::vector<result> const& files);
std::string roofline_svg(std::vector<result> const& files);
std::string escaped(std::string const& text);  // for HTML
std::string colour_of(std::size_t file);       // in plot and legend
std::vector<std::string> suites_of(std::vector<result> const& files);

// Reads the files, prints the tables, and writes the page unless its name is empty.
void compare(std::vector<std::string> const& paths, std::string const& html);

}  // namespace tk::bench
