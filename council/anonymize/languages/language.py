"""What a language says of itself: who writes, in what role, made by whom.

Patterns are in lower case, a blank stands for any white space, and nothing but names is captured.
"""

from dataclasses import dataclass

from council.anonymize.names import ANY, MAKER, MODEL

OPENING = r"(?:^|\n|[.!?:;…(—–。！？：।] ?)[\"'#> ]{0,3}"  # of a sentence

_BETWEEN = r"[ ,،(:\"'-]{1,3}"


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """The signs of one language; every one of them needs one of `cues` near a name.

    `fields` stand before a name at the top or the bottom ("answer by"), `closings` before one at
    the bottom ("kind regards"), and `owned` after one at the top ("'s answer").
    """

    name: str
    cues: frozenset[str]
    signs: tuple[str, ...]
    fields: str = ""
    closings: str = ""
    owned: str = ""


@dataclass(frozen=True, slots=True)
class Grammar:
    """A language that says who before what: "I am", "as", "made", "by".

    `named` comes straight before a model, but for words of `kind`, of which `nouns` say what it
    is; `here` before one that ends a clause ("hier ist Claude."). `role` is "as", and `then` what
    follows it where it is the writer's own. `was` made `by` is in the writer's voice. `made_me`
    follows a maker, `me_made` precedes one, as does `my_maker`. `own_text` is an answer and that
    it was written, `view` a view of mine, as, and `yours` your assistant.
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
        """What such a language says, each with the name it tells."""
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
    """Give a pattern of up to ten of these words, each with what parts it from the next."""
    return rf"(?:(?:{text}){_BETWEEN}){{0,10}}"


def cues(text: str) -> frozenset[str]:
    """Give words that are parted by blanks."""
    return frozenset(text.split())
