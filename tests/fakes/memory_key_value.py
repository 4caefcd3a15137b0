"""An in-memory key-value store."""

import time
from collections.abc import Callable, Mapping


class MemoryKeyValueStore:
    """Texts in a dictionary, the most recently written ones last."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._texts: dict[tuple[str, str], str] = {}
        self._noted_at: dict[tuple[str, str], float] = {}
        self._clock = clock

    async def check_writable(self) -> None:
        pass

    async def put(self, kind: str, name: str, text: str) -> None:
        self._texts.pop((kind, name), None)
        self._texts[kind, name] = text
        self._noted_at[kind, name] = self._clock()

    async def put_if_absent(self, kind: str, name: str, text: str) -> str:
        if (kind, name) not in self._texts:
            await self.put(kind, name, text)
        return self._texts[kind, name]

    async def mark_once(self, kind: str, name: str, seconds: float) -> bool:
        before = self._noted_at.get((kind, name))
        if before is not None and self._clock() - before < seconds:
            return False
        await self.put(kind, name, "")
        return True

    async def read(self, kind: str, name: str) -> str | None:
        return self._texts.get((kind, name))

    async def list_texts(self, kind: str, start: str = "") -> Mapping[str, str]:
        return {name: self._texts[kind, name] for name in self._names(kind, start)}

    async def pop(self, kind: str, name: str) -> str | None:
        self._noted_at.pop((kind, name), None)
        return self._texts.pop((kind, name), None)

    async def delete(self, kind: str, start: str) -> None:
        for name in self._names(kind, start):
            await self.pop(kind, name)

    async def prune(self, kind: str, most: int) -> None:
        names = self._names(kind, "")
        for name in names[: max(0, len(names) - most)]:
            await self.pop(kind, name)

    def _names(self, kind: str, start: str) -> list[str]:
        return [name for of, name in self._texts if of == kind and name.startswith(start)]
