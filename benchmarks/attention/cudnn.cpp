// SPDX-License-Identifier: MIT
// cuDNN 9 as a peer of attention, through its C interface by dlopen (cuDNN documentation, "Graph
// API"). The graph is the pattern that its fused attention engines recognise:
//   s = q k^T; s = s scale; [s = row >= column ? s : -inf]
//   e = exp(s - max s); lse = max s + log sum e; p = e / sum e; o = p v
// with q [b, hq, nq, d], k^T [b, hk, d, nk], v [b, hk, nk, d], o [b, hq, nq, d] by strides.
#include "benchmarks/attention/cudnn.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "backends/runtime.hpp"
#include "benchmarks/shared_library.hpp"

namespace tk::bench {
namespace {

// Names and values of cudnn_graph.h, as far as they are needed.
enum data_type : int {
  data_float = 0,
  data_half = 2,
  data_int32 = 4,
  data_bf16 = 9,
  data_boolean = 11
};
enum pointwise_mode : int {
  mode_add = 0,
  mode_mul = 1,
  mode_div = 6,
  mode_sub = 9,
  mode_exp = 13,
  mode_log = 15,
  mode_compare_ge = 303,
  mode_gen_index = 501,
  mode_select = 601
};
enum reduction_mode : int { reduce_add = 0, reduce_max = 3 };
enum heuristic_mode : int { heuristic_a = 3 };
enum value_type : int {
  value_handle = 0,
  value_data_type = 1,
  value_boolean = 2,
  value_int64 = 3,
  value_void_ptr = 6,
  value_heuristic_mode = 8,
  value_pointwise_mode = 14,
  value_descriptor = 15,
  value_reduction = 18
};
enum descriptor_kind : int {
  kind_pointwise = 0,
  kind_engine_config = 3,
  kind_heuristic = 4,
  kind_plan = 5,
  kind_pointwise_operation = 13,
  kind_graph = 15,
  kind_variant_pack = 16,
  kind_tensor = 17,
  kind_matmul = 18,
  kind_matmul_operation = 19,
  kind_reduction = 21,
  kind_reduction_operation = 22
};
enum attribute : int {
  pointwise_mode_is = 0,
  pointwise_precision = 1,
  pointwise_axis = 9,
  heuristic_mode_is = 200,
  heuristic_graph = 201,
  heuristic_results = 202,
  plan_handle = 400,
  plan_config = 401,
  plan_workspace = 402,
  pointwise_op = 750,
  pointwise_x = 751,
  pointwise_b = 752,
  pointwise_y = 753,
  pointwise_t = 758,
  graph_handle = 800,
  graph_operations = 801,
  tensor_alignment = 900,
  tensor_type = 901,
  tensor_sizes = 902,
  tensor_strides = 903,
  tensor_id = 906,
  tensor_is_virtual = 907,
  tensor_is_by_value = 908,
  pack_ids = 1000,
  pack_pointers = 1001,
  pack_workspace = 1003,
  matmul_precision = 1500,
  matmul_a = 1520,
  matmul_b = 1521,
  matmul_c = 1522,
  matmul_op = 1523,
  reduction_operator = 1600,
  reduction_precision = 1601,
  reduction_x = 1610,
  reduction_y = 1611,
  reduction_op = 1612,
};

struct cudnn_api {
  shared_library library{"libcudnn.so.9", "libcudnn.so"};
  std::size_t (*version)();
  void (*last_error)(char*, std::size_t);
  int (*create)(void**);
  int (*set_stream)(void*, void*);
  int (*create_descriptor)(descriptor_kind, void**);
  int (*destroy_descriptor)(void*);
  int (*set_attribute)(void*, attribute, value_type, std::int64_t, void const*);
  int (*get_attribute)(void*, attribute, value_type, std::int64_t, std::int64_t*, void*);
  int (*finalize)(void*);
  int (*execute)(void*, void*, void*);
  void* handle = nullptr;

