// SPDX-License-Identifier: MIT
// See binding.hpp. Libraries are loaded while the program runs, one for each kind of device; a call
// goes to that of its first tensor's. Device libraries launch on the stream that the tensors'
// framework has said is its own. XLA has buffers alone, in a row: `plan` says what they are. Of a
// call from PyTorch `launch` takes the fields that are given, and sees views in tensors as they
// are: both cost it more than the call.
#include "python/binding.hpp"

#include <dlfcn.h>
#include <tvm/ffi/extra/c_env_api.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "ops/tk_base.h"
#include "ops/tk_op.h"
#include "python/filled_problem.hpp"

namespace tk::python {
namespace {

using launcher = tk_status (*)(void const*, void*, std::size_t, void*);
struct library {
  decltype(&tk_workspace) workspace;
  decltype(&tk_last_error) last_error;
  decltype(&tk_version) version;
  std::vector<launcher> launch;  // null: it was built without the op
};
std::array<std::atomic<library const*>, 64> libraries;  // by DLDeviceType; never unloaded
std::array<std::string, 64> reasons;  // why there is none, as it was said before any call

// Python's exception for a status.
char const* kind_of(tk_status status) {
  switch (status) {
    case TK_BAD_TYPE: return "TypeError";
    case TK_UNSUPPORTED: return "NotImplementedError";
    case TK_WRONG_CHIP:
    case TK_RUNTIME_ERROR:
    case TK_INTERNAL_ERROR: return "RuntimeError";
    default: return "ValueError";
  }
}

std::optional<std::string> string_of(TVMFFIAny const& x) {
  if (x.type_index == kTVMFFIRawStr) return x.v_c_str;
  if (x.type_index != kTVMFFIStr && x.type_index != kTVMFFISmallStr) return std::nullopt;
  auto const y = x.type_index == kTVMFFIStr ? *TVMFFIBytesGetByteArrayPtr(x.v_obj)
                                            : TVMFFISmallBytesGetContentByteArray(&x);
  return std::string(y.data, y.size);
}

// This thread's memory on the CPU, whose counters every launch leaves 0. Null: there is none.
void* host_workspace(std::size_t bytes) {
  static thread_local std::unique_ptr<void, decltype(&std::free)> memory{nullptr, &std::free};
  static thread_local std::size_t size = 0;
  if (size < bytes) {
    memory.reset(), size = 0;
    bytes = (bytes + 63) / 64 * 64;
    memory.reset(std::aligned_alloc(64, bytes));
    if (!memory) return nullptr;
    std::memset(memory.get(), 0, bytes < TK_COUNTER_BYTES ? bytes : TK_COUNTER_BYTES);
    size = bytes;
  }
  return memory.get();
}

bool is_kind(std::int64_t device) {
  return device >= 0 && device < static_cast<std::int64_t>(libraries.size());
}

std::string reason_of(int device) {
  if (!is_kind(device) || reasons[static_cast<std::size_t>(device)].empty()) return "";
  return ": " + reasons[static_cast<std::size_t>(device)];
}

// The library of the tensors' device; an exception where there is none.
library const* library_of(op const& of, filled_problem const& problem) {
  if (!problem.first) {
    raise("ValueError", std::string(of.name) + ": no tensor is given");
    return nullptr;
  }
  int const device = problem.first->device.device_type;
  auto const* const found =
      is_kind(device) ? libraries[static_cast<std::size_t>(device)].load() : nullptr;
  if (!found)
    raise("RuntimeError", std::string(of.name) +
                              ": no library is loaded for tensors of device type " +
                              std::to_string(device) + " (DLPack's number)" + reason_of(device));
  return found;
}

// The bytes of workspace; an exception where the problem is refused, as the op would say it.
bool need(op const& of, library const& at, filled_problem& problem, std::size_t& bytes) {
  auto const status = at.workspace(static_cast<tk_op>(of.number), problem.data(), &bytes);
  if (status == TK_OK) return true;
  std::string said = at.last_error();
  if (std::string const asked = "tk_workspace"; said.starts_with(asked))
    said.replace(0, asked.size(), std::string("tk_") + of.name);
  raise(kind_of(status), said);
  return false;
}

bool check_count(op const& of, int count, int wanted) {
  if (count == wanted) return true;
  raise("TypeError", std::string(of.name) + " takes " + std::to_string(wanted) +
                         " arguments, not " + std::to_string(count));
  return false;
}

}  // namespace

namespace {

// Launches an op; None or an exception.
int launch(op const& of, filled_problem& problem, TVMFFIAny const& given, TVMFFIAny* result) {
  auto const* const at = library_of(of, problem);
  if (!at) return -1;
  auto const launch = at->launch[static_cast<std::size_t>(&of - ops)];
  if (!launch)
    return raise("NotImplementedError", std::string("the library was built without ") + of.name);

  std::size_t bytes = 0;
  if (!need(of, *at, problem, bytes)) return -1;
  void *workspace = nullptr, *stream = nullptr;
  auto const device = problem.first->device;
  if (given.type_index != kTVMFFINone) {
    auto const* const memory = tensor_of(given);
    if (!memory || memory->ndim != 1 || memory->dtype.bits != 8)
      return raise("TypeError", "workspace must be a tensor of bytes, of one dimension");
    workspace = static_cast<char*>(memory->data) + memory->byte_offset;
    bytes = static_cast<std::size_t>(memory->shape[0]);
  } else if (bytes > 0) {
    if (device.device_type != kDLCPU)
      return raise("ValueError", std::string(of.name) + ": workspace must be given, " +
                                     std::to_string(bytes) + " bytes on the device, once set to 0");
    workspace = host_workspace(bytes);
    if (!workspace) return raise("MemoryError", "no memory for a workspace");
  }
  if (device.device_type != kDLCPU)
    stream = TVMFFIEnvGetStream(device.device_type, device.device_id);
  if (auto const status = launch(problem.data(), workspace, bytes, stream))
    return raise(kind_of(status), at->last_error());
  result->type_index = kTVMFFINone;
  return 0;
}

}  // namespace

int call(int place, TVMFFIAny const* args, int count, TVMFFIAny* result) {
  op const& of = ops[place];
  filled_problem problem(of);
  if (!check_count(of, count, of.count + 1) || !problem.take(args)) return -1;
  return launch(of, problem, args[of.count], result);
}

namespace {

// The op at a place; an exception where there is none.
op const* op_at(std::int64_t place) {
  if (place >= 0 && place < op_count) return ops + place;
  raise("ValueError", "there is no such op");
  return nullptr;
}
op const* op_at(TVMFFIAny const& x) { return op_at(x.type_index == kTVMFFIInt ? x.v_int64 : -1); }

int bytes_of(op const& of, filled_problem& problem, TVMFFIAny* result) {
  auto const* const at = library_of(of, problem);
  std::size_t bytes = 0;
  if (!at || !need(of, *at, problem, bytes)) return -1;
  result->type_index = kTVMFFIInt;
  result->v_int64 = static_cast<std::int64_t>(bytes);
  return 0;
}

// workspace_bytes(op's place, fields...): what the op needs.
int workspace_bytes(TVMFFIAny const* args, int count, TVMFFIAny* result) {
  if (count < 1) return raise("TypeError", "workspace_bytes takes an op");
  op const* const of = op_at(args[0]);
  if (!of) return -1;
  filled_problem problem(*of);
  if (!check_count(*of, count - 1, of->count) || !problem.take(args + 1)) return -1;
  return bytes_of(*of, problem, result);
}

// load(path): the library is that of its kind of device from then on. Its version.
int load(TVMFFIAny const* args, int count, TVMFFIAny* result) {
  auto const path = count == 1 ? string_of(args[0]) : std::nullopt;
  if (!path) return raise("TypeError", "load takes the path of a library");
  void* const handle = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return raise("OSError", dlerror());
  auto const find = [&]<class F>(F*& f, std::string const& name) {
    f = reinterpret_cast<F*>(dlsym(handle, name.c_str()));
    return f != nullptr;
  };
  auto made = std::make_unique<library>();
  int (*device_type)() = nullptr;
  if (!find(made->workspace, "tk_workspace") || !find(made->last_error, "tk_last_error") ||
      !find(made->version, "tk_version") || !find(device_type, "tk_device_type"))
    return raise("OSError", *path + " is no libtk_ops");
  made->launch.resize(static_cast<std::size_t>(op_count));
  for (int i = 0; i < op_count; ++i)
    find(made->launch[static_cast<std::size_t>(i)], std::string("tk_") + ops[i].name);
  int const device = device_type();
  if (!is_kind(device)) return raise("OSError", "a library of an unknown kind of device");
  char const* const version = made->version();
  libraries[static_cast<std::size_t>(device)] =
      made.release();  // calls may be on their way to the last one
  TVMFFIByteArray const text{version, std::strlen(version)};
  return TVMFFIStringFromByteArray(&text, result);
}

// none_because(DLDeviceType, sentence): why no library is loaded for it.
int none_because(TVMFFIAny const* args, int count, TVMFFIAny* result) {
  auto const sentence = count == 2 ? string_of(args[1]) : std::nullopt;
  if (!sentence || args[0].type_index != kTVMFFIInt || !is_kind(args[0].v_int64))
    return raise("TypeError", "none_because takes a kind of device and a sentence");
  reasons[static_cast<std::size_t>(args[0].v_int64)] = *sentence;
  result->type_index = kTVMFFINone;
  return 0;
}

// ---- calls that give some fields ----------------------------------------------------------------
// Which these are says a shape: the op's place, whether its tensors are seen as matrices, and the
// fields' places. The op; null: an exception is set.
op const* op_of_some(TVMFFIAny const* args, int count, int others) {
  auto const* const said = count > 0 && args[0].type_index == kTVMFFIShape
                               ? TVMFFIShapeGetCellPtr(args[0].v_obj)
                               : nullptr;
  if (!said || said->size < 2 || static_cast<int>(said->size) - 1 + others != count) {
    raise("TypeError", "a shape must say which fields are given");
    return nullptr;
  }
  op const* const of = op_at(said->data[0]);
  for (std::size_t i = 2; of && i < said->size; ++i)
    if (said->data[i] < 0 || said->data[i] >= of->count) {
      raise("ValueError", std::string(of->name) + ": there is no such field");
      return nullptr;
    }
  return of;
}

bool take_some(TVMFFIAny const& shape, TVMFFIAny const* fields, op const& of,
               filled_problem& problem) {
  auto const* const said = TVMFFIShapeGetCellPtr(shape.v_obj);
  for (std::size_t i = 2; i < said->size; ++i)
    if (!problem.take(of.fields[said->data[i]], fields[i - 2], said->data[1] != 0)) return false;
  return true;
}

// launch(shape, workspace, fields...)
int launch_some(TVMFFIAny const* args, int count, TVMFFIAny* result) {
  op const* const of = op_of_some(args, count, 1);
  if (!of) return -1;
  filled_problem problem(*of);
  return take_some(args[0], args + 2, *of, problem) ? launch(*of, problem, args[1], result) : -1;
}

// result_of(shape, workspace, fields...): launch, whose last field is a result, not given: a new
// tensor like the first one, which comes back. None, and nothing is launched, where a tensor is not
// contiguous or has no dimension.
int result_of_some(TVMFFIAny const* args, int count, TVMFFIAny* result) {
  op const* const of = op_of_some(args, count, 0);
  if (!of) return -1;
  result->type_index = kTVMFFINone;
  DLTensor const* like = nullptr;
  for (int i = 2; i < count; ++i)
    if (auto const* const x = tensor_of(args[i])) {
      if (x->ndim == 0 || !is_contiguous(*x)) return 0;
      if (!like) like = x;
    }
  if (!like) return raise("ValueError", std::string(of->name) + ": no tensor is given");
  DLTensor prototype = *like;
  TVMFFIObjectHandle made = nullptr;
  if (TVMFFIEnvTensorAlloc(&prototype, &made)) return -1;
  std::vector<TVMFFIAny> fields(args + 2, args + count);
  fields.emplace_back().type_index = kTVMFFITensor;
  fields.back().v_obj = static_cast<TVMFFIObject*>(made);
  filled_problem problem(*of);
  if (!take_some(args[0], fields.data(), *of, problem) || launch(*of, problem, args[1], result)) {
    TVMFFIObjectDecRef(made);
    return -1;
  }
  *result = fields.back();
  return 0;
}

// bytes_of(shape, fields...): those of the workspace.
int bytes_of_some(TVMFFIAny const* args, int count, TVMFFIAny* result) {
  op const* const of = op_of_some(args, count, 0);
  if (!of) return -1;
  filled_problem problem(*of);
  return take_some(args[0], args + 1, *of, problem) ? bytes_of(*of, problem, result) : -1;
}

// ---- calls whose tensors are buffers in a row ---------------------------------------------------
// The arguments of an op's function, where a tensor, or the workspace, is the number of its buffer.
struct plan {
  int place;
  std::vector<TVMFFIAny> arguments;
};
std::shared_mutex plans_mutex;
std::unordered_map<std::string, plan> plans;  // none is ever removed

// Buffers in the place of their numbers; an exception where there is no such buffer.
bool put_buffers(op const& of, std::vector<TVMFFIAny>& arguments, TVMFFIAny const* buffers,
                 int count) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    bool const is_workspace = static_cast<int>(i) == of.count;
    TVMFFIAny& x = arguments[i];
    if ((!is_workspace && of.fields[i].is != field::tensor) || x.type_index == kTVMFFINone)
      continue;
    if (x.type_index != kTVMFFIInt || x.v_int64 < 0 || x.v_int64 >= count) {
      raise("ValueError", std::string(of.name) + ": there is no buffer for " +
                              (is_workspace ? "workspace" : of.fields[i].name));
      return false;
    }
    x = buffers[x.v_int64];
  }
  return true;
}

