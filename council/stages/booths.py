"""A booth: a judge's slate with what may be read in it, and the call that asks for the ballot."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from council.calls import Call, Prompt
from council.labels import Label
from council.panel import Member
from council.prompts.judging import Sheet, ballot_schema, judge_prompt
from council.prompts.lengths import estimated_tokens
from council.rounds import Round
from council.slates import Slate
from council.stages.candidates import at_length, lengths_to_try

BALLOT_TOKENS = 600  # what stays free in a judge's context for its reply


@dataclass(frozen=True, slots=True)
class Booth:
    """Where one judge votes; `texts` are the blind answers by public label.

    `authors`, by public label too, are named beside them in an audit of names alone.
    """

    round_: Round
    slate: Slate
    nonce: str
    texts: Mapping[Label, str]
    authors: Mapping[Label, str] = field(default_factory=dict)

    @property
    def judge(self) -> Member:
        """The seat that votes."""
        return self.round_.panel.seat(self.slate.judge)

    def call(self, length: int | None, fault: str | None) -> Call:
        """Give the call that shows the answers at a length and names what spoiled a first reply."""
        prompt = self._prompt(at_length(self._by_letter, length), fault)
        schema = ballot_schema(self.slate.letters, self.nonce)
        return Call(self.judge, prompt, self.round_.panel.terms.ballot_temperature, schema)

    def lengths(self, context: int | None, fault: str | None) -> tuple[int | None, ...]:
        """Give the lengths to show the answers at, in a context of so many tokens."""
        frame = self._prompt(dict.fromkeys(self._by_letter, ""), fault)
        taken = BALLOT_TOKENS + estimated_tokens(frame.system + frame.user)
        budget = None if context is None else context - taken
        return lengths_to_try(tuple(self._by_letter.values()), budget)

    @property
    def _by_letter(self) -> dict[str, str]:
        return self._lettered(self.texts)

    def _lettered(self, named: Mapping[Label, str]) -> dict[str, str]:
        pairs = zip(self.slate.letters, self.slate.shown, strict=True)
        return {letter: named[label] for letter, label in pairs}

    def _prompt(self, texts: Mapping[str, str], fault: str | None) -> Prompt:
        authors = self._lettered(self.authors) if self.authors else {}
        sheet = Sheet(texts, self.nonce, fault, authors)
        return judge_prompt(self.round_.question, self.round_.panel.rubric, sheet)
