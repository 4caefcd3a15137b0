"""Mask where an answer says who wrote it; leave alone where it speaks about models.

Once an answer names its family, every name of that family and its maker is masked in it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from council.families import FAMILIES, Family

MASK = "[model name removed]"


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """A text with its author's traces masked, and what was masked."""

    text: str
    found: tuple[str, ...]


# A version or size that follows a name: "Sonnet 4.6", "-4o-mini", "3.3 70B Instruct".
_VERSION_WORD = (
    r"(?:v?\d[\w.]{0,20}|sonnet|opus|haiku|instant|pro|flash|ultra|nano|mini|turbo|large|medium|"
    r"small|max|plus|lite|instruct|chat|coder|thinking|preview|r1|ai|assistant)\b"
)
# Only the first may follow without a space or hyphen: two that touch could be split in many ways.
_VERSION = rf"(?:[ -]?{_VERSION_WORD}(?:[ -]{_VERSION_WORD}){{0,5}})?"
# Boundaries of ASCII words: in Chinese a name has no space before it.
_START, _END = r"(?<![A-Za-z0-9_])", r"(?![A-Za-z0-9_])"
_ROUTE = r"(?:[a-z0-9_.-]{1,40}/){0,3}"
_MADE = (
    r"(?:made|trained|developed|created|built|designed|released|provided|powered|fine-tuned|run)"
)
_KIND = (
    r"(?:(?:an?|the|your|new|helpful|friendly|large|small|open|multimodal|conversational|generative"
    r"|advanced|ai|artificial|intelligence|language|model|assistant|chatbot|bot|llm|named|called|"
    r"known|as|version|of|\()[ ,-]*){0,12}"
)


def scrub(text: str, own: Iterable[str] = ()) -> Scrubbed:
    """Mask self-identification, and the author's own ids wherever they stand.

    `own` are the author's seat key, model id and display name.
    """
    families = [family for family in FAMILIES if _identifies(family, text)]
    patterns = [_mentions(family) for family in families]
    patterns += [_exact(name) for name in own if name]
    found: dict[str, None] = {}
    for pattern in patterns:
        found |= dict.fromkeys(match[0].strip() for match in pattern.finditer(text))
        text = pattern.sub(MASK, text)
    return Scrubbed(text, tuple(found))


def ready() -> None:
    """Compile what every text is searched for, which else the first answer would wait for."""
    for family in FAMILIES:
        _named(family)


def without_names(text: str, families: Iterable[str]) -> Scrubbed:
    """Mask every name and maker of these families, whoever is meant: for a judge's reasons."""
    chosen = set(families)
    found: dict[str, None] = {}
    for family in FAMILIES:
        if family.name in chosen:
            pattern = _mentions(family)
            found |= dict.fromkeys(match[0] for match in pattern.finditer(text))
            text = pattern.sub(MASK, text)
    return Scrubbed(text, tuple(found))


@cache
def _exact(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w/]){re.escape(name)}(?![\w/])", re.IGNORECASE)