  cudnn_api() {
    if (!library) throw std::runtime_error("libcudnn was not found");
    library.find(version, "cudnnGetVersion");
    if (version() < 90100) throw std::runtime_error("libcudnn is older than 9.1");
    library.find(last_error, "cudnnGetLastErrorString");
    library.find(create, "cudnnCreate");
    library.find(set_stream, "cudnnSetStream");
    library.find(create_descriptor, "cudnnBackendCreateDescriptor");
    library.find(destroy_descriptor, "cudnnBackendDestroyDescriptor");
    library.find(set_attribute, "cudnnBackendSetAttribute");
    library.find(get_attribute, "cudnnBackendGetAttribute");
    library.find(finalize, "cudnnBackendFinalize");
    library.find(execute, "cudnnBackendExecute");
    check(create(&handle), "cudnnCreate");
    check(set_stream(handle, nullptr), "cudnnSetStream");
  }
  void check(int status, char const* what) const {
    if (status == 0) return;
    std::array<char, 512> text{};
    last_error(text.data(), text.size());
    throw std::runtime_error(std::string(what) + " gives " + std::to_string(status) + " " +
                             text.data());
  }
};

// Throws std::runtime_error with the reason where there is none.
cudnn_api const& api() {
  static cudnn_api const the_api;
  return the_api;
}

// One of cuDNN's objects: attributes are set, then it is finalized and never changes again. Copies
// share the object.
class descriptor {
 public:
  explicit descriptor(descriptor_kind kind) {
    void* made = nullptr;
    api().check(api().create_descriptor(kind, &made), "a descriptor");
    object_ = std::shared_ptr<void>(made, api().destroy_descriptor);
  }
  void* get() const { return object_.get(); }

  template <class T>
  descriptor& set(attribute what, value_type type, T const* values, std::size_t count) {
    api().check(api().set_attribute(get(), what, type, static_cast<std::int64_t>(count), values),
                ("attribute " + std::to_string(what)).c_str());
    return *this;
  }
  template <class T> descriptor& set(attribute what, value_type type, T const& value) {
    return set(what, type, &value, 1);
  }
  descriptor& set(attribute what, descriptor const& other) {
    return set(what, value_descriptor, other.get());
  }
  descriptor& finalize(char const* what) {
    api().check(api().finalize(get()), what);
    return *this;
  }

 private:
  std::shared_ptr<void> object_;
};

using sizes = std::array<std::int64_t, 4>;

sizes packed_strides(sizes const& n) { return {n[1] * n[2] * n[3], n[2] * n[3], n[3], 1}; }

// The graph of one problem, compiled for this card; run() enqueues it on the default stream. Where
// the graph is not the engines' pattern to the letter, no engine takes it: log and add, which make
// lse, belong to it even when nobody reads them (cuDNN 9.19).
class attention_plan {
 public:
  explicit attention_plan(attention_operands const& x) : scale_(x.scale) {
    auto const& q = x.q->shape();
    auto const& k = x.k->shape();
    scores_ = {q[0], q[2], q[1], k[1]};
    type_ = x.q->type() == dtype::bf16 ? data_bf16 : data_half;
    if (x.causal && q[1] != k[1]) throw std::runtime_error("its mask begins at the first key");
    build(x);
    plan();
    pack();
  }

  void run() const {
    api().check(api().execute(api().handle, plan_->get(), pack_->get()), "cudnnBackendExecute");
  }

 private:
  void build(attention_operands const& x) {
    descriptor const q = operand(*x.q, false), k = operand(*x.k, true), v = operand(*x.v, false);
    descriptor s = intermediate(data_float, scores_);
    matmul(q, k, s);
    s = apply(mode_mul, s, scalar(&scale_));
    if (x.causal) {
      descriptor const row = index(s, 2), column = index(s, 3), hidden = scalar(&lowest_);
      descriptor const keep = intermediate(data_boolean, scores_);
      pointwise(mode_compare_ge, data_boolean, row, keep, &column);
      descriptor const masked = intermediate(data_float, scores_);
      pointwise(mode_select, data_float, s, masked, &hidden, &keep);
      s = masked;
    }
    descriptor const p = softmax(s, *x.lse);
    matmul(p, v, operand(*x.o, false));
  }

