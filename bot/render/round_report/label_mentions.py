"""Where a text of a model means answers by their letters, and where a letter is only a letter.

"Response B", "B > C", "(B)", "better than B" and "B covers vacuum" mean an answer; "B-tree",
"C#", "vitamin B", "plan B", the article in "A class" and whatever stands in code do not. It rather
leaves a letter alone than takes one for an answer.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

# Code, and what is called so: "A/B tests".
_CODE = re.compile(r"```.*?```|`[^`\n]*`|\bA/B(?=[\s-]+test)", re.DOTALL)
# "Response B", "the answers A, B and C": the word makes the letters after it labels, of any case.
_NAMED = re.compile(
    r"\b(?:responses?|answers?|candidates?)\s{1,3}"
    r"(?P<letters>[*(\"“]{0,3}[a-z]\b(?:[\s,*]{0,4}(?:(?:and|or|&|vs\.?|over|than)\s{1,3}|[>=]\s*)?"
    r"\b(?-i:[A-Z])\b){0,16})",
    re.IGNORECASE,
)
# A capital on its own: what may stand right before and after it, with signs of emphasis.
_ALONE = re.compile(
    r"(?:(?<=^)|(?<=[\s(\[\"“”‘*_,;:>=</—–`]))(?P<letter>[A-Z])"
    r"(?=$|[\s)\]\"”*_,;:.?!><=/—–`]|['’]s?\b|['’]\s)",
    re.MULTILINE,
)
_LIST_GAP = re.compile(r"[*_\s]*(?:,|/|&|\band\b|\bor\b|\bvs\.?)[*_\s]*(?:\b(?:and|or)\b\s*)?\Z")
_WORD_BEFORE = re.compile(r"([\w'’]+)[\s*_\"“(\[]*\Z")
_WORD_AFTER = re.compile(r"[*_\"”)\]]*\s+([\w'’]+)")
_NEAR = 80  # characters that tell what a letter means
_PAIR = re.compile(r"\b([\w'’]+)(?=[ -]([A-Z])\b)")
_SENTENCE_START = re.compile(r"[.!?:;\n—–][\s*_>\"“(-]*\Z")
_CLAUSE_START = re.compile(r",\s*\Z")
_SIGN_BEFORE, _SIGN_AFTER = re.compile(r"[>=<≥]\s*[*_]*\Z"), re.compile(r"[*_]*\s*[>=<≥]")
_MARK_BEFORE = re.compile(r"(?:\(|\[|\*\*|`|[\"“])\Z")
_MARK_AFTER = re.compile(r"\)|\]|\*\*|`|[\"”]")
_POSSESSIVE = re.compile(r"['’]s\b|[*_]*,")
_WORDS = re.compile(
    r"and|or|than|but|while|whereas|although|though|because|since|if|both|neither|nor|either|only"
    r"|also|so|as|like|unlike|over|above|below|before|after|behind|between|beats?|of|to|with|by"
    r"|against|for|from|in|on|ranks?|ranked|rated?|rates|puts?|placed?|places|prefers?|preferred"
    r"|choose|chose|pick(?:ed|s)?|g[ai]ve|find|found|think|consider|compared|versus|vs|first|second"
    r"|third|last|best|then|however|yet|not|even|just|still|when|where|whether|makes?|judged?"
    r"|favou?r(?:ed)?|trust|scored?|keep|kept|outranks|including|except|besides|here|thus|therefore"
    r"|instead|meanwhile|unless|does|do|did|can|could|will|would|should|has|have|\w+ly"
)
_VERBS = re.compile(
    r"is|was|has|had|does|did|can|could|will|would|may|might|must|should|and|or|but|also|only|gave"
    r"|went|said|made|left|ranked|missed|covered|named|omitted|came|\w+(?<!s)(?<!u)(?<!i)s"
)
_NO_VERBS = frozenset({"series", "lens", "gas", "canvas", "atlas", "means", "always", "its"})


def find_label_mentions(
    text: str, labels: Collection[str], known_pairs: Iterable[str] = ()
) -> list[tuple[int, str]]:
    """Return the positions of letters that mean answers, with the label of each, in order.

    `known_pairs` are texts of question and answers: a letter after the same word as there ("option
    B", "plan B") is theirs.
    """
    known = _known_pairs(tuple(known_pairs))
    text = _CODE.sub(_hide, text)
    found: dict[int, str] = {}
    for match in _NAMED.finditer(text):
        start = match.start("letters")
        for one in re.finditer(r"\b[A-Za-z]\b", match["letters"]):
            if one[0].upper() in labels:
                found[start + one.start()] = one[0].upper()
    alone = [match for match in _ALONE.finditer(text) if match["letter"] in labels]
    for match in alone:
        if _means_answer(text, match.start(), match["letter"], known):
            found[match.start()] = match["letter"]
    _add_lists(text, alone, found)
    return sorted(found.items())


def _hide(code: re.Match[str]) -> str:
    """Return code without its letters, and as long; a single letter in it may mean an answer."""
    return code[0] if len(code[0].strip("`").strip()) == 1 else "`" * len(code[0])


@lru_cache(maxsize=16)  # every judge of a round has the same texts
def _known_pairs(texts: tuple[str, ...]) -> frozenset[tuple[str, str]]:
    """Return each word, in lower case, and the capital that stands alone after it."""
    found = (match.groups() for text in texts for match in _PAIR.finditer(text))
    return frozenset((word.lower(), letter) for word, letter in found)


def _means_answer(text: str, at: int, letter: str, known: Collection[tuple[str, str]]) -> bool:
    """Return whether a capital on its own means an answer, by what stands next to it."""
    # The beginning of the text is like that of a line.
    before = text[at - _NEAR : at] if at > _NEAR else f"\n{text[:at]}"
    after = text[at + 1 : at + 1 + _NEAR]
    has_sign = _SIGN_BEFORE.search(before) or _SIGN_AFTER.match(after)
    is_marked = _MARK_BEFORE.search(before) and _MARK_AFTER.match(after)
    if has_sign or is_marked or letter == "I":  # which is a word of English
        return bool(has_sign) or letter != "I"
    following = _WORD_AFTER.match(after)
    is_verb = following is not None and _is_verb(following[1].lower())
    if _CLAUSE_START.search(before):
        return is_verb or bool(_POSSESSIVE.match(after))
    if _SENTENCE_START.search(before):
        return letter != "A" or is_verb or bool(_POSSESSIVE.match(after))
    word = _WORD_BEFORE.search(before)
    if word is None or (word[1].lower(), letter) in known:
        return False
    return bool(_WORDS.fullmatch(word[1].lower()))


def _is_verb(word: str) -> bool:
    return bool(_VERBS.fullmatch(word)) and word not in _NO_VERBS


def _add_lists(text: str, alone: Sequence[re.Match[str]], found: dict[int, str]) -> None:
    """Add the letters that are listed with one that means an answer: "A, B and C"."""
    pairs = [*pairwise(alone)]
    for one, other in (*pairs, *((other, one) for one, other in reversed(pairs))):
        start, end = sorted((one.start(), other.start()))
        is_listed = _LIST_GAP.fullmatch(text[start + 1 : end])
        if is_listed and one.start() in found and "I" not in {one["letter"], other["letter"]}:
            found[other.start()] = other["letter"]
