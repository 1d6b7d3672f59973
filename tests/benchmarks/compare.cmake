# SPDX-License-Identifier: MIT
# tk_bench compare: its text on one.json and two.json is that of expected.txt (units suit the numbers,
# spreads are shown, ratios are of rates where the work differs, those of noisy rows are marked, rows of
# --repeat row named), its page is whole and refers to nothing, and files that are none are refused in a
# sentence. BENCH, WORK.
set(here ${CMAKE_CURRENT_LIST_DIR})
file(MAKE_DIRECTORY ${WORK})

function(run)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "STATUS" "ARGUMENTS")
  execute_process(COMMAND ${BENCH} compare ${arg_ARGUMENTS} WORKING_DIRECTORY ${here}
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT status STREQUAL arg_STATUS)
    message(FATAL_ERROR "compare ${arg_ARGUMENTS}: status ${status}\n${output}${errors}")
  endif()
  set(output "${output}" PARENT_SCOPE)
  set(errors "${errors}" PARENT_SCOPE)
endfunction()

run(STATUS 0 ARGUMENTS one.json two.json --html ${WORK}/page.html)
file(READ ${here}/expected.txt expected)
if(NOT output STREQUAL expected)
  file(WRITE ${WORK}/output.txt "${output}")
  message(FATAL_ERROR "the text (${WORK}/output.txt) is not that of expected.txt:\n${output}")
endif()

file(READ ${WORK}/page.html page)
foreach(part "</html>" "<svg " "class=\"roof\"" "file 2: 400 TFLOP/s</title>" "Card &lt;one&gt;"
             "<td class=\"begins\">500</td>")
  string(FIND "${page}" "${part}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "the page lacks ${part}")
  endif()
endforeach()
if(page MATCHES "(src|href)=|url\\(|@import|<script")
  message(FATAL_ERROR "the page refers to something: ${CMAKE_MATCH_0}")
endif()

# What is written, and the sentence that it must give.
set(head [["machine": {"device": "x"}, "arch": "host", "commit": "c", "date": "d"]])
set(row [["suite": "s", "case": "c", "impl": "tk", "dtype": "bf16", "flops": 1, "bytes": 1]])
set(limits [["ceilings": {"copy_bytes_per_s": 1}]])
function(refused content sentence)
  file(WRITE ${WORK}/bad.json "${content}")
  run(STATUS 1 ARGUMENTS one.json ${WORK}/bad.json)
  string(FIND "${errors}" "tk_bench: ${WORK}/bad.json: ${sentence}\n" at)
  if(NOT at EQUAL 0 OR NOT output STREQUAL "")
    message(FATAL_ERROR "for ${content}\nnot '${sentence}' but\n${output}${errors}")
  endif()
endfunction()
refused("{\"rows\": [" "no JSON, at byte 11")
refused("[]" "it holds a array, not an object")
refused("{}" "'machine' is missing")
refused("{\"machine\": {}}" "'device' of machine is missing")
refused("{${head}}" "'ceilings' is missing")
refused("{${head}, ${limits}, \"rows\": 3}" "'rows' is a number, not an array")
refused("{${head}, ${limits}, \"rows\": []}" "it has no rows")
refused("{${head}, ${limits}, \"rows\": [7]}" "rows[0] is a number, not an object")
refused("{${head}, ${limits}, \"rows\": [{${row}}]}" "'ms' of rows[0] is missing")
refused("{${head}, ${limits}, \"rows\": [{${row}, \"ms\": \"1\"}]}"
        "'ms' of rows[0] is a string, not a number")
refused("{${head}, ${limits}, \"rows\": [{${row}, \"ms\": 0}]}"
        "'ms' of rows[0] is 0, not more than zero")
refused("{${head}, ${limits}, \"rows\": [{${row}, \"ms\": 1, \"repeat\": \"col\"}]}"
        "'repeat' of rows[0] is 'col', not run or row")
refused("{${head}, ${limits}, \"rows\": [{${row}, \"ms\": 1}, {${row}, \"ms\": 2}]}"
        "rows[1] is 'tk' in s c once more")
run(STATUS 1 ARGUMENTS absent.json)
if(NOT errors STREQUAL "tk_bench: cannot read absent.json\n")
  message(FATAL_ERROR "${errors}")
endif()
run(STATUS 1 ARGUMENTS one.json --html ${WORK}/absent/page.html)
if(NOT errors STREQUAL "tk_bench: cannot write ${WORK}/absent/page.html\n")
  message(FATAL_ERROR "${errors}")
endif()