  descriptor softmax(descriptor const& s, tensor const& lse) {
    sizes const rows{scores_[0], scores_[1], scores_[2], 1};
    descriptor const peak = reduce(reduce_max, s);
    descriptor const shifted = apply(mode_sub, s, peak);
    descriptor const e = intermediate(data_float, scores_);
    pointwise(mode_exp, data_float, shifted, e);
    descriptor const sum = reduce(reduce_add, e), log = intermediate(data_float, rows);
    pointwise(mode_log, data_float, sum, log);
    descriptor const stats = make_tensor(data_float, rows, packed_strides(rows));
    bind(lse.data());
    pointwise(mode_add, data_float, peak, stats, &log);
    descriptor const p = intermediate(type_, scores_);
    pointwise(mode_div, data_float, e, p, &sum);
    return p;
  }

  // ---- tensors
  descriptor make_tensor(data_type type, sizes const& shape, sizes const& strides,
                         std::optional<attribute> flag = {}) {
    std::int64_t const id = ++last_id_, alignment = 16;
    descriptor t(kind_tensor);
    t.set(tensor_type, value_data_type, type);
    t.set(tensor_sizes, value_int64, shape.data(), shape.size());
    t.set(tensor_strides, value_int64, strides.data(), strides.size());
    t.set(tensor_id, value_int64, id);
    t.set(tensor_alignment, value_int64, alignment);
    if (flag) t.set(*flag, value_boolean, true);
    return t.finalize("a tensor");
  }
  // Exists only inside the fused kernel.
  descriptor intermediate(data_type type, sizes const& shape) {
    return make_tensor(type, shape, packed_strides(shape), tensor_is_virtual);
  }
  // A number in host memory, read when the graph runs.
  descriptor scalar(float const* value) {
    sizes const one{1, 1, 1, 1};
    descriptor const t = make_tensor(data_float, one, one, tensor_is_by_value);
    bind(value);
    return t;
  }
  // [b, n, h, d] as [b, h, n, d], or as [b, h, d, n].
  descriptor operand(tensor const& x, bool transposed) {
    auto const &n = x.shape(), &s = x.strides();
    sizes shape{n[0], n[2], n[1], n[3]}, strides{s[0], s[2], s[1], s[3]};
    if (transposed) {
      std::swap(shape[2], shape[3]);
      std::swap(strides[2], strides[3]);
    }
    descriptor const t = make_tensor(type_, shape, strides);
    bind(x.data());
    return t;
  }
  // The tensor made last lies at `data`.
  void bind(void const* data) {
    ids_.push_back(last_id_);
    pointers_.push_back(const_cast<void*>(data));
  }

  // ---- operations
  // y = mode(x), mode(x, b), or t ? x : b; index operations give the position along `axis`.
  void pointwise(pointwise_mode mode, data_type precision, descriptor const& x, descriptor const& y,
                 descriptor const* b = nullptr, descriptor const* t = nullptr,
                 std::int64_t axis = -1) {
    descriptor what(kind_pointwise);
    what.set(pointwise_mode_is, value_pointwise_mode, mode);
    what.set(pointwise_precision, value_data_type, precision);
    if (axis >= 0) what.set(pointwise_axis, value_int64, axis);
    what.finalize("a pointwise mode");
    descriptor operation(kind_pointwise_operation);
    operation.set(pointwise_op, what).set(pointwise_x, x).set(pointwise_y, y);
    if (b) operation.set(pointwise_b, *b);
    if (t) operation.set(pointwise_t, *t);
    operations_.push_back(operation.finalize("a pointwise operation"));
  }
  descriptor apply(pointwise_mode mode, descriptor const& x, descriptor const& b) {
    descriptor const y = intermediate(data_float, scores_);
    pointwise(mode, data_float, x, y, &b);
    return y;
  }
  descriptor index(descriptor const& like, std::int64_t axis) {
    descriptor const y = intermediate(data_int32, scores_);
    pointwise(mode_gen_index, data_float, like, y, nullptr, nullptr, axis);
    return y;
  }
  // Over the keys: [b, hq, nq, nk] -> [b, hq, nq, 1].
  descriptor reduce(reduction_mode mode, descriptor const& x) {
    descriptor const y = intermediate(data_float, {scores_[0], scores_[1], scores_[2], 1});
    descriptor what(kind_reduction);
    what.set(reduction_operator, value_reduction, mode);
    what.set(reduction_precision, value_data_type, data_float).finalize("a reduction mode");
    descriptor operation(kind_reduction_operation);
    operation.set(reduction_op, what).set(reduction_x, x).set(reduction_y, y);
    operations_.push_back(operation.finalize("a reduction"));
    return y;
  }
  void matmul(descriptor const& a, descriptor const& b, descriptor const& c) {
    descriptor what(kind_matmul);
    what.set(matmul_precision, value_data_type, data_float).finalize("a product's precision");
    descriptor operation(kind_matmul_operation);
    operation.set(matmul_op, what).set(matmul_a, a).set(matmul_b, b).set(matmul_c, c);
    operations_.push_back(operation.finalize("a product"));
  }

