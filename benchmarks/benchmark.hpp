// SPDX-License-Identifier: MIT
// A case made ready to run: operands on the device, the call of tk and those of its peers, and the
// oracle that each result is compared with. Every implementation writes the same outputs.
//
// A suite is a kind of case. Its source, in a folder of its own beside this file, registers it:
//   suite_entry const entry{"name", {"word", ...}, make};
// and a peer's source may register how its version is asked for, for the JSON.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/cases.hpp"
#include "benchmarks/tensors.hpp"

namespace tk::bench {

struct implementation {
  std::string name;
  std::function<void()> call;  // enqueues the work once, on the default stream; throws tk::error
  // Where it does other work on the case's operands, for the rate: its operations, and its verdict.
  double flops = 0;
  std::function<verdict()> compare = {};
  bool repeats = false;  // a peer that promises equal bits from call to call, as tk does
};

// A peer that could not be had, with the reason.
struct absence {
  std::string name, reason;
};
struct peer_list {
  std::vector<implementation> present;
  std::vector<absence> absent;
};

class benchmark {
 public:
  virtual ~benchmark() = default;
  virtual dtype type() const = 0;
  virtual double flops() const = 0;                           // 0 where memory is what counts
  virtual double bytes() const = 0;                           // every input and output once
  virtual tk_repeat repeat() const { return TK_REPEAT_RUN; }  // that tk's problem asks for
  virtual implementation tk() = 0;
  virtual peer_list peers() = 0;
  virtual std::vector<tensor*> outputs() = 0;
  virtual verdict compare() = 0;  // what the outputs hold, with the oracle
};

struct suite {
  std::set<std::string> words;  // that its cases may hold
  std::unique_ptr<benchmark> (*make)(bench_case const&);
};
std::map<std::string, suite> const& suites();
std::string names_of_suites();                  // "a, b and c"
suite const& find_suite(std::string const& x);  // std::runtime_error, with their names, if none is
std::unique_ptr<benchmark> make_benchmark(bench_case const& x);

struct suite_entry {
  suite_entry(std::string const& name, std::set<std::string> words,
              std::unique_ptr<benchmark> (*make)(bench_case const&));
};
template <class T> std::unique_ptr<benchmark> make(bench_case const& x) {
  return std::make_unique<T>(x);
}

// Version of each peer that could be opened, by the peer's name.
std::map<std::string, std::string> peer_versions();
struct peer_entry {
  peer_entry(std::string const& name, std::string (*version)());  // "" if it could not be opened
};

// Throws tk::error with the library's sentence unless `status` is TK_OK.
void check(tk_status status);

// The workspace that a problem asks for, zeroed.
tensor make_workspace(tk_op op, void const* problem);

}  // namespace tk::bench
