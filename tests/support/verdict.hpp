// SPDX-License-Identifier: MIT
// How a result is judged. For each element the oracle gives the exact value, `slack`, a bound on
// the error of the computation before its output is rounded, `unit`, the error of the same
// computation in which only inputs and output (in attention p, too) are rounded, and `rest`, the
// part of slack that is not of unit's kind.
//   element  rounded(exact - slack) <= got <= rounded(exact + slack): one wrong element fails, and
//            NaN does; an infinite or NaN exact value wants the same.
//   norm     |got - exact| <= factor |unit| + |rest| / 2 in the 2-norm over the tensor: finds what
//            is a little worse everywhere. Bounds for the worst of millions are several times the
//            usual error, hence the half.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>

#include "tests/support/element.hpp"

namespace tk::test {

constexpr double fp32_roundoff = 0x1p-24;       // half the distance from 1 to the next number
constexpr double fp32_least_normal = 0x1p-126;  // below it a chip may flush to zero

struct verdict {
  std::string wrong;          // "" or what is wrong
  std::int64_t compared = 0;  // elements
  double share = 0;           // the error's norm over its limit, where a norm was taken
  bool ok() const { return wrong.empty(); }
};

class error_meter {
 public:
  explicit error_meter(dtype type) : type_(type) {}
  dtype type() const { return type_; }

  void add(std::int64_t row, std::int64_t col, double got, double exact, double slack, double unit,
           double rest) {
    ++compared_;
    bool const good = std::isfinite(exact) ? got >= rounded(type_, exact - slack) &&
                                                 got <= rounded(type_, exact + slack)
                                           : got == exact || (std::isnan(got) && std::isnan(exact));
    if (!good) note(row, col, got, exact, slack);
    double const error = got - exact;
    if (!std::isfinite(error)) return;
    errors_ += error * error;
    units_ += unit * unit;
    rests_ += rest * rest;
  }
  void merge(error_meter const& other);
  // A norm over less than `least` elements says nothing that the bound on each does not.
  verdict judge(char const* what, double factor, std::int64_t least = 64) const;

 private:
  void note(std::int64_t row, std::int64_t col, double got, double exact, double slack);

  dtype type_;
  std::int64_t compared_ = 0, bad_ = 0;
  double errors_ = 0, units_ = 0, rests_ = 0;
  std::string first_;
};

inline void error_meter::note(std::int64_t row, std::int64_t col, double got, double exact,
                              double slack) {
  if (++bad_ > 1) return;
  char text[160];
  std::snprintf(text, sizeof text, "[row %lld, col %lld] is %.9g, exact %.9g, slack %.3g",
                static_cast<long long>(row), static_cast<long long>(col), got, exact, slack);
  first_ = text;
}

inline void error_meter::merge(error_meter const& other) {
  if (bad_ == 0) first_ = other.first_;
  compared_ += other.compared_;
  bad_ += other.bad_;
  errors_ += other.errors_;
  units_ += other.units_;
  rests_ += other.rests_;
}

inline verdict error_meter::judge(char const* what, double factor, std::int64_t least) const {
  verdict v;
  v.compared = compared_;
  double const error = std::sqrt(errors_), unit = std::sqrt(units_);
  double const limit = factor * unit + std::sqrt(rests_) / 2;
  bool const normed = compared_ >= least;
  if (normed && error > 0) v.share = error / limit;
  if (bad_ > 0)
    v.wrong = std::string(what) + ": " + std::to_string(bad_) + " of " + std::to_string(compared_) +
              " elements, first " + first_;
  else if (normed && !(error <= limit))
    v.wrong = std::string(what) + ": the error's norm is " + std::to_string(error / limit) +
              " times its limit, " + std::to_string(error / unit) + " times what rounding commits";
  return v;
}

// Infinities give NaN, or stay such: which of both, the order of operations says.
inline void add_unless_special(error_meter& to, std::int64_t row, std::int64_t col, double got,
                               double exact, double slack) {
  bool const special = !std::isfinite(exact);
  to.add(row, col, got, special && !std::isfinite(got) ? got : exact, special ? 0 : slack,
         special ? 0 : rounded(to.type(), exact) - exact, special ? 0 : slack);
}

}  // namespace tk::test
