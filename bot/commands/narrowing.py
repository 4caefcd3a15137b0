"""Which rounds are meant, by words like `since:30d` and `category:"window functions"`. Pure."""

import re

_OPTION = re.compile(r'(as|since|until|panel|category|suite|weights):("[^"]*"|\S+)', re.IGNORECASE)


def grammar_of(word: str, *names: str) -> str:
    """Give the pattern of one word, which may be left out, and of options with these names."""
    option = rf'(?:{"|".join(names)}):(?:"[^"]*"|\S+)'
    return rf"(?:{word})?(?:(?:\A|\s+){option})*"


def narrowed_by(words: str, alone: str) -> dict[str, str]:
    """Give what options say; a word that stands alone is the value of the option `alone`."""
    given = {name.lower(): value.strip('"') for name, value in _OPTION.findall(words)}
    left = _OPTION.sub("", words).split()
    return given | ({alone: left[0]} if left else {})
