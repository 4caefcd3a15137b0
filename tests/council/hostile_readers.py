"""Readers of model texts as functions of the text alone; importable without pytest."""

from council.anonymize.scrub import MaskedText, mask_names
from council.ballots import BallotFault, ParsedBallot, parse_ballot, translate_labels
from council.labels import Label
from council.prompts.synthesis import parse_chair_reply
from council.rounds import Synthesis


def mask_reason(text: str) -> MaskedText:
    return mask_names(text, ["anthropic", "openai", "google"])


def translate_reason(text: str) -> str:
    return translate_labels(text, {"A": Label("K")})


def read_ballot_of_two(text: str) -> ParsedBallot | BallotFault:
    return parse_ballot(text, "n", "AB")


def parse_synthesis(text: str) -> Synthesis:
    return parse_chair_reply(text, [Label("K"), Label("L")])
