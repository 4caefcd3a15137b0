"""Where a flow stands: in which quotes and lists, and whether an item's marker is still due."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class OpenQuote:
    """A quote that is open."""


@dataclass(slots=True)
class OpenList:
    """A list that is open: the number of its next item, if it counts them."""

    next_number: int | None
    marker_due: bool = False

    @property
    def number(self) -> int | None:
        """Give the number of the item that is open, if they are counted."""
        return None if self.next_number is None else self.next_number - 1

    def marker(self, bullet: str) -> str:
        """Give what stands before the item that is open."""
        return f"{bullet} " if self.number is None else f"{self.number}. "


@dataclass(slots=True)
class Standing:
    """The quotes and lists that are open, outermost first; the part of a flow all chats share."""

    held: list[OpenQuote | OpenList] = field(default_factory=list)

    def open_quote(self) -> None:
        """Begin a quote."""
        self.held.append(OpenQuote())

    def open_list(self, number: int | None = None) -> None:
        """Begin a list, ordered from a number on or of bullets."""
        self.held.append(OpenList(number))

    def close(self) -> None:
        """End the innermost quote or list."""
        self.held.pop()

    def open_item(self) -> None:
        """Begin an item of the innermost list."""
        if inner := self.inner:
            inner.marker_due = True
            inner.next_number = None if inner.next_number is None else inner.next_number + 1

    @property
    def inner(self) -> OpenList | None:
        """Give the innermost that is open, if it is a list."""
        return self.held[-1] if self.held and isinstance(self.held[-1], OpenList) else None

    @property
    def lists(self) -> list[OpenList]:
        """Give the lists that are open."""
        return [held for held in self.held if isinstance(held, OpenList)]

    @property
    def is_quoted(self) -> bool:
        """Say whether a quote is open."""
        return len(self.lists) < len(self.held)

    @property
    def is_marker_due(self) -> bool:
        """Say whether an item has begun of which nothing is written."""
        return bool(self.inner and self.inner.marker_due)
