#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The C interface is what tests/abi/layout.txt recorded, but for what docs/abi.md lets a later version add:
ops, enumerators, fields at the end of a struct, and fields in the places of reserved ones.

  tests/abi/layout.py           the test: names what is gone, has changed or moved, or is not recorded yet,
                                and sees that it would
  tests/abi/layout.py append    records what was added

ops/api/c_headers.py reads the headers; tests/benchmarks/structs.py compares it with the compiler.
"""
import ctypes
import re
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "ops/api"))
from c_headers import c_interface  # noqa: E402

RECORD, COMMAND = ROOT / "tests/abi/layout.txt", "tests/abi/layout.py append"
HEAD = f"# What programs were built against: no line is ever changed by hand. {COMMAND} adds those of what is new.\n"


def layout(interface):
    """{what: value}: "op gemm": "0", "enumerator tk_bias.TK_BIAS_ROW": "1",
    "struct tk_gemm_problem": "72 bytes", "field tk_gemm_problem.a": "8 bytes at 8, DLTensor const*"."""
    found = {f"op {op.name}": str(op.number) for op in interface.ops.values()}
    for enum, values in interface.enums.items():
        found |= {f"enumerator {enum}.{name}": str(value) for name, value in values.items()}
    structs = {op.problem.__name__: op.problem for op in interface.ops.values()} | interface.parts
    for name, struct in structs.items():
        found[f"struct {name}"] = f"{ctypes.sizeof(struct)} bytes"
        for field, kind in struct._fields_:
            found[f"field {name}.{field}"] = (f"{ctypes.sizeof(kind)} bytes at {getattr(struct, field).offset}, "
                                              f"{struct.kinds[field]}")
    return found


def text_of(found):
    return HEAD + "".join(f"{what}: {value}\n" for what, value in found.items())


def recorded(text):
    return dict(line.split(": ") for line in text.splitlines() if not line.startswith("#"))


def place(field, value):
    """A field's struct, and its bytes: ("field tk_gemm_problem", "8 bytes at 8")."""
    return field.split(".")[0], value.split(",")[0]


def is_reserved(what):
    return what.startswith("field ") and what.split(".")[1].startswith("reserved")


def size_of(value):
    return int(value.split()[0]) if value else 0


def broken(old, new):
    """What a program built against the old layout would find otherwise, a sentence each."""
    places = {place(*item) for item in new.items() if item[0].startswith("field ")}
    for what, was in old.items():
        now = new.get(what)
        grown = what.startswith("struct ") and size_of(now) > size_of(was)
        if now == was or grown or (is_reserved(what) and place(what, was) in places):
            continue
        yield f"{what} was {was}, and is {now or 'gone'}"


def misplaced(old, new):
    """What is new, and not where it may be."""
    free = {place(*item) for item in old.items() if is_reserved(item[0])}
    for what, value in new.items():
        if old.get(what) == value or (what in old and not is_reserved(what)):
            continue
        group = re.match(r"\w+( \w+(?=\.))?", what)[0]
        if what.startswith("field "):
            end = size_of(old.get(group.replace("field", "struct")))
            if int(re.search(r" at (\d+)", value)[1]) < end and place(what, value) not in free:
                yield f"{what}, {value}, is new, and not at the end of the struct, which had {end} bytes"
        elif not what.startswith("struct "):
            yield from (f"{what} is {value}, which is the number of {other}" for other, number in old.items()
                        if number == value and re.match(rf"{group}\b", other))


def refusals(old, new):
    return [*misplaced(old, new), *broken(old, new)]


def unrecorded(old, new):
    return [f"{what}, {value}, is not recorded: {COMMAND}" for what, value in new.items() if old.get(what) != value]


HEADER = """
typedef enum tk_way { TK_WAY_UP = 0, TK_WAY_DOWN = 1 } tk_way;
typedef struct tk_thing_problem {
  size_t size;
  float a;
  int reserved;
  int b;
  tk_way c;
} tk_thing_problem;
"""
# An edit of the header or of the list of ops, and the sentence about it; None: it is allowed.
EDITS = (
    ("int b;\n  tk_way c;", "tk_way c;\n  int b;", "field tk_thing_problem.b was 4 bytes at 16, int, and is 4 bytes at 20"),
    ("  int b;", "  int d;\n  int e;\n  int b;", "field tk_thing_problem.d, 4 bytes at 16, int, is new, and not at the end"),
    ("  int b;", "  int d;", "field tk_thing_problem.b was 4 bytes at 16, int, and is gone"),
    ("  int b;", "  float b;", "field tk_thing_problem.b was 4 bytes at 16, int, and is 4 bytes at 16, float"),
    ("  int b;\n  tk_way c;\n", "", "struct tk_thing_problem was 24 bytes, and is 16 bytes"),
    ("int reserved", "double d", "field tk_thing_problem.reserved was 4 bytes at 12, int, and is gone"),
    ("DOWN = 1", "DOWN = 2", "enumerator tk_way.TK_WAY_DOWN was 1, and is 2"),
    (", TK_WAY_DOWN = 1", "", "enumerator tk_way.TK_WAY_DOWN was 1, and is gone"),
    ("= 1 }", "= 1, TK_WAY_FLAT = 1 }", "enumerator tk_way.TK_WAY_FLAT is 1, which is the number of enumerator tk_way."),
    ("tk_op(7", "tk_op(8", "op thing was 7, and is 8"),
    ("= 1 }", "= 1, TK_WAY_LEFT = 2 }", None),
    ("int reserved", "float d", None),
    ("tk_way c;", "tk_way c;\n  int d;\n  int reserved2;", None),
    ("int reserved;\n  int b;\n  tk_way c;", "float d;\n  int b;\n  tk_way c;\n  int e;\n  int reserved;", None),
)


def layout_of(listed, header):
    """Of a tree with one op."""
    with tempfile.TemporaryDirectory() as work:
        for path, text in (("ops/ops.cmake", listed), ("ops/tk_base.h", ""), ("ops/room/thing.h", header)):
            (Path(work) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(work) / path).write_text(text)
        return layout(c_interface(work))


def try_edits():
    listed = "tk_op(7 thing room)\n"
    old = recorded(text_of(layout_of(listed, HEADER)))
    for before, after, sentence in EDITS:
        assert before in listed + HEADER, before
        new = layout_of(listed.replace(before, after), HEADER.replace(before, after))
        said = refusals(old, new)
        assert bool(said) == bool(sentence), f"{after}: {said}"
        assert not sentence or any(sentence in line for line in said), f"{after}: {said}"
        assert sentence or (unrecorded(old, new) and not unrecorded(new, new)), f"{after}: goes unrecorded"


def main():
    new = layout(c_interface())
    old = recorded(RECORD.read_text())
    wrong = refusals(old, new)
    if sys.argv[1:] == ["append"]:
        if not wrong:
            RECORD.write_text(text_of(new))
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        wrong = wrong or unrecorded(old, new)
        try_edits()
    for line in wrong:
        print(line)
    if wrong:
        sys.exit("docs/abi.md says what may change")
    print(f"layout: {len(new)} lines, {len(EDITS)} edits")


main()
