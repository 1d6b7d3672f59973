# SPDX-License-Identifier: MIT
import os
from typing import Any

from ._functions import *

libraries: dict[str, str]

def load_library(path: str | os.PathLike[str]) -> None: ...
def workspace_bytes(op: str, **fields: Any) -> int: ...