  // ---- the plan: the first of the heuristic's engines that takes the graph
  void plan() {
    std::vector<void*> raw;
    for (descriptor const& x : operations_) raw.push_back(x.get());
    descriptor graph(kind_graph);
    graph.set(graph_operations, value_descriptor, raw.data(), raw.size());
    graph.set(graph_handle, value_handle, api().handle).finalize("the graph");
    descriptor heuristic(kind_heuristic);
    heuristic.set(heuristic_graph, graph);
    heuristic.set(heuristic_mode_is, value_heuristic_mode, heuristic_a).finalize("its heuristic");
    std::vector<descriptor> configs;
    raw.clear();
    for (int i = 0; i < 8; ++i) raw.push_back(configs.emplace_back(kind_engine_config).get());
    std::int64_t found = 0;
    api().check(api().get_attribute(heuristic.get(), heuristic_results, value_descriptor,
                                    static_cast<std::int64_t>(raw.size()), &found, raw.data()),
                "its engines");
    std::string reason = "its heuristic names no engine";
    for (std::int64_t i = 0; i < std::min(found, std::int64_t{8}) && !plan_; ++i) {
      try {
        descriptor candidate(kind_plan);
        candidate.set(plan_handle, value_handle, api().handle);
        candidate.set(plan_config, configs[static_cast<std::size_t>(i)]).finalize("a plan");
        plan_ = std::make_unique<descriptor>(candidate);
      } catch (std::runtime_error const& fault) { reason = fault.what(); }
    }
    if (!plan_) throw std::runtime_error(reason);
  }

  void pack() {
    std::int64_t bytes = 0, count = 0;
    api().check(api().get_attribute(plan_->get(), plan_workspace, value_int64, 1, &count, &bytes),
                "the workspace's size");
    workspace_ = tensor(dtype::fp32, {bytes / 4 + 4});
    void* const space = workspace_.data();
    pack_ = std::make_unique<descriptor>(kind_variant_pack);
    pack_->set(pack_ids, value_int64, ids_.data(), ids_.size());
    pack_->set(pack_pointers, value_void_ptr, pointers_.data(), pointers_.size());
    pack_->set(pack_workspace, value_void_ptr, space).finalize("the tensors' addresses");
  }

  float scale_, lowest_ = -std::numeric_limits<float>::infinity();  // read when it runs
  sizes scores_;                                                    // of the scores
  data_type type_;
  std::int64_t last_id_ = 0;
  std::vector<std::int64_t> ids_;
  std::vector<void*> pointers_;
  std::vector<descriptor> operations_;
  std::unique_ptr<descriptor> plan_, pack_;
  tensor workspace_;
};

std::string version() {
  try {
    return be::rt::dl_device_type == kDLCUDA ? std::to_string(api().version()) : "";
  } catch (std::runtime_error const&) { return ""; }
}
peer_entry const entry{"cudnn", version};

}  // namespace

void add_cudnn(peer_list& peers, attention_operands const& x) {
  if (be::rt::dl_device_type != kDLCUDA) return;
  try {
    auto const made = std::make_shared<attention_plan>(x);
    peers.present.push_back({"cudnn", [made] { made->run(); }});
  } catch (std::runtime_error const& reason) { peers.absent.push_back({"cudnn", reason.what()}); }
}

}  // namespace tk::bench
