"""Pseudonyms: people of a thread are Person 1, Person 2 to models.

Pure; `bot/render/people.py` has the way back. Chats write a mention as `mention(id)`, so that it is
replaced exactly. In plain text, names and their parts are found in upper and lower case, between
any characters that are no letters. A name or part that is a common word ("May", "Will") or has two
letters is found only alone and with a capital letter, or after "@".

Not found: nicknames, misspellings, inflected forms ("Bens Plan"), names that are joined to other
letters ("BenCV.pdf"), names in other scripts, and people who neither write nor are mentioned.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from unicodedata import east_asian_width, normalize

from bot.chat import Asker
from bot.render.people import PSEUDONYM
from council.people import Person

_START, _END = "\ue000", "\ue001"  # private use: clean texts have none
_MARKS = re.compile(f"[{_START}{_END}]")
_MENTION = re.compile(f"{_START}([^{_START}{_END}]*){_END}")
_MIN_LETTERS = 2  # of a name or part that is looked for in plain text
_LETTER = r"[^\W\d_]"
_WORD = re.compile(rf"{_LETTER}+")
_SPACED = re.compile(rf"{_LETTER}[^\s,;/|]*{_LETTER}")  # as "Jean-Luc"
# Of a name: what is no part of it, such as pronouns in brackets, a domain or a URL.
_ASIDE = re.compile(r"\(.*?\)|\[.*?\]|<.*?>|\S*://\S*|(?<=\S)@\S+")
_NOBODY = {"person", "council"}  # what a pseudonym and the bot are called
_COMMON_WORDS = frozenset(
    """
    about after again alert all also amber and angel any april are art ash august autumn back bay
    been bill both brown bug but call can cap case chance chat chase chief clay client code com
    could crystal cto cross cash data dawn day default der design dev did director does done down
    drew east eng engineer even faith finance first fish for forest fox frank from gene get grace
    grant gray green had harmony has have head help her here him his home hope house how hunter
    into iris its jet job joy july june just king know lane last law lead lee legal let like line
    long look love mac made major make man manager many mark marina may melody member mercy model
    more most much name new nil noble none nor north not now nurse off office old olive one only
    ops org other our out over owner page park patience penny people pierce price prince product
    question ray read red rich river rob rock root rose ruby rush rusty said sales same say school
    see set she shell should sky some son south star stone storm string such sue summer support
    system tab take tan team tech test than that the their them then there these they this time
    too top tree true two use user val van venture very von wade wait wall want was way web week
    well were west what when where which white who why will winter with wood work would www year
    yes you young your
    am an as at be by do go he hi if in is it me my no of oh ok on or so to up us we
    """.split()  # noqa: SIM905 - a list of strings fills hundreds of lines
)


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
        everybody: dict[str, Asker] = {}
        for one in (*(Asker(one.id, one.name) for one in known), *authors):
            everybody[one.id] = _merge(everybody.get(one.id), one)
        written = {int(n) for text in texts for n in PSEUDONYM.findall(text)}
        written |= {int(n) for one in everybody.values() for n in PSEUDONYM.findall(one.name)}
        free = (n for n in count(1) if n not in written and n not in before.values())
        self._others = others or {}
        self.people = tuple(
            Person(before.get(one.id) or next(free), one.id, one.name) for one in everybody.values()
        )
        self._numbers = {one.id: one.number for one in self.people}
        kept = {word.casefold() for name in reserved for word in (name, *name.split())}
        found: dict[str, str] = {}
        for spell in (_names, _parts):
            for one in everybody.values():
                for spelling in spell(one):
                    if spelling.casefold() not in kept or spelling == one.id:
                        found.setdefault(spelling, one.id)
        longest_first = sorted(found, key=len, reverse=True)
        self._spellings = [_Spelling.of(one, found[one], everybody) for one in longest_first]
        self._patterns: dict[tuple[str, ...], re.Pattern[str]] = {}

    def of(self, id_: str) -> str:
        """Return what models call somebody."""
        number = self._numbers.get(id_)
        return f"Person {number}" if number else self._others.get(id_, "somebody")

    def replace(self, text: str) -> str:
        """Return what a person wrote, for models; "Person 7" in it becomes "person 7"."""
        return self._replace(text, str.lower)

    def replace_names(self, text: str) -> str:
        """Return a text that has pseudonyms already without the names that it has, too."""
        return self._replace(text, str)

    def _replace(self, text: str, edit_pseudonym: Callable[[str], str]) -> str:
        text = normalize("NFC", text)
        folded = _fold(text)
        # Most names are not in most texts, and a pattern of hundreds is slow.
        present = [one for one in self._spellings if one.folded in folded]

        def edit(found: re.Match[str]) -> str:
            group = found.lastindex or 1
            if group == 1:
                return f"@{self.of(found[1])}"
            if group > len(present) + 1:
                return edit_pseudonym(found[0])
            at = "@" if found[0].startswith("@") else ""
            return at + self.of(present[group - 2].person)

        key = tuple(one.pattern for one in present)
        if key not in self._patterns:
            self._patterns[key] = re.compile("|".join([_MENTION.pattern, *key, PSEUDONYM.pattern]))
        return self._patterns[key].sub(edit, text)


@dataclass(frozen=True, slots=True)
class _Spelling:
    """A name as it may stand in a text, folded and as a pattern of one group, and whose it is."""

    folded: str
    pattern: str
    person: str

    @classmethod
    def of(cls, name: str, person: str, ids: Container[str]) -> "_Spelling":
        pattern = _id_pattern(name) if name in ids else _name_pattern(name)
        return cls(_fold(name), pattern, person)


def _merge(before: Asker | None, one: Asker) -> Asker:
    """Return somebody with the names of both entries; the one with more aliases counts."""
    if before is None:
        return one
    more = one if len(one.aliases) >= len(before.aliases) else before
    names = dict.fromkeys((before.name, *before.aliases, one.name, *one.aliases))
    return replace(more, aliases=tuple(name for name in names if name != more.name))


def _names(person: Asker) -> Iterator[str]:
    """Yield a person's id and whole names."""
    yield person.id
    for name in _written_names(person):
        yield name
        if name.islower() and _is_ambiguous(name):
            yield name.capitalize()


