"""A simulation on the command line: what is asked for, checked, and what it shows."""

from collections.abc import Mapping
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Annotated, Self

import typer
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from bot.cli.output import MISUSED, fail, run, say_json
from bot.render.round_json import tally_document
from bot.research.simulation_report import simulation_document, simulation_post
from bot.settings.council_toml import SettingsError, faults_of
from council.ballots import Ballot
from council.errors import PanelError
from council.labels import Label
from council.research.power import SimulationSettings, simulation
from council.research.simulated_judges import PRESETS, Biases, SimulatedPanel, a_panel_of
from council.tally import Tally, count_ballots
from council.tally.standings import pair_matrix

# --- A simulation on the command line: what is asked for, checked, and what it shows.

LARGEST = 100.0  # anything beyond is no different


def panel_of(bias: str, given: Mapping[str, float | None], makers: str | int) -> SimulatedPanel:
    """Give the panel that options mean: their makers, or how many members; a wrong one ends it.

    Sizes that are None are those of the preset.
    """
    members = makers if isinstance(makers, int) else len(makers)
    try:
        return a_panel_of(members, _biases(bias, given), "" if isinstance(makers, int) else makers)
    except PanelError as error:
        fail(str(error), MISUSED)


def _biases(bias: str, given: Mapping[str, float | None]) -> Biases:
    if bias not in PRESETS:
        fail(f"--bias is {' or '.join(PRESETS)}, not {bias!r}.", MISUSED)
    sizes = {name: size for name, size in given.items() if size is not None}
    for name, size in sizes.items():
        if not isfinite(size) or abs(size) > LARGEST:
            fail(f"--{name} is a number from −{LARGEST:g} to {LARGEST:g}.", MISUSED)
    if sizes.get("noise", 0.0) < 0:
        fail("--noise is a standard deviation: 0 or more.", MISUSED)
    return replace(PRESETS[bias], **sizes)


async def show_simulation(wish: SimulationSettings, *, as_json: bool) -> None:
    """Simulate, and print what was found as tables or as JSON."""
    found = simulation(wish)
    if as_json:
        say_json(simulation_document(found))
        return
    from rich.console import Console

    from bot.terminal import dressed

    Console(highlight=False).print(dressed(simulation_post(found)))


# --- `council simulate`: what a panel of judges with known biases can tell, and what it cannot.

Size = float | None


