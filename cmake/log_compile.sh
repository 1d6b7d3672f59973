#!/bin/sh
# SPDX-License-Identifier: MIT
# Compiler launcher of device code: log_compile.sh <compiler> <arguments>. Keeps what the compiler
# says in <object>.log, where .ci/check_device_code looks for spills and notes, and shows it without
# the resources of each kernel. The exit status is the compiler's.
for argument; do
  [ "$previous" = -o ] && log=$argument.log
  previous=$argument
done
[ -n "$log" ] || exec "$@"
"$@" 2>"$log"
status=$?
# ptxas -v: "ptxas info" lines and the line of figures below; clang: remarks, with the includes that
# lead there above and two lines of source below.
awk '/^In file included from / { above = above $0 "\n"; next }
     /remark: .*\[-Rpass-analysis/ { above = ""; below = 2; next }
     below > 0 && /^ *[0-9]* *\|/ { below--; next }
     { printf "%s", above; above = ""; below = 0 }
     /^ptxas info/ && !/\(C7[0-9]*\)/ { next }
     /^ *[0-9]+ bytes stack frame/ { next }
     { print }' "$log" >&2
exit $status