// plan(name, op's place, fields and workspace...)
int keep_plan(TVMFFIAny const* args, int count, TVMFFIAny* result) {
  auto const name = count < 2 ? std::nullopt : string_of(args[0]);
  if (!name) return raise("TypeError", "plan takes a name, an op, and its arguments");
  op const* const of = op_at(args[1]);
  if (!of || !check_count(*of, count - 2, of->count + 1)) return -1;
  for (int i = 2; i < count; ++i)
    if (args[i].type_index != kTVMFFINone && args[i].type_index != kTVMFFIInt &&
        args[i].type_index != kTVMFFIBool && args[i].type_index != kTVMFFIFloat)
      return raise("TypeError", "a plan is made of numbers");
  std::unique_lock const lock(plans_mutex);
  plans.try_emplace(*name, static_cast<int>(args[1].v_int64),
                    std::vector<TVMFFIAny>(args + 2, args + count));
  result->type_index = kTVMFFINone;
  return 0;
}

// run(plan's name, buffers...); on the CPU a call has its own workspace.
int run(TVMFFIAny const* args, int count, TVMFFIAny* result) {
  auto const name = count < 1 ? std::nullopt : string_of(args[0]);
  plan const* found = nullptr;
  if (name) {
    std::shared_lock const lock(plans_mutex);
    if (auto const at = plans.find(*name); at != plans.end()) found = &at->second;
  }
  if (!found)
    return raise("RuntimeError", "this process has not traced the call that a program makes");
  op const& of = ops[found->place];
  auto arguments = found->arguments;
  if (!put_buffers(of, arguments, args + 1, count - 1)) return -1;
  auto const* const first = count > 1 ? tensor_of(args[1]) : nullptr;
  if (first && first->device.device_type == kDLCPU) arguments.back() = {};
  return call(found->place, arguments.data(), static_cast<int>(arguments.size()), result);
}

