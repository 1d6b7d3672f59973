# SPDX-License-Identifier: MIT
from collections import Counter

from torch.overrides import TorchFunctionMode

class Report:
    replaced: Counter[str]
    kept: Counter[tuple[str, str]]
    def __init__(self) -> None: ...

class replacing(Report, TorchFunctionMode):
    def __enter__(self) -> replacing: ...
