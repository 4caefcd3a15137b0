"""The commands `council tally` and `council slates`: count and draw without a round."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Self

import typer
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from bot.cli.output import MISUSED, Json, async_command, fail, print_json, read_file
from bot.render.round_json import tally_document
from bot.render.round_report.verdict import describe_certainty
from bot.settings.council_toml import SettingsError, validation_faults
from council.ballots import Ballot
from council.labels import Label, draw_labels, draw_slates
from council.panel import MAX_MEMBERS, MIN_MEMBERS
from council.tally import Tally, count_ballots
from council.tally.borda import pair_matrix


@async_command
async def tally(
    file: Annotated[Path, typer.Argument(help="Ballots as JSON.")], as_json: Json = False
) -> None:
    """Count ballots from a file."""
    try:
        entries = _BallotFile.model_validate_json(read_file(file))
    except ValidationError as error:
        raise SettingsError(validation_faults(error, f"{file.name}: ")) from None
    cast = Counter[str]()  # by judge: several ballots are its passes, and weigh as one
    ballots = []
    for entry in entries.ballots:
        cast[entry.judge] += 1
        ballots.append(replace(entry.ballot(), pass_number=cast[entry.judge]))
    # The seed decides only draws, where p cannot be exact.
    tally = count_ballots(map(Label, entries.candidates), ballots, "tally")
    if as_json:
        counted = [ballot for ballot in ballots if len(ballot.shown) > 1]
        print_json(tally_document(tally, pair_matrix(counted)))
    else:
        _print_tally(tally)


def slates(
    candidates: Annotated[int, typer.Option(help="How many models answer.")],
    seed: Annotated[str, typer.Option(help="The round's seed.")],
    outside: Annotated[int, typer.Option(min=0, help="How many outside judges.")] = 0,
    as_json: Json = False,
) -> None:
    """Print the labels and display orders that a seed gives."""
    if not MIN_MEMBERS <= candidates <= MAX_MEMBERS:
        fail(f"Between {MIN_MEMBERS} and {MAX_MEMBERS} candidates can be ranked.", MISUSED)
    authors = [str(i) for i in range(candidates)]
    labels = draw_labels(authors, seed)
    drawn = draw_slates(labels, [str(candidates + i) for i in range(outside)], seed)
    if as_json:
        slates = [{"judge": int(slate.judge), "shown": list(slate.shown)} for slate in drawn]
        print_json({"labels": list(labels.labels), "slates": slates})
        return
    typer.echo(f"labels: {' '.join(labels.labels)}")
    for slate in drawn:
        typer.echo(f"judge {slate.judge} sees {' '.join(slate.shown)}")


class _BallotEntry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    judge: str
    shown: tuple[str, ...] = Field(min_length=1)
    ranking: tuple[tuple[str, ...], ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _ranks_its_slate(self) -> Self:
        ranked = [name for place in self.ranking for name in place]
        if len(set(ranked)) < len(ranked) or len(set(self.shown)) < len(self.shown):
            raise ValueError(f"the ranking by {self.judge!r} names a candidate twice")
        if unknown := set(ranked) - set(self.shown):
            raise ValueError(f"{self.judge!r} ranks {min(unknown)!r}, which it was not shown")
        if not ranked:
            raise ValueError(f"the ranking by {self.judge!r} is empty")
        return self

    def ballot(self) -> Ballot:
        """Return the ballot; candidates that it leaves out tie for last."""
        places = [tuple(map(Label, place)) for place in self.ranking if place]
        ranked = {name for place in places for name in place}
        left_out = tuple(Label(name) for name in self.shown if name not in ranked)
        ranking = (*places, left_out) if left_out else tuple(places)
        return Ballot(self.judge, tuple(map(Label, self.shown)), ranking)


class _BallotFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    candidates: tuple[str, ...] = Field(min_length=2)
    ballots: tuple[_BallotEntry, ...]

    @model_validator(mode="after")
    def _shows_candidates(self) -> Self:
        if len(set(self.candidates)) < len(self.candidates):
            raise ValueError("a candidate is listed twice")
        shown = {name for ballot in self.ballots for name in ballot.shown}
        if unknown := shown - set(self.candidates):
            raise ValueError(f"a ballot shows {min(unknown)!r}, which is not a candidate")
        return self


def _print_tally(tally: Tally) -> None:
    for line in tally.standings:
        share = "–" if line.share is None else f"{line.share:.3f}"
        rank = "–" if line.mean_rank is None else f"{line.mean_rank:.2f}"
        typer.echo(
            f"{line.place}  {line.label:20} {share}  {line.points:g} of {line.max_points}  "
            f"first on {line.first_votes}  mean rank {rank}"
        )
    p = "–" if tally.verdict.p is None else f"{tally.verdict.p:.3f}"
    typer.echo(f"{describe_certainty(tally.verdict)} (p = {p})")