# Typer reads its options off the parameters, so there are as many as there are options.
def simulate(  # noqa: PLR0913, PLR0917
    members: Annotated[int, typer.Option(min=3, max=10, help="Members; each judges.")] = 5,
    rounds: Annotated[int, typer.Option(min=10, max=2_000, help="Rounds of a leaderboard.")] = 100,
    bias: Annotated[
        str, typer.Option(help="Begin with none, or strong: position 2, own 1, noise 1.8.")
    ] = "none",
    position: Annotated[
        Size, typer.Option(help="What the first slot gains over the last.", show_default=False)
    ] = None,
    letter: Annotated[
        Size, typer.Option(help="What the letter B gains.", show_default=False)
    ] = None,
    own: Annotated[
        Size, typer.Option(help="What the judge's own answer gains.", show_default=False)
    ] = None,
    family: Annotated[
        Size, typer.Option(help="What other answers of its maker gain.", show_default=False)
    ] = None,
    length: Annotated[
        Size, typer.Option(help="What one deviation of length gains.", show_default=False)
    ] = None,
    noise: Annotated[
        Size, typer.Option(help="What chance adds, its deviation; else 1.", show_default=False)
    ] = None,
    makers: Annotated[
        str, typer.Option(help="A letter a member, as AABCD: who shares one.", show_default=False)
    ] = "",
    trials: Annotated[int, typer.Option(min=100, max=100_000, help="Simulated rounds.")] = 2_000,
    seed: Annotated[str, typer.Option(help="Any text; the same gives the same.")] = "council",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Simulate judges with biases of chosen size, and see what their panel can tell.

    Sizes are in units of worth: the answers to one question differ by 1, their standard deviation.
    With a position of 2 the first slot gains twice that over the last one.
    """
    given = {"position": position, "letter": letter, "own": own, "family": family}
    given |= {"length": length, "noise": noise}
    from council.research.power import SimulationSettings

    panel = panel_of(bias, given, makers or members)
    run(show_simulation(SimulationSettings(panel, trials, rounds, seed), as_json=as_json))


# --- Ballots from a file: read strictly, counted as in a round.

SEED = "tally"  # decides only draws, where p cannot be exact


class _BallotEntry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    judge: str
    shown: tuple[str, ...] = Field(min_length=1)
    ranking: tuple[tuple[str, ...], ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _ranks_its_slate(self) -> Self:
        ranked = [name for place in self.ranking for name in place]
        if len(set(ranked)) < len(ranked) or len(set(self.shown)) < len(self.shown):
            raise ValueError(f"the ballot of {self.judge!r} names a candidate twice")
        if unknown := set(ranked) - set(self.shown):
            raise ValueError(f"{self.judge!r} ranks {min(unknown)!r}, which it was not shown")
        if not ranked:
            raise ValueError(f"the ballot of {self.judge!r} ranks nothing")
        return self

    def ballot(self) -> Ballot:
        """Give the ballot; candidates it leaves out tie for last."""
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
            raise ValueError(f"a ballot shows {min(unknown)!r}, which is no candidate")
        return self


async def count_file(path: Path, *, as_json: bool) -> None:
    """Count the ballots of a file and print standings, verdict and, as JSON, the pair matrix."""
    given = _read(path)
    ballots = [entry.ballot() for entry in given.ballots]
    tally = count_ballots(map(Label, given.candidates), ballots, SEED)
    if as_json:
        counted = [ballot for ballot in ballots if len(ballot.shown) > 1]
        say_json(tally_document(tally, pair_matrix(counted)))
        return
    _print(tally)


def _read(path: Path) -> _BallotFile:
    try:
        return _BallotFile.model_validate_json(path.read_bytes())
    except OSError as error:
        raise SettingsError([f"{path} cannot be read: {error.strerror}."]) from None
    except ValidationError as error:
        raise SettingsError(faults_of(error, f"{path.name}: ")) from None


def _print(tally: Tally) -> None:
    for line in tally.standings:
        share = "–" if line.share is None else f"{line.share:.3f}"
        typer.echo(
            f"{line.place}  {line.label:20} {share}  {line.points:g} of {line.max_points}  "
            f"first on {line.first_votes}"
        )
    p = "–" if tally.verdict.p is None else f"{tally.verdict.p:.3f}"
    typer.echo(f"{tally.verdict.strength.value} (p = {p})")


# --- `council tally` and `council slates`: counting and drawing without a round.

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def tally(
    file: Annotated[Path, typer.Argument(help="Ballots as JSON.")], as_json: Json = False
) -> None:
    """Count the ballots of a file."""
    run(count_file(file, as_json=as_json))


def slates(
    candidates: Annotated[int, typer.Option(help="How many members answer.")],
    seed: Annotated[str, typer.Option(help="The round's seed.")],
    outside: Annotated[int, typer.Option(min=0, help="How many outside judges.")] = 0,
    as_json: Json = False,
) -> None:
    """Draw the labels and slates that a round with this seed would use."""
    from council.labels import draw_labels, draw_slates
    from council.panel import FEWEST_SEATS, MOST_SEATS

    if not FEWEST_SEATS <= candidates <= MOST_SEATS:
        fail(f"Between {FEWEST_SEATS} and {MOST_SEATS} candidates can be ranked.", MISUSED)
    authors = [str(i) for i in range(candidates)]
    labels = draw_labels(authors, seed)
    drawn = draw_slates(labels, [str(candidates + i) for i in range(outside)], seed)
    found = [{"judge": int(slate.judge), "shown": list(slate.shown)} for slate in drawn]
    if as_json:
        say_json({"labels": list(labels.labels), "slates": found})
        return
    typer.echo(f"labels: {' '.join(labels.labels)}")
    for slate in drawn:
        typer.echo(f"judge {slate.judge} sees {' '.join(slate.shown)}")
