# SPDX-License-Identifier: MIT
# What is made from the list of ops (ops/ops.cmake). The cache variable TK_OPS chooses: "all", or names; the
# ops that those are built of come along, and those of the same folder. For an op <name> in ops/<folder>/ there are
#   ops/<folder>/<name>.h          its C interface: tk_<name>(), tk_<name>_problem
#   ops/<folder>/<name>_call.hpp   its C++ interface
#   ops/<folder>/<name>.cmake      its instances: tk_instance(<file> <header> <type>), and those without kernels of
#                                  their own, tk_host_instance(<file> <header> <type>); the ops that it is built of:
#                                  tk_op_uses(<name>...)
#   ops/<folder>/*.cpp             its checks and its launch
# Sets
#   tk_ops           the names built, tk_op_folders their folders, tk_op_<name>_folder
#   tk_ops_sources   plain C++ of the library, and so are tk_host_instances; tk_instances, device code, and of
#                    these tk_untested_instances, of ops that are not among TK_TEST_OPS
# and makes, under tk_generated (an include folder), ops/tk_op.h, tk_ops.h, tk_ops.hpp and
# tk_op_list.hpp.
include_guard()
set(TK_OPS all CACHE STRING "ops to build: all, or some of those in ops/ops.cmake")
set(tk_generated ${PROJECT_BINARY_DIR}/generated)

set(tk_known_ops "")
macro(tk_op number name folder)
  if(NOT "${number}" MATCHES "^[0-9]+$" OR "${number}" IN_LIST tk_op_numbers_seen)
    tk_stop("ops/ops.cmake: the number ${number} of ${name} is none, or another op's.")
  endif()
  list(APPEND tk_op_numbers_seen ${number})
  list(APPEND tk_known_ops ${name})
  set(tk_op_${name}_number ${number})
  set(tk_op_${name}_folder ${folder})
  set(tk_op_${name}_uses "")
  set(tk_op_${name}_instances "")
  set(tk_op_${name}_host_instances "")
endmacro()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ops/ops.cmake)
include(${PROJECT_SOURCE_DIR}/ops/ops.cmake)

# A source file of its own for each instance, so that they compile in parallel.
macro(tk_instance_of list name header type)
  set(file ${PROJECT_BINARY_DIR}/instances/${name}.cpp)
  file(CONFIGURE OUTPUT ${file} CONTENT "#include \"${header}\"\ntemplate struct ${type};\n")
  list(APPEND tk_op_${tk_this_op}_${list} ${file})
endmacro()
macro(tk_instance)
  tk_instance_of(instances ${ARGV})
endmacro()
macro(tk_host_instance)
  tk_instance_of(host_instances ${ARGV})
endmacro()
macro(tk_op_uses)
  list(APPEND tk_op_${tk_this_op}_uses ${ARGN})
endmacro()
foreach(tk_this_op ${tk_known_ops})
  include(${PROJECT_SOURCE_DIR}/ops/${tk_op_${tk_this_op}_folder}/${tk_this_op}.cmake)
endforeach()

# ---- the ops chosen, and what they are built of, in the list's order
if(TK_OPS STREQUAL all)
  set(tk_wanted ${tk_known_ops})
else()
  set(tk_wanted ${TK_OPS})
endif()
set(tk_chosen "")
while(tk_wanted)
  list(POP_FRONT tk_wanted name)
  if(NOT name IN_LIST tk_known_ops)
    list(JOIN tk_known_ops ", " known)
    tk_stop("TK_OPS: no op is called ${name}; there are ${known}, or all.")
  endif()
  if(NOT name IN_LIST tk_chosen)
    list(APPEND tk_chosen ${name})
    list(APPEND tk_wanted ${tk_op_${name}_uses})
    foreach(other ${tk_known_ops})
      if(tk_op_${other}_folder STREQUAL tk_op_${name}_folder)
        list(APPEND tk_wanted ${other})
      endif()
    endforeach()
  endif()
endwhile()
set(tk_ops "")
foreach(name ${tk_known_ops})
  if(name IN_LIST tk_chosen)
    list(APPEND tk_ops ${name})
  endif()
endforeach()
if(NOT tk_ops)
  tk_stop("TK_OPS names no op.")
endif()

# ---- sources and headers
set(tk_instances "")
set(tk_untested_instances "")
set(tk_host_instances "")
set(tk_op_folders "")
set(tk_op_headers "")
set(tk_op_call_headers "")
set(tk_op_numbers "")
set(tk_op_list "")
set(tk_tested_folders "")  # empty: those of all
foreach(name ${TK_TEST_OPS})
  list(APPEND tk_tested_folders ${tk_op_${name}_folder})
endforeach()
foreach(name ${tk_ops})
  set(folder ${tk_op_${name}_folder})
  if(tk_tested_folders AND NOT folder IN_LIST tk_tested_folders)
    list(APPEND tk_untested_instances ${tk_op_${name}_instances})
  endif()
  string(TOUPPER ${name} upper)
  list(APPEND tk_instances ${tk_op_${name}_instances})
  list(APPEND tk_host_instances ${tk_op_${name}_host_instances})
  list(APPEND tk_op_folders ${folder})
  string(APPEND tk_op_headers "#include \"ops/${folder}/${name}.h\"\n")
  string(APPEND tk_op_call_headers "#include \"ops/${folder}/${name}_call.hpp\"\n")
  string(APPEND tk_op_numbers ",\n  TK_OP_${upper} = ${tk_op_${name}_number}")
  string(APPEND tk_op_list " \\\n  X(${tk_op_${name}_number}, ${name}, TK_OP_${upper})")
endforeach()
string(SUBSTRING "${tk_op_numbers}" 2 -1 tk_op_numbers)
list(REMOVE_DUPLICATES tk_op_folders)
foreach(header tk_op.h tk_ops.h tk_ops.hpp)
  configure_file(${PROJECT_SOURCE_DIR}/ops/${header}.in ${tk_generated}/ops/${header} @ONLY)
endforeach()
file(CONFIGURE OUTPUT ${tk_generated}/ops/tk_op_list.hpp @ONLY CONTENT
"// SPDX-License-Identifier: MIT
// X(number, name, enumerator) for each op of this library. Made by CMake from ops/ops.cmake.
#pragma once
#define TK_FOR_EACH_OP(X)@tk_op_list@
")
list(TRANSFORM tk_op_folders PREPEND ${PROJECT_SOURCE_DIR}/ops/ OUTPUT_VARIABLE folders)
list(TRANSFORM folders APPEND /*.cpp)
file(GLOB tk_ops_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/ops/api/*.cpp ${folders})
