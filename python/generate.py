# SPDX-License-Identifier: MIT
"""What the Python package has for each op, from the C headers: generate.py OUT
writes OUT/functions.inc, for binding.cpp, and OUT/_functions.py, for the package.
"""
import os
import re
import sys
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "ops/api"))
from c_headers import c_interface  # noqa: E402

KINDS = {"int": "of_32_bits", "int32_t": "of_32_bits", "uint32_t": "of_32_bits", "unsigned": "of_32_bits",
         "int64_t": "of_64_bits", "uint64_t": "of_64_bits", "float": "number", "DLTensor const*": "tensor"}
TYPES = {"of_32_bits": "int", "of_64_bits": "int", "number": "float", "tensor": "Tensor"}


def class_name(enum):
    """tk_norm_kind is NormKind."""
    return "".join(word.capitalize() for word in enum.split("_")[1:])


class field:
    def __init__(self, interface, struct, name, of_options):
        self.c_type = struct.kinds[name]
        self.name, self.of_options, self.struct = name, of_options, struct.__name__
        self.enum = class_name(self.c_type) if self.c_type in interface.enums else None
        self.kind = "of_32_bits" if self.enum else KINDS[self.c_type]

    def parameter(self):
        if self.kind == "tensor":
            return f"{self.name}: Tensor = None"
        return f"{self.name}: {self.enum or TYPES[self.kind]} = {'0.0' if self.kind == 'number' else '0'}"


def is_said(name):
    """Whether a caller says what the field is."""
    return name != "size" and not name.startswith("reserved")


def fields_of(interface, op):
    """The fields of an op's problem, and those of the options that it points to."""
    fields = []
    for name in filter(is_said, op.problem.kinds):
        part = re.fullmatch(r"(tk_\w+_options) const\*", op.problem.kinds[name])
        if part:
            options = interface.parts[part[1]]
            fields += [field(interface, options, x, True) for x in filter(is_said, options.kinds)]
        else:
            fields.append(field(interface, op.problem, name, False))
    return fields


def options_of(op):
    """The field that points to options, and their struct; or None twice."""
    found = [(name, re.sub(r" const\*$", "", kind)) for name, kind in op.problem.kinds.items()
             if kind.endswith("_options const*")]
    return found[0] if found else (None, None)


def plain_comment_of(op):
    """What the header says of the op."""
    with open(os.path.join(ROOT, op.header()), encoding="utf-8") as file:
        text = file.read()
    before = text[:text.index(f"typedef struct tk_{op.name}_problem")]
    said = re.findall(r"/\*(.*?)\*/", before, re.DOTALL)[-1]
    return "\n".join(re.sub(r"^ \* ?", "", line) for line in said.splitlines()).strip()


def comment_of(op):
    """The same as a docstring's lines."""
    return plain_comment_of(op).replace("\\", "\\\\").replace('"""', "'''")


def comments_of_fields(op):
    """What the header says beside fields."""
    with open(os.path.join(ROOT, op.header()), encoding="utf-8") as file:
        text = file.read()
    body = text[text.index(f"typedef struct tk_{op.name}_problem"):]
    return dict(re.findall(r"(\w+);[ \t]*/\*\s*(.*?)\s*\*/", body[:body.index("}")]))


def c_source(interface):
    yield "// SPDX-License-Identifier: MIT"
    yield "// Made by python/generate.py from the C headers."
    for op in interface.ops.values():
        yield f'#include "{op.header()}"'
    yield "\nnamespace tk::python {\nnamespace {"
    for op in interface.ops.values():
        yield f"field const {op.name}_fields[] = {{"
        for f in fields_of(interface, op):
            yield (f'    {{"{f.name}", field::{f.kind}, offsetof({f.struct}, {f.name}), '
                   f"{'true' if f.of_options else 'false'}}},")
        yield "};"
        for struct in filter(None, (f"tk_{op.name}_problem", options_of(op)[1])):
            yield f"static_assert(sizeof({struct}) <= largest_problem);"
    yield "}  // namespace\nop const ops[] = {"
    for op in interface.ops.values():
        pointer, options = options_of(op)
        size, at = (f"sizeof({options})", f"offsetof(tk_{op.name}_problem, {pointer})") if pointer else (0, 0)
        yield (f'    {{"{op.name}", {op.number}, sizeof(tk_{op.name}_problem), {size}, {at}, {op.name}_fields,\n'
               f"     {len(fields_of(interface, op))}}},")
    yield "};\nint const op_count = sizeof ops / sizeof ops[0];\n}  // namespace tk::python\n"
    for place, name in enumerate(interface.ops):
        yield f"TK_PYTHON_FUNCTION({name}, tk::python::call({place}, args, count, result))"


def enumerator(prefix, name):
    """TK_NORM_RMS of tk_norm_kind is RMS; what would not be a name keeps a word of its prefix."""
    short = name[len(prefix):]
    return short if short.isidentifier() else prefix.split("_")[-2] + "_" + short


def python_source(interface):
    yield "# SPDX-License-Identifier: MIT"
    yield '"""The functions of the C interface, made by python/generate.py from its headers."""'
    yield "import enum\n\nfrom ._binding import Tensor, function\n"
    used = {f.c_type for op in interface.ops.values() for f in fields_of(interface, op) if f.enum}
    names = [*map(class_name, sorted(used)), *interface.ops]
    yield "__all__ = [\n" + textwrap.fill(", ".join(f'"{x}"' for x in names), 110,
                                            initial_indent="    ", subsequent_indent="    ") + "]\n"
    for name in sorted(used):
        values = interface.enums[name]
        prefix = os.path.commonprefix(list(values))
        prefix = prefix[:prefix.rindex("_") + 1]
        yield f"\nclass {class_name(name)}(enum.IntEnum):"
        for key, value in values.items():
            yield f"    {enumerator(prefix, key)} = {value}"
        yield ""
    for place, op in enumerate(interface.ops.values()):
        fields = fields_of(interface, op)
        said = comments_of_fields(op)
        parameters = ["*", *(f.parameter() for f in fields), "workspace: Tensor = None"]
        yield "\n" + textwrap.fill(f"_{op.name} = function({place}, \"{op.name}\", "
                                    f"({', '.join(f'{chr(34)}{f.name}{chr(34)}' for f in fields)}))", 110,
                                    subsequent_indent="    ") + "\n\n"
        yield f"def {op.name}(" + f",\n{' ' * (len(op.name) + 5)}".join(parameters) + ") -> None:"
        yield '    """' + textwrap.indent(comment_of(op), "    ").strip()
        if any(f.name in said for f in fields):
            yield ""
            for f in fields:
                if f.name in said:
                    yield f"    {f.name}: {said[f.name]}".replace("\\", "\\\\")
        yield '    """'
        yield textwrap.fill(f"_{op.name}(" + ", ".join([*(f.name for f in fields), "workspace"]) + ")", 110,
                            initial_indent="    ", subsequent_indent="        ", break_long_words=False)
        yield ""


def main(out):
    interface = c_interface()
    os.makedirs(out, exist_ok=True)
    for name, lines in (("functions.inc", c_source(interface)), ("_functions.py", python_source(interface))):
        with open(os.path.join(out, name), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
