"""From a round's artefacts to rows."""

from collections.abc import Iterator
from dataclasses import asdict
from functools import singledispatch
from typing import Any

from pydantic import TypeAdapter
from sqlmodel import SQLModel

from council.answers import Absence, Answer, Prompt, Reply
from council.ballots import Ballot, Paper, SpoiledBallot
from council.errors import StoreError
from council.panel import Panel
from council.rounds import Artefact, Closing, Draw, Round, Synthesis
from council.tally import Tally
from storage import rows

PANEL = TypeAdapter(Panel)


def round_row(round_: Round) -> rows.RoundRow:
    """Give the round's own row; what it holds besides is in rows of its artefacts."""
    closed = closing_values(round_.closing) if round_.closing else {}
    return rows.RoundRow(
        id=round_.id,
        asked_by=round_.question.asked_by,
        **asdict(round_.question.place),
        asked_at=round_.asked_at,
        panel_name=round_.panel.name,
        panel=PANEL.dump_python(round_.panel, mode="json"),
        seed=round_.seed,
        versions=dict(round_.versions),
        **closed,
        bakeoff=round_.bakeoff,
        **(_asked(round_) | forgotten_values(round_)),
    )


def part_rows(round_: Round) -> Iterator[SQLModel]:
    """Give every row that keeps what the round holds, table by table; not its own."""
    held: list[Artefact] = [*round_.answers, *round_.absences, *round_.ballots, *round_.spoiled]
    late: list[Artefact | None] = [round_.draw, round_.tally, round_.synthesis]
    held += [artefact for artefact in late if artefact]
    for artefact in held:
        yield from artefact_rows(artefact, round_.id)


@singledispatch
def artefact_rows(artefact: Artefact, round_id: str) -> Iterator[SQLModel]:
    """Give the rows that keep an artefact; a closing is kept in the round's own row.

    The first row is the one whose key any other artefact for the same place would have.
    """
    raise TypeError(f"{artefact!r} has no table")


@artefact_rows.register
def _(answer: Answer, round_id: str) -> Iterator[SQLModel]:
    yield rows.AnswerRow(
        round_id=round_id,
        member=answer.member,
        scrubbed=list(answer.scrubbed),
        suspicions=list(answer.suspicions),
        **_prompt(answer.prompt),
        **_reply(answer.reply),
    )


@artefact_rows.register
def _(absence: Absence, round_id: str) -> Iterator[SQLModel]:
    yield rows.AbsenceRow(round_id=round_id, **asdict(absence))


@artefact_rows.register
def _(draw: Draw, round_id: str) -> Iterator[SQLModel]:
    for i, (member, label) in enumerate(draw.labels.pairs):
        yield rows.LabelRow(round_id=round_id, member=member, label=label, position=i)
    for i, slate in enumerate(draw.slates):
        shown: list[str] = [*slate.shown]
        yield rows.SlateRow(round_id=round_id, judge=slate.judge, shown=shown, position=i)


@artefact_rows.register
def _(ballot: Ballot, round_id: str) -> Iterator[SQLModel]:
    if ballot.paper is None:
        raise StoreError(
            f"The ballot of {ballot.judge!r} came without what it was read from, so it could not "
            "be recomputed and is not kept."
        )
    yield rows.BallotRow(
        round_id=round_id,
        judge=ballot.judge,
        audit=ballot.audit or "",
        shown=list(ballot.shown),
        ranking=[list(place) for place in ballot.ranking],
        reason=ballot.reason,
        **_paper(ballot.paper),
    )


@artefact_rows.register
def _(spoiled: SpoiledBallot, round_id: str) -> Iterator[SQLModel]:
    yield rows.SpoiledBallotRow(
        round_id=round_id, judge=spoiled.judge, fault=spoiled.fault, **_paper(spoiled.paper)
    )


@artefact_rows.register
def _(tally: Tally, round_id: str) -> Iterator[SQLModel]:
    found = tally.verdict
    yield rows.VerdictRow(
        round_id=round_id,
        strength=found.strength.value,
        p=found.p,
        first_on=found.first_on[0],
        first_of=found.first_on[1],
        too_few_judges=found.too_few_judges,
        n_eff=found.n_eff,
        flags=list(found.flags),
        **asdict(found.agreement),
    )
    for i, line in enumerate(tally.standings):
        yield rows.StandingRow(round_id=round_id, position=i, **asdict(line))


@artefact_rows.register
def _(synthesis: Synthesis, round_id: str) -> Iterator[SQLModel]:
    reply = _reply(synthesis.reply) if synthesis.reply else {}
    yield rows.SynthesisRow(
        round_id=round_id,
        text=synthesis.text,
        chairman=synthesis.chairman,
        fallback=synthesis.fallback,
        drawn_on=list(synthesis.drawn_on),
        departs=synthesis.departs,
        why=synthesis.why,
        reply=reply.pop("text", None),
        **reply,
        **(_prompt(synthesis.prompt) if synthesis.prompt else {}),
    )


def _prompt(prompt: Prompt) -> dict[str, Any]:
    return {"prompt_system": prompt.system, "prompt_user": prompt.user}


def _reply(reply: Reply) -> dict[str, Any]:
    return asdict(reply)


def _paper(paper: Paper) -> dict[str, Any]:
    own: dict[str, Any] = {"nonce": paper.nonce, "attempt": paper.attempt, "cut_to": paper.cut_to}
    return own | _prompt(paper.prompt) | _reply(paper.reply)


def closing_values(closing: Closing) -> dict[str, Any]:
    """Give what a closing changes in the round's row."""
    return {"seconds": closing.seconds, "failure": closing.failure}


def forgotten_values(round_: Round) -> dict[str, Any]:
    """Give what forgetting changes in the round's row; nothing for one that is remembered."""
    gone = round_.forgotten
    if gone is None:
        return {}
    digests = [[*pair] for pair in gone.digests]
    return {**_asked(round_), "forgotten_at": gone.at, "salt": gone.salt, "digests": digests}


def _asked(round_: Round) -> dict[str, Any]:
    """Give the texts that a round's own row keeps."""
    asked = round_.question
    return {"question": asked.text, "context": asked.context, "reference": asked.reference}