// bytes_of_shapes(op's place, DLDeviceType, fields..., shape and type of each buffer...): those of
// the workspace, for buffers that are not made yet.
int bytes_of_shapes(TVMFFIAny const* args, int count, TVMFFIAny* result) {
  if (count < 2 || args[1].type_index != kTVMFFIInt)
    return raise("TypeError", "bytes_of_shapes takes an op and a kind of device");
  op const* const of = op_at(args[0]);
  if (!of) return -1;
  int const begin = 2 + of->count, buffers = (count - begin) / 2;
  if (count < begin || count != begin + 2 * buffers)
    return raise("TypeError", std::string(of->name) + " has other fields");
  std::vector<DLTensor> tensors(static_cast<std::size_t>(buffers));
  std::vector<TVMFFIAny> pointers(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    TVMFFIAny const *const shape = args + begin + 2 * i, *const type = shape + 1;
    if (shape->type_index != kTVMFFIShape || type->type_index != kTVMFFIDataType)
      return raise("TypeError", "a buffer is said by its shape and type");
    auto const* const sizes = TVMFFIShapeGetCellPtr(shape->v_obj);
    DLTensor& tensor = tensors[i];
    tensor.data = reinterpret_cast<void*>((i + 1) << 40);  // memory of its own; it is not read
    tensor.device = {static_cast<DLDeviceType>(args[1].v_int64), 0};
    tensor.ndim = static_cast<int>(sizes->size);
    tensor.dtype = type->v_dtype;
    tensor.shape = const_cast<std::int64_t*>(sizes->data);
    pointers[i].type_index = kTVMFFIDLTensorPtr;
    pointers[i].v_ptr = &tensor;
  }
  std::vector<TVMFFIAny> arguments(args + 2, args + begin);
  if (!put_buffers(*of, arguments, pointers.data(), buffers)) return -1;
  arguments.insert(arguments.begin(), args[0]);
  return workspace_bytes(arguments.data(), static_cast<int>(arguments.size()), result);
}

}  // namespace
}  // namespace tk::python

#define TK_PYTHON_FUNCTION(NAME, ...)                                     \
  extern "C" __attribute__((visibility("default"))) int __tvm_ffi_##NAME( \
      void*, TVMFFIAny const* args, int count, TVMFFIAny* result) {       \
    return __VA_ARGS__;                                                   \
  }
TK_PYTHON_FUNCTION(load, tk::python::load(args, count, result))
TK_PYTHON_FUNCTION(none_because, tk::python::none_because(args, count, result))
TK_PYTHON_FUNCTION(workspace_bytes, tk::python::workspace_bytes(args, count, result))
TK_PYTHON_FUNCTION(launch, tk::python::launch_some(args, count, result))
TK_PYTHON_FUNCTION(result_of, tk::python::result_of_some(args, count, result))
TK_PYTHON_FUNCTION(bytes_of, tk::python::bytes_of_some(args, count, result))
TK_PYTHON_FUNCTION(plan, tk::python::keep_plan(args, count, result))
TK_PYTHON_FUNCTION(run, tk::python::run(args, count, result))
TK_PYTHON_FUNCTION(bytes_of_shapes, tk::python::bytes_of_shapes(args, count, result))

#include "python/functions.inc"
