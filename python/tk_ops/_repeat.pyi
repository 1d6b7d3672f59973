# SPDX-License-Identifier: MIT
from types import TracebackType
from typing import Literal

class repeat:
    def __init__(self, kind: Literal["run", "row"]) -> None: ...
    def __enter__(self) -> repeat: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None: ...
