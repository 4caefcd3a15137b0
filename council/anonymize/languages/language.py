"""Patterns with which a language identifies a writer: by name, by role, by maker.

Patterns are in lower case, a space matches any white space, and only names are captured.
"""

from dataclasses import dataclass

from council.anonymize.names import ANY, MAKER, MODEL

OPENING = r"(?:^|\n|[.!?:;…(—–。！？：।] ?)[\"'#> ]{0,3}"  # of a sentence

_BETWEEN = r"[ ,،(:\"'-]{1,3}"


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """The patterns of one language; `signs` are searched only if a cue is near a name.

    `fields` precede a name at the top or bottom ("answer by"), `closings` precede one at the
    bottom ("kind regards"), and `owned` follows one at the top ("'s answer").
    """

    name: str
    cues: frozenset[str]
    signs: tuple[str, ...]
    fields: str = ""
    closings: str = ""
    owned: str = ""


@dataclass(frozen=True, slots=True)
class Grammar:
    """Phrases of a language with the order "I am X", "as X, I", "made by X".

    - `named`: "I am", directly before a model except for words of `kind`
    - `kind`, `nouns`: words that may precede the name, and those of them that say what it is
    - `here`: "here is", before a model that ends a clause ("hier ist Claude.")
    - `role`, `then`: "as", and what follows it if the writer means itself
    - `was`, `made`, `by`: "I was", "made", "by"
    - `made_me`, `me_made`, `my_maker`: "has made me" after a maker; the last two before one
    - `i`, `own_text`: "I", "this answer was written by"
    - `view`, `yours`: "my view as", "your assistant"
    - `not_after`: words after a model that make it part of another noun ("a ChatGPT user")
    """

    named: str
    here: str
    kind: str
    nouns: str
    role: str
    then: str
    was: str
    made: str
    by: str
    made_me: str
    me_made: str
    my_maker: str
    i: str
    own_text: str
    view: str
    yours: str
    not_after: str = ""

    @property
    def signs(self) -> tuple[str, ...]:
        """The patterns of this grammar, each capturing the name."""
        kind = word_sequence(self.kind)
        is_noun = rf"(?=[^.\n\ue000-\ue3ff]{{0,80}}(?:{self.nouns}))"
        not_after = rf"(?!'s |[ -](?:{self.not_after})\b)" if self.not_after else ""
        # "As a model from OpenAI, GPT-4 …" is about GPT-4.
        alone = rf"(?!,? ?{MODEL}|'s )"
        return (
            rf"\b(?:{self.named}) ?{kind}{MODEL}{not_after}",
            rf"\b(?:{self.here}) {kind}{MODEL}(?=[.,!:;،])",
            rf"\b(?:{self.role}) ?{kind}{MODEL}(?=(?:{self.then}))",
            rf"(?:\b(?:{self.named})"
            rf"|{OPENING}(?:{self.role})) ?{is_noun}{kind}(?:(?:{self.made}) )?"
            rf"(?:(?:{self.by}) ?)?{MAKER}{alone}",
            rf"{OPENING}(?:{self.role}) {MAKER}[ -](?:{self.nouns})",
            rf"\b(?:{self.was}) {kind}(?:{self.made})(?: \w{{1,3}} \w{{1,20}})? "
            rf"(?:(?:{self.by}) ?)?{MAKER}",
            rf"{MAKER}(?:{self.made_me})\b",
            rf"\b(?:{self.me_made}) ?{MAKER}",
            rf"\b(?:{self.my_maker})(?:,? \w{{1,6}}){{0,2}}[ ,:('—-]{{1,3}}{MAKER}",
            rf"\b(?:{self.view}) {kind}{MODEL}",
            rf"\b(?:{self.yours}),? {MODEL}",
            rf"\b(?:{self.i}), {kind}{MODEL},",
            rf"\b(?:{self.own_text}) ?{kind}{ANY}",
        )


def word_sequence(text: str) -> str:
    """Return a pattern of up to ten of these words with their separators."""
    return rf"(?:(?:{text}){_BETWEEN}){{0,10}}"


def cues(text: str) -> frozenset[str]:
    """Return the words of a text separated by spaces."""
    return frozenset(text.split())
