// SPDX-License-Identifier: MIT
// Suite attention-bwd: dq, dk, dv of o = softmax(scale q k^T + mask) v, also of packed sequences
// and with options, from the o and lse that tk_attention_forward gives for the case's q, k, v;
// without options beside cuDNN where there is one. 10 h d operations for each pair of query and key
// that see each other: five products. The oracle computes some rows of dq and some of dk and dv
// (all, if that is cheap) in fp64. A right output is rounded once, and p and ds once before their
// products, each to the floor: that makes sqrt 2 floors, 2 with a margin. Of the three outputs the
// worst counts.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "benchmarks/attention/cudnn.hpp"
#include "benchmarks/attention/options.hpp"
#include "benchmarks/benchmark.hpp"
#include "ops/attention/attention_backward.h"

namespace tk::bench {
namespace {

constexpr std::int64_t whole_products = std::int64_t{1} << 27;  // of the oracle, about a second
constexpr std::int64_t sampled_rows = 48;

using row = std::vector<double>;
double dot(row const& x, row const& y) {
  std::array<double, 8> sum{};  // d is a multiple of 8
  for (std::size_t l = 0; l < x.size(); l += 8)
    for (std::size_t u = 0; u < 8; ++u) sum[u] += x[l + u] * y[l + u];
  double total = 0;
  for (double z : sum) total += z;
  return total;
}
void add(row& to, double factor, row const& x) {
  for (std::size_t l = 0; l < x.size(); ++l) to[l] += factor * x[l];
}

class attention_backward_benchmark final : public benchmark {
 public:
  explicit attention_backward_benchmark(bench_case const& x)
      : packed_(is_packed(x)),
        asked_(problem_of(x)),
        q_starts_(starts_of(asked_.nq)),
        k_starts_(starts_of(asked_.nk)) {
    dtype const type = parse_dtype(x.get("type", "bf16"));
    auto const shape = [&](std::vector<std::int64_t> const& lengths, std::int64_t h) {
      auto const b = static_cast<std::int64_t>(lengths.size());
      if (!packed_) return std::vector{b, lengths.empty() ? 0 : lengths[0], h, asked_.d};
      return std::vector{starts_of(lengths).back(), h, asked_.d};
    };
    auto const queries = shape(asked_.nq, asked_.hq), keys = shape(asked_.nk, asked_.hk);
    q_ = tensor(type, queries), o_ = tensor(type, queries), dout_ = tensor(type, queries);
    k_ = tensor(type, keys), v_ = tensor(type, keys);
    dq_ = tensor(type, queries), dk_ = tensor(type, keys), dv_ = tensor(type, keys);
    lse_ = packed_ ? tensor(dtype::fp32, {asked_.hq, queries[0]})
                   : tensor(dtype::fp32, {queries[0], asked_.hq, queries[1]});
    q_.fill_normal(1);
    k_.fill_normal(2);
    v_.fill_normal(3);
    dout_.fill_normal(4);
    bind();
    problem_.repeat = x.repeat;
    run_forward();
  }

  dtype type() const override { return dq_.type(); }
  double flops() const override {
    return 10 * asked_.pairs() * static_cast<double>(asked_.hq * asked_.d);
  }
  double bytes() const override {
    std::int64_t all = lse_.bytes();
    for (auto const* x : {&q_, &k_, &v_, &o_, &dout_, &dq_, &dk_, &dv_}) all += x->bytes();
    return static_cast<double>(all);
  }
  tk_repeat repeat() const override { return problem_.repeat; }
  std::vector<tensor*> outputs() override { return {&dq_, &dk_, &dv_}; }

  implementation tk() override {
    workspace_ = make_workspace(TK_OP_ATTENTION_BACKWARD, &problem_);
    auto const call = [this] {
      check(tk_attention_backward(&problem_, workspace_.data(),
                                  static_cast<std::size_t>(workspace_.bytes()), nullptr));
    };
    return {"tk", call};
  }
  peer_list peers() override {
    peer_list list;
    if (!options_.get())
      add_cudnn(list, backward_operands{&q_, &k_, &v_, &o_, &lse_, &dout_, &dq_, &dk_, &dv_,
                                        asked_.causal, asked_.scale});
    return list;
  }

  verdict compare() override {
    if (reference_dq_.empty()) compute_reference();
    std::array<deviation, 3> off;
    bool const finite = add(off[0], dq_, query_rows_, false, reference_dq_) &&
                        add(off[1], dk_, key_rows_, true, reference_dk_) &&
                        add(off[2], dv_, key_rows_, true, reference_dv_);
    auto const& worst = *std::max_element(off.begin(), off.end(), [](auto const& x, auto const& y) {
      return x.relative() * y.relative_floor() < y.relative() * x.relative_floor();
    });
    return {finite ? worst.relative() : HUGE_VAL, 2 * worst.relative_floor()};
  }

