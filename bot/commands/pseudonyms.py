"""Pseudonyms: people of a thread are Person 1, Person 2 to models.

Pure; `bot/render/people.py` has the way back. Chats write a mention as `mention(id)`, so that it is
replaced exactly. Names in plain text are replaced as whole words, as they are spelled.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from unicodedata import east_asian_width

from bot.chat import Asker
from bot.render.people import PSEUDONYM
from council.people import Person

_START, _END = "\ue000", "\ue001"  # private use: clean texts have none
_MARKS = re.compile(f"[{_START}{_END}]")
_MENTION = re.compile(f"{_START}([^{_START}{_END}]*){_END}")
_MIN_LETTERS = 2  # of a name that is looked for in plain text
_MIN_PART_LETTERS = 3  # of "Ada" in "Ada Lovelace"


def mention(id_: str) -> str:
    """Return the mark of a mention of somebody in a text; see `without_marks`."""
    return f"{_START}{id_}{_END}"


def without_marks(text: str) -> str:
    """Return a text as somebody wrote it without what would look like a mark."""
    return _MARKS.sub("", text)


def mentioned_ids(text: str) -> list[str]:
    """Return the ids of those whom a text mentions, in order."""
    return _MENTION.findall(text)


class Pseudonyms:
    """The numbers of people, and the texts in which they stand for their names.

    Each of `authors` gets a number, in order; the people in `known` keep theirs. A number that
    `texts` already have ("Person 1" as somebody wrote it) is left out. What is in `reserved`, such
    as the name of a model, means that, even if a person is called so. `others` are the names of
    what is no person, by id.
    """

    def __init__(
        self,
        authors: Sequence[Asker],
        texts: Iterable[str],
        *,
        known: Iterable[Person] = (),
        reserved: Iterable[str] = (),
        others: Mapping[str, str] | None = None,
    ) -> None:
        before = {one.id: one.number for one in known}
        everybody = {one.id: Asker(one.id, one.name) for one in known}
        everybody |= {one.id: one for one in authors}
        written = {int(n) for text in texts for n in PSEUDONYM.findall(text)}
        written |= {int(n) for one in everybody.values() for n in PSEUDONYM.findall(one.name)}
        free = (n for n in count(1) if n not in written and n not in before.values())
        self._others = others or {}
        self.people = tuple(
            Person(before.get(one.id) or next(free), one.id, one.name) for one in everybody.values()
        )
        self._numbers = {one.id: one.number for one in self.people}
        kept = {word.casefold() for name in reserved for word in (name, *name.split())}
        names: dict[str, str] = {}
        for one in everybody.values():
            for spelling in _spellings(one):
                if spelling.casefold() not in kept or spelling == one.id:
                    names.setdefault(spelling, one.id)
        self._names = names
        longest_first = sorted(names, key=len, reverse=True)
        found = [_MENTION.pattern, *map(_whole_words, longest_first), PSEUDONYM.pattern]
        self._pattern = re.compile("|".join(found))

    def of(self, id_: str) -> str:
        """Return what models call somebody."""
        number = self._numbers.get(id_)
        return f"Person {number}" if number else self._others.get(id_, "somebody")

    def replace(self, text: str) -> str:
        """Return what a person wrote, for models; "Person 7" in it becomes "person 7"."""
        return self._pattern.sub(lambda found: self._pseudonym(found) or found[0].lower(), text)

    def replace_names(self, text: str) -> str:
        """Return a text that has pseudonyms already without the names that it has, too."""
        return self._pattern.sub(lambda found: self._pseudonym(found) or found[0], text)

    def _pseudonym(self, match: re.Match[str]) -> str:
        """Return what takes the place of a mention or a name; "" for somebody's "Person 7"."""
        if match[1] is not None:
            return f"@{self.of(match[1])}"
        spelled = match[0].removeprefix("@")
        id_ = self._names.get(spelled)
        return match[0].removesuffix(spelled) + self.of(id_) if id_ else ""


def _spellings(person: Asker) -> Iterator[str]:
    """Yield a person's id and names as they may stand in a text."""
    yield person.id
    for name in dict.fromkeys((person.name, *person.aliases)):
        if sum(map(str.isalpha, name)) < _MIN_LETTERS:
            continue
        yield name
        if name.islower():
            yield name.capitalize()
        parts = name.split()
        for part in parts if len(parts) > 1 else ():
            if part[0].isupper() and part.isalpha() and len(part) >= _MIN_PART_LETTERS:
                yield part


def _whole_words(name: str) -> str:
    """Return the pattern of a name as whole words, after "@" or not."""
    start = "" if _is_unspaced(name[0]) else r"(?<!\w)"
    end = "" if _is_unspaced(name[-1]) else r"(?!\w)"
    return f"{start}@?{re.escape(name)}{end}"


def _is_unspaced(letter: str) -> bool:
    """Return whether a letter is of a script that writes words without spaces."""
    return east_asian_width(letter) in {"W", "F"}