def _parts(person: Asker) -> Iterator[str]:
    """Yield the parts of a person's names that may stand for them."""
    for name in _written_names(person):
        plain = _ASIDE.sub(" ", name) if name != person.id else ""
        for part in (*_SPACED.findall(plain), *_WORD.findall(plain)):
            is_clear = part[0].isupper() or not _is_ambiguous(part)
            if len(part) >= _MIN_LETTERS and part.casefold() not in _NOBODY and is_clear:
                yield part


def _written_names(person: Asker) -> Iterator[str]:
    """Yield the names of a person that are looked for in plain text."""
    for name in dict.fromkeys((person.name, *person.aliases)):
        if len(_letters(name)) >= _MIN_LETTERS and name.casefold() not in _NOBODY:
            yield normalize("NFC", name)


def _fold(text: str) -> str:
    """Return a text without upper case; Turkish has two kinds of "i"."""
    return text.casefold().replace("i\u0307", "i").replace("\u0131", "i")


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text))


def _is_ambiguous(word: str) -> bool:
    """Return whether a word may well be none of a name."""
    return len(_letters(word)) <= _MIN_LETTERS or word.casefold() in _COMMON_WORDS


def _id_pattern(id_: str) -> str:
    return rf"(?<!\w)@?({re.escape(id_)})(?!\w)"


def _name_pattern(name: str) -> str:
    """Return the pattern of a name between what are no letters, after "@" or not."""
    escaped = re.escape(name)
    if not _is_ambiguous(name) or _is_unspaced(name[0]):
        return f"{_start(name[0])}@?((?i:{escaped})){_end(name[-1])}"
    if name.casefold() in _COMMON_WORDS and name.islower():
        escaped = re.escape(name.capitalize())
    alone = rf"(?<![^\W_])(?<!-){escaped}(?!-|[^\W_])"
    return rf"((?<!\w)@(?i:{re.escape(name)})(?!\w)|{alone})"


def _start(letter: str) -> str:
    """Return the pattern of what is before a name that begins with a letter."""
    if _is_unspaced(letter):
        return ""
    return r"(?<!\d)" if letter.isdigit() else f"(?<!{_LETTER})"


def _end(letter: str) -> str:
    if _is_unspaced(letter):
        return ""
    return r"(?!\d)" if letter.isdigit() else f"(?!{_LETTER})"


def _is_unspaced(letter: str) -> bool:
    """Return whether a letter is of a script that writes words without spaces."""
    return east_asian_width(letter) in {"W", "F"}