 private:
  struct place {
    std::int64_t sequence, h, i;
  };
  static std::vector<std::int64_t> starts_of(std::vector<std::int64_t> const& lengths) {
    std::vector<std::int64_t> starts(lengths.size() + 1, 0);
    std::partial_sum(lengths.begin(), lengths.end(), starts.begin() + 1);
    return starts;
  }

  void bind() {
    auto const dl = [this](int i, tensor const& x) { return &(dl_[std::size_t(i)] = x.dl()); };
    problem_.size = sizeof problem_;
    problem_.q = dl(0, q_);
    problem_.k = dl(1, k_);
    problem_.v = dl(2, v_);
    problem_.o = dl(3, o_);
    problem_.lse = dl(4, lse_);
    problem_.dout = dl(5, dout_);
    problem_.dq = dl(6, dq_);
    problem_.dk = dl(7, dk_);
    problem_.dv = dl(8, dv_);
    problem_.mask = asked_.causal ? TK_MASK_CAUSAL : TK_MASK_NONE;
    problem_.scale = asked_.scale;
    problem_.options = options_.get();
  }

  // o and lse, on the device and for the oracle.
  void run_forward() {
    tk_attention_forward_problem x{};
    x.size = sizeof x;
    x.q = problem_.q, x.k = problem_.k, x.v = problem_.v, x.o = problem_.o, x.lse = problem_.lse;
    x.mask = problem_.mask;
    x.scale = problem_.scale;
    x.options = problem_.options;
    tensor const workspace = make_workspace(TK_OP_ATTENTION_FORWARD, &x);
    check(tk_attention_forward(&x, workspace.data(), static_cast<std::size_t>(workspace.bytes()),
                               nullptr));
    given_o_ = o_.copy_out();
    given_lse_ = lse_.copy_out();
  }

  bool add(deviation& to, tensor const& x, std::vector<place> const& rows, bool of_keys,
           std::vector<row> const& reference) const {
    auto const values = x.copy_out();
    row got(size());
    for (std::size_t r = 0; r < rows.size(); ++r) {
      std::int64_t const at = offset(rows[r], of_keys);
      tensor::read(got.data(), x.type(), values.data() + at * bytes_of(x.type()), asked_.d);
      for (std::size_t l = 0; l < got.size(); ++l) to.add(x.type(), got[l], reference[r][l]);
    }
    return all_finite(x.type(), values);
  }
  std::size_t size() const { return static_cast<std::size_t>(asked_.d); }
  // Of a row of queries, or of keys: sequences lie one after another, in a batch, too.
  std::int64_t offset(place const& at, bool of_keys) const {
    auto const& starts = of_keys ? k_starts_ : q_starts_;
    std::int64_t const row = starts[static_cast<std::size_t>(at.sequence)] + at.i;
    return (row * (of_keys ? asked_.hk : asked_.hq) + at.h) * asked_.d;
  }
  row read(tensor const& x, place const& at, bool of_keys) const {
    row y(size());
    x.read(y.data(), offset(at, of_keys), asked_.d);
    return y;
  }

  // Of the rows of each of h heads, all or so many: ends and edges, each in another head.
  static std::vector<place> choose(std::vector<std::int64_t> const& lengths, std::int64_t h,
                                   std::int64_t cost) {
    std::int64_t const affordable = whole_products / std::max<std::int64_t>(1, cost);
    std::int64_t const wanted = std::max(affordable, sampled_rows);
    bool const all = h * std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}) <= wanted;
    auto const sequences = static_cast<std::int64_t>(lengths.size());
    std::vector<place> rows;
    for (std::int64_t s = 0; s < sequences; ++s) {
      std::int64_t const n = lengths[static_cast<std::size_t>(s)];
      std::int64_t const some = std::max<std::int64_t>(1, wanted / sequences);
      for (std::int64_t i : sample_rows(n, all ? n : some))
        for (std::int64_t head = 0; head < (all ? h : 1); ++head) {
          auto const at = static_cast<std::int64_t>(rows.size());
          rows.push_back({s, all ? head : at * 7 % h, i});
        }
    }
    return rows;
  }

