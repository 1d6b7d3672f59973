# SPDX-License-Identifier: MIT
# examples/kernel (SOURCE) as its README.md builds it: against tk::core alone, installed from the build
# folder BUILD, of which nothing need have been built. With EMULATE also under ThreadSanitizer, which
# must find nothing, and must find it when the kernel's barrier is taken out.
set(work ${BUILD}/install_test/core)
file(REMOVE_RECURSE ${work})
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT failed STREQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}:\n${output}")
  endif()
endfunction()
function(build source name flags)
  set(options -DCMAKE_PREFIX_PATH=${work}/prefix -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=None
              -DCMAKE_CXX_FLAGS=${flags})
  if(CUDA)
    list(APPEND options -DCMAKE_CUDA_COMPILER=${CUDA} -DCMAKE_CUDA_HOST_COMPILER=${CXX})
  endif()
  step(${CMAKE_COMMAND} -S ${source} -B ${work}/${name} -G ${GENERATOR} ${options})
  step(${CMAKE_COMMAND} --build ${work}/${name})
endfunction()

step(${CMAKE_COMMAND} --install ${BUILD} --component core --prefix ${work}/prefix)
file(GLOB_RECURSE libraries ${work}/prefix/*tk_ops*.so* ${work}/prefix/*tk_ops*.a)
if(libraries)
  message(FATAL_ERROR "component core holds ${libraries}")
endif()
build(${SOURCE} plain -O1)
step(${work}/plain/row_logsumexp)

if(EMULATE)
  build(${SOURCE} checked "-O1 -g1 -fsanitize=thread")
  step(${work}/checked/row_logsumexp)

  file(READ ${SOURCE}/row_logsumexp.cpp text)
  string(REPLACE "c.w.sync();" "" wrong "${text}")
  if(wrong STREQUAL text)
    message(FATAL_ERROR "row_logsumexp.cpp has no c.w.sync() to take out")
  endif()
  file(COPY ${SOURCE}/CMakeLists.txt DESTINATION ${work}/wrong_source)
  file(WRITE ${work}/wrong_source/row_logsumexp.cpp "${wrong}")
  build(${work}/wrong_source wrong "-O1 -g1 -fsanitize=thread")
  execute_process(COMMAND ${work}/wrong/row_logsumexp RESULT_VARIABLE failed OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(failed STREQUAL 0 OR NOT output MATCHES "data race")
    message(FATAL_ERROR "nobody noticed the missing c.w.sync():\n${output}")
  endif()
endif()
