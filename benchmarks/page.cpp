// SPDX-License-Identifier: MIT
// The page of a comparison: legend, plot, tables. Nothing in it refers to another file.
#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/compare.hpp"
#include "benchmarks/numbers.hpp"

namespace tk::bench {
namespace {

constexpr char head[] = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>tk_bench compare</title>
<meta name="viewport" content="width=device-width">
<style>
:root { color-scheme: light dark; font: 15px/1.4 system-ui, sans-serif; }
body { max-width: 75rem; margin: 1.5rem auto; padding: 0 1rem; }
svg { width: 100%; font-size: 12px; }
svg text { fill: currentColor; }
svg [fill] { fill-opacity: .8; }
.grid, .fine { stroke: currentColor; opacity: .35; }
.fine { opacity: .1; }
.roof { fill: none; stroke-width: 2; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .1rem .5rem; text-align: right; white-space: nowrap; }
th.case, td.case { text-align: left; }
.begins { border-left: 1px solid; }
tr.mean > * { font-weight: bold; }
tr.mean:nth-last-child(2) > * { border-top: 1px solid; }
</style></head><body>
<h1>tk_bench compare</h1>
)";

std::string legend(std::vector<result> const& files) {
  std::string html = "<ol>\n";
  for (std::size_t i = 0; i < files.size(); ++i)
    html += fmt::format("<li><b style=\"color:{}\">&#9632;</b> {} ({})</li>\n", colour_of(i),
                        escaped(describe(files[i])), escaped(files[i].path));
  constexpr char const* shapes[] = {"circle", "square", "triangle", "diamond"};
  std::string marks;
  std::size_t suite = 0;
  for (auto const& name : suites_of(files)) {
    marks += fmt::format("{}{}: {}", marks.empty() ? "" : ", ", escaped(name), shapes[suite % 4]);
    ++suite;
  }
  return html + "</ol>\n<p>Points are cases of tk (" + marks +
         "), lines what copies and products of the device itself allow.</p>\n";
}

std::string table_html(comparison_table const& table) {
  auto const cell = [&](char const* tag, std::size_t c, std::string const& text) {
    bool const begins = c > 0 && table.columns[c].file != table.columns[c - 1].file;
    char const* kind = table.columns[c].file == 0 ? "case" : begins ? "begins" : "";
    return fmt::format("<{0} class=\"{1}\">{2}</{0}>", tag, kind, escaped(text));
  };
  std::string html =
      fmt::format("<h2>{}</h2>\n<div class=\"scroll\"><table>\n<tr>", escaped(table.suite));
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    bool const begins = c > 0 && table.columns[c].file != table.columns[c - 1].file;
    html += cell("th", c, begins ? std::to_string(table.columns[c].file) : "");
  }
  html += "</tr>\n<tr>";
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    html += cell("th", c, table.columns[c].head);
  html += "</tr>\n";
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    html += r + 2 >= table.rows.size() ? "<tr class=\"mean\">" : "<tr>";
    for (std::size_t c = 0; c < table.columns.size(); ++c) html += cell("td", c, table.rows[r][c]);
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

}  // namespace

std::string escaped(std::string const& text) {
  std::string html;
  for (char const x : text) switch (x) {
      case '&': html += "&amp;"; break;
      case '<': html += "&lt;"; break;
      case '>': html += "&gt;"; break;
      case '"': html += "&quot;"; break;
      default: html += x;
    }
  return html;
}

std::string html_page(std::vector<result> const& files) {
  std::string html = head + legend(files) + roofline_svg(files);
  html += fmt::format(
      "<p><b>tk</b>: rate. <b>+-</b>: spread of the calls, the distance of their quartiles. "
      "<b>roof</b>: share of the ceilings. <b>/peer</b>, <b>/1</b>: speed over a peer's in the "
      "same "
      "file, and over the first file's; {} where a spread is over {:.0f}%.</p>\n",
      noise_mark, 100 * noisy_share);
  for (auto const& table : compare(files)) html += table_html(table);
  return html + "</body></html>\n";
}

}  // namespace tk::bench
