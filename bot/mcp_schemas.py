"""Schemas of what the MCP tools return: the fields that programs rely on; documents have more."""

from typing import Any

from pydantic import BaseModel, ConfigDict


class Output(BaseModel):
    """A document, or a part of one; unknown values are null."""

    model_config = ConfigDict(extra="allow")


class VerdictOutput(Output):
    """How sure the result is: its strength, and the probability of such a lead by chance."""

    strength: str
    p: float | None
    first_on: list[int]
    too_few_judges: bool
    flags: list[str]


class BallotOutput(Output):
    """How one judge ranked what it was shown, best first; ties share a place."""

    judge: str
    shown: list[str]
    ranking: list[list[str]]
    reason: str


class TextStandingOutput(Output):
    """A text's line in the standings."""

    name: str
    place: int
    share: float | None
    points: float
    max_points: int
    first_votes: int
    mean_rank: float | None


class StandingOutput(Output):
    """A member's line in the standings."""

    member: str
    label: str
    place: int
    share: float | None
    points: float
    max_points: int
    first_votes: int
    mean_rank: float | None


class AnswerOutput(Output):
    """A member's answer; `label` is null until the answers are labelled."""

    member: str
    label: str | None
    text: str


class SynthesisOutput(Output):
    """The council's answer, and who wrote it."""

    text: str
    chairman: str | None
    fallback: str | None


class RoundOutput(Output):
    """A round, as `council show --json` prints it, and the address of its page."""

    id: str
    question: str
    stage: str
    failure: str | None
    answers: list[AnswerOutput]
    absences: list[dict[str, Any]]
    ballots: list[BallotOutput]
    standings: list[StandingOutput]
    verdict: VerdictOutput | None
    synthesis: SynthesisOutput | None
    analysis: dict[str, Any] | None
    cost_usd: float | None
    seconds: float | None
    url: str | None


class RankingOutput(Output):
    """A ranking of given texts, as `council rank` prints it."""

    id: str
    standings: list[TextStandingOutput]
    verdict: VerdictOutput
    ballots: list[BallotOutput]
    absences: list[dict[str, str]]
    cost_usd: float | None


class RoundLineOutput(Output):
    """A line of a list of rounds."""

    id: str
    question: str
    asked_at: str
    stage: str
    url: str | None


class RoundListOutput(Output):
    """Rounds, newest first."""

    rounds: list[RoundLineOutput]
