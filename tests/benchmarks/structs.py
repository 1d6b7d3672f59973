# SPDX-License-Identifier: MIT
"""The structs that ops/api/c_headers.py reads from the C headers are those of the compiler: sizes,
offsets of all fields, values of all enumerators, for every op of the list. And what it cannot read
is refused in a sentence.

usage: structs.py WORK COMPILER INCLUDE...
"""
import ctypes
import os
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "ops/api"))
from c_headers import c_interface, listed_ops  # noqa: E402


def structs_of(interface):
    """All structs by name: the ops' problems, and what these point to."""
    problems = [(f"tk_{op.name}_problem", op.problem) for op in interface.ops.values()]
    return problems + list(interface.parts.items())


def program(interface):
    """Prints what the compiler knows, a line each, in the order of expected()."""
    lines = [f'#include "{op.header()}"' for op in interface.ops.values()]
    lines += ["#include <cstdio>", "#include <cstddef>", "int main() {"]
    for name, struct in structs_of(interface):
        lines.append(f'  std::printf("{name} %zu\\n", sizeof({name}));')
        lines += [f'  std::printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), '
                  f'sizeof({name}::{field}));' for field, _ in struct._fields_]
    lines += [f'  std::printf("{x} %d\\n", static_cast<int>({x}));' for x in interface.values]
    return "\n".join(lines + ["}", ""])


def expected(interface):
    lines = []
    for name, struct in structs_of(interface):
        lines.append(f"{name} {ctypes.sizeof(struct)}")
        for field, kind in struct._fields_:
            lines.append(f"{name}.{field} {getattr(struct, field).offset} {ctypes.sizeof(kind)}")
    return lines + [f"{name} {value}" for name, value in interface.values.items()]


def compiled(work, compiler, includes, interface):
    source, binary = os.path.join(work, "structs.cpp"), os.path.join(work, "structs")
    with open(source, "w", encoding="utf-8") as file:
        file.write(program(interface))
    subprocess.run([compiler, source, "-o", binary, *(f"-I{x}" for x in includes)], check=True)
    return subprocess.run([binary], check=True, capture_output=True, text=True).stdout.splitlines()


def refused(work, header, sentence):
    """A tree with one op whose header is `header`."""
    for path, text in (("ops/ops.cmake", "tk_op(7 thing room)\n"), ("ops/tk_base.h", ""),
                       ("ops/room/thing.h", header)):
        path = os.path.join(work, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    try:
        c_interface(work)
    except ValueError as failure:
        assert sentence in str(failure), f"not '{sentence}' but '{failure}'"
        return
    raise AssertionError(f"not refused: {header}")


def main():
    work, compiler, *includes = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    interface = c_interface()
    assert len(interface.ops) == len(listed_ops())
    want, got = expected(interface), compiled(work, compiler, includes, interface)
    for line, other in zip(want, got):
        assert line == other, f"c_headers.py says {line}, the compiler {other}"
    assert len(want) == len(got)
    # A field that the reader skipped would leave a gap or a smaller struct, seen above; an enumerator
    # that it skipped would be missed where a problem names it.
    assert {"TK_REPEAT_ROW", "TK_INTERNAL_ERROR"} <= interface.values.keys()

    def problem(body):
        return f"typedef struct tk_thing_problem {{ {body} }} tk_thing_problem;"

    refused(work, "", "ops/room/thing.h: no typedef struct tk_thing_problem")
    refused(work, problem("size_t size; tk_other kind;"),
            "ops/room/thing.h: tk_thing_problem has a field 'tk_other kind', whose type is none of")
    refused(work, problem("size_t size; int a, b;"), "has a field 'int a, b', whose type")
    refused(work, problem("int64_t shape[3];"), "has a field 'int64_t shape[3]', whose type")
    refused(work, "typedef enum tk_x { TK_A = 1, TK_B } tk_x;" + problem("tk_x kind;"),
            "'TK_B' of tk_x is not of the form NAME = number")
    print(f"structs: {len(interface.ops)} ops, {len(want)} lines")


main()
