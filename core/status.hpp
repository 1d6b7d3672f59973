// SPDX-License-Identifier: MIT
// Statuses and the error that carries one. Host code throws `error`; the C interface turns it into
// a tk_status and a sentence. Values equal those of tk_status (asserted where both are known).
#pragma once
#include <stdexcept>
#include <string>

namespace tk {

enum class status : int {
  ok,
  null_pointer,
  bad_struct,
  bad_device,
  bad_type,
  bad_rank,
  bad_shape,
  bad_stride,
  bad_alignment,
  bad_overlap,
  bad_value,
  small_workspace,
  unsupported,
  wrong_chip,
  runtime_error,
  internal_error,
};

class error : public std::runtime_error {
 public:
  error(status code, std::string const& sentence) : std::runtime_error(sentence), code_(code) {}
  status code() const { return code_; }

 private:
  status code_;
};

}  // namespace tk