def _any(names: Iterable[str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


def _model(family: Family) -> str:
    """Give the pattern of a model of this family, by name or by id; no surname may follow."""
    joined = rf"-?[a-z]?\d[\w.]{{0,20}}(?:-\w{{1,20}}|[ ][a-z]{{0,9}}\d\w{{0,9}}){{0,6}}{_VERSION}"
    named = rf"(?:{_any(family.names)})(?:{joined}|(?![\w’']){_VERSION})"
    return rf"(?<!\w){_ROUTE}{named}(?!['’]s\b)(?!(?-i:[ ][A-Z][a-z]+))"


@cache
def _mentions(family: Family) -> re.Pattern[str]:
    names = _any((*family.names, *family.makers))
    tail = r"(?:[-:][\w.:-]{0,40}\w|\d[\w.]{0,20}\w|\d)?"
    return re.compile(rf"{_START}{_ROUTE}(?:{names}){_VERSION}{tail}{_END}", re.IGNORECASE)


# Names that are also ordinary words: alone on a line they head a text, not sign it.
_WORDS = (
    "Llama|Gemini|Phi|Falcon|Sonar|Solar|Granite|Aya|Dolly|Jurassic|Inflection|Pi|Yi|Zephyr|Bard|"
    "Copilot|Perplexity|Tulu|Meta"
)
_MARK = r"[*_`~\"'“”\[\]()<>#]{0,6}"
_OPENING = r"\A[\s*_`~\"'“”\[\](<>#]*"
_ENDING = rf"{_MARK}[\s.!]*\Z"
_REGARDS = (
    r"(?:(?:best|kind|warm|many|with|yours)[ ])*"
    r"(?:regards|wishes|thanks|greetings|cheers|sincerely|yours(?: truly)?|best)"
)
_CREDIT = r"(?:(?:written|answered|generated|produced|powered|signed|response|answer) )?(?:by|from)"
_FIELD = rf"(?:signed|author|model|assistant|responder|source|{_CREDIT})"


@cache
def _signs(family: Family) -> tuple[re.Pattern[str], ...]:
    """Give the ways in which a text says that this family wrote it."""
    model, maker = _model(family), rf"(?:{_any(family.makers)})\b"
    either = rf"(?:{model}|{maker})"
    # At the end of a text a model may be followed by its maker: "GPT-5.1 by OpenAI".
    of_maker = rf"(?:{_MARK},?[ ](?:(?:by|from|of|at)[ ])?{_MARK}{maker}(?:[ ]\w{{1,20}})?)?"
    described = rf"{_MARK}(?!an? (?:{_any(family.names)})(?! \w*model| ai| assistant| based))"
    described += rf"{_KIND}{_MARK}{model}"
    patterns = (
        # "I'm Claude", "my name is Qwen", "speaking as Grok", "I, Claude,"
        rf"\b(?:I am|I[’']?m|my name is|you can call me|I am called|I go by)\s+{described}",
        rf"\b(?:speaking|writing|answering|responding|signed)(?: as| by| from)?[ :]+{described}",
        rf"\bas\s+{described}{_MARK}(?=\s*[,(:;.!—–]|\s+I\b|\s+{_MADE}\b)",
        rf"\bI, {model},",
        rf"\b(?:ich bin|je suis|soy|sono|sou|jestem|jag är|jeg er|ik ben|я|ben)\s+{described}",
        rf"{model},? vagyok\b|我(?:是|叫)\s*{_MARK}(?:{_any(family.names)})",
        rf"{_OPENING}(?:this is|it[’']?s)\s+{model}{_MARK}"
        r"(?=\s*[,.!:;—–]|\s+(?:here|speaking|from)\b)",
        rf"{_OPENING}{model}{_MARK}\s+here\b|{_OPENING}(?:{_any(family.names)})['’]s "
        r"(?:answer|response|reply|take|view)\b",
        # "I was trained by Google", "as an AI developed by Anthropic"
        rf"\bI(?: am|[’']?m| was| have been|[’']ve been)\s+{_KIND}{_MARK}"
        rf"(?:[\w.-]{{1,30}}[ ,]{{1,3}}){{0,4}}?{_MADE}"
        rf"(?:,? (?:and|&) \w+)? (?:by|at)\s+(?:the \w+ at )?{_MARK}{maker}",
        rf"\b(?:I am|I[’']?m|as)\s+an?\s+{_KIND}(?:[\w.-]{{1,30}}[ ,]{{1,3}}){{0,2}}?(?:{_MADE} )?"
        rf"(?:by|at|from)\s+{_MARK}{maker}",
        rf"\b{_MADE} me\b[^.\n]{{0,30}}{maker}|{maker}[^.\n]{{0,10}} {_MADE} me\b",
        rf"\bmy (?:creators?|makers?|developers?|company)[^.\n]{{0,20}}\b{maker}",
        # "This answer was written by Mistral Large"
        r"\b(?:answer|response|reply|text|message|summary|post|content)\b[^.\n]{0,20}\b"
        r"(?:written|generated|produced|authored|provided|given|brought to you|from|by)\b"
        rf"(?: to you)?(?: by)?[ :]+{_MARK}{_KIND}{_MARK}{either}",
        # a heading, a field or a name before the text; a signature after it
        rf"{_OPENING}{_FIELD}[ :,*_`\"]{{1,8}}{either}",
        rf"{_OPENING}{model}{_MARK}\s*(?:[:：|—–]|-(?=\s)|says\b)",
        rf"{_OPENING}(?!(?:{_WORDS})\W*\n){model}{_MARK}\s*\n|\A\W*\[{model}\]",
        rf"(?:\n|[.!?:)])\s{{0,9}}{_MARK}(?:[—–~]+|--+)\s*{_MARK}"
        rf"(?:(?:by|from|your|yours),? )?{either}{of_maker}{_ENDING}",
        rf"\n\s{{0,9}}\n\s{{0,9}}{_MARK}(?:-\s+)?{_MARK}{model}{of_maker}{_ENDING}",
        rf"\n\s{{0,9}}{_MARK}(?:-\s+)?(?:{_REGARDS}|{_FIELD})\b[^\w\n]*\s*{_MARK}{either}"
        rf"{of_maker}{_ENDING}",
        rf"[\[(]\s*{model}{of_maker}\s*[\])]\s*\Z",
    )
    return tuple(re.compile(pattern, re.IGNORECASE | re.MULTILINE) for pattern in patterns)


@cache
def _named(family: Family) -> re.Pattern[str]:
    return re.compile(_any((*family.names, *family.makers)), re.IGNORECASE)


def _identifies(family: Family, text: str) -> bool:
    if not _named(family).search(text):
        return False
    return any(pattern.search(text) for pattern in _signs(family))