  void compute_reference() {
    auto const longest = [](std::vector<std::int64_t> const& lengths) {
      return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
    };
    std::int64_t const group = asked_.hq / asked_.hk;
    query_rows_ = choose(asked_.nq, asked_.hq, 3 * longest(asked_.nk) * asked_.d);
    key_rows_ = choose(asked_.nk, asked_.hk, 4 * longest(asked_.nq) * group * asked_.d);
    row const zero(size());
    reference_dq_.assign(query_rows_.size(), zero);
    reference_dk_.assign(key_rows_.size(), zero);
    reference_dv_.assign(key_rows_.size(), zero);
    auto const queries = static_cast<std::int64_t>(query_rows_.size());
    parallel_for(queries + static_cast<std::int64_t>(key_rows_.size()), [&](std::int64_t r) {
      if (r < queries) reference_query(static_cast<std::size_t>(r));
      else reference_key(static_cast<std::size_t>(r - queries));
    });
  }

  struct query {
    place at;
    row q, dout;
    double lse, delta;
  };
  query read_query(place const& at) const {
    query x{at, read(q_, at, false), read(dout_, at, false), 0, 0};
    row o(size());
    tensor::read(o.data(), o_.type(), given_o_.data() + offset(at, false) * bytes_of(o_.type()),
                 asked_.d);
    auto const sequence = static_cast<std::size_t>(at.sequence);
    std::int64_t const of_lse = packed_
                                    ? at.h * q_starts_.back() + q_starts_[sequence] + at.i
                                    : (at.sequence * asked_.hq + at.h) * asked_.nq[sequence] + at.i;
    tensor::read(&x.lse, dtype::fp32, given_lse_.data() + of_lse * bytes_of(dtype::fp32), 1);
    x.delta = dot(o, x.dout);
    return x;
  }
  // The weight that is kept, and ds, of a query and a key.
  std::array<double, 2> pair(query const& x, std::int64_t j, row const& k, row const& v) const {
    double s = static_cast<double>(asked_.scale) * dot(x.q, k), slope = 1;
    if (double const cap = asked_.softcap; cap > 0) {
      double const t = std::tanh(s / cap);
      s = cap * t;
      slope = 1 - t * t;
    }
    if (!asked_.alibi.empty()) {
      auto const sequence = static_cast<std::size_t>(x.at.sequence);
      std::int64_t const opposite = x.at.i + asked_.nk[sequence] - asked_.nq[sequence];
      s -= static_cast<double>(asked_.alibi[static_cast<std::size_t>(x.at.h)]) *
           static_cast<double>(std::abs(opposite - j));
    }
    double const p = std::exp(s - x.lse), kept = asked_.kept(x.at.sequence, x.at.h, x.at.i, j);
    return {p * kept, p * (kept * dot(x.dout, v) - x.delta) * slope};
  }

  void reference_query(std::size_t r) {
    place const at = query_rows_[r];
    query const x = read_query(at);
    auto const [first, last] = asked_.seen(static_cast<std::size_t>(at.sequence), at.i);
    for (std::int64_t j = first; j < last; ++j) {
      place const key{at.sequence, at.h / (asked_.hq / asked_.hk), j};
      row const k = read(k_, key, true);
      double const ds = pair(x, j, k, read(v_, key, true))[1];
      bench::add(reference_dq_[r], ds * static_cast<double>(asked_.scale), k);
    }
  }
  void reference_key(std::size_t r) {
    place const at = key_rows_[r];
    auto const sequence = static_cast<std::size_t>(at.sequence);
    row const k = read(k_, at, true), v = read(v_, at, true);
    std::int64_t const group = asked_.hq / asked_.hk;
    for (std::int64_t h = at.h * group; h < (at.h + 1) * group; ++h)
      for (std::int64_t i = 0; i < asked_.nq[sequence]; ++i) {
        auto const [first, last] = asked_.seen(sequence, i);
        if (at.i < first || at.i >= last) continue;
        query const x = read_query({at.sequence, h, i});
        auto const [p, ds] = pair(x, at.i, k, v);
        bench::add(reference_dv_[r], p, x.dout);
        bench::add(reference_dk_[r], ds * static_cast<double>(asked_.scale), x.q);
      }
  }

  bool packed_;
  forward_problem asked_;
  std::vector<std::int64_t> q_starts_, k_starts_;  // rows of sequences, and all
  case_options options_{asked_, packed_};
  tensor q_, k_, v_, o_, lse_, dout_, dq_, dk_, dv_, workspace_;
  std::array<DLTensor, 9> dl_{};
  tk_attention_backward_problem problem_{};
  std::vector<std::byte> given_o_, given_lse_;
  std::vector<place> query_rows_, key_rows_;
  std::vector<row> reference_dq_, reference_dk_, reference_dv_;
};

suite_entry const entry{
    "attention-bwd",
    {"b", "n", "lens", "h", "d", "nk", "hk", "mask", "left", "softcap", "alibi", "dropout", "type"},
    make<attention_backward_benchmark>};

}  // namespace
}  // namespace tk::bench
