"""Rounds of every shape a store may be handed, stopped at any stage.

What they hold is arbitrary, so nothing comes back by luck: any text, unknown costs, ties, absences
of every role, spoiled and audit ballots, fallbacks. Their parts are in panel order.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta, timezone
from uuid import uuid4

from hypothesis import strategies as st

from council.answers import Absence, Answer, LateReply, Origin, Prompt, Reply, Role, Source
from council.ballots import Ballot, BallotExchange, Ranking, SpoiledBallot
from council.files import QuestionFile
from council.integrity.erasure import forget
from council.labels import PUBLIC_LETTERS, Label, LabelMap, Slate
from council.panel import Member, ModelId, Panel, Rubric, Terms
from council.rounds import Closing, Draw, Fallback, Question, Round, Stage, Synthesis
from council.tally import FlagKind, Standing, Strength, Tally, Verdict
from council.tally.agreement import Agreement
from council.tally.flags import parse_flag
from tests.builders import ASKED_AT

TEXT = st.one_of(
    # No database stores half a surrogate pair, and Postgres no NUL; U+FFFF is its escape.
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\uffff"), max_size=12),
    st.sampled_from(
        [
            "👩‍👩‍👧 家族 🧠",
            "日本語の答え",
            "'; DROP TABLE round; --",
            "null",
            "007",
            "\r\n\t",
            "\\u0000",
        ]
    ),
)
TEXTS = st.lists(TEXT, max_size=2).map(tuple)
FLOATS = st.floats(0, 1e6)
MAYBE = st.none() | FLOATS
COUNTS = st.integers(0, 2**31 - 1)
MOMENTS = st.builds(
    lambda microseconds, minutes: (ASKED_AT + timedelta(microseconds=microseconds)).astimezone(
        timezone(timedelta(minutes=minutes))
    ),
    st.integers(0, 10**15),
    st.integers(-840, 840),
)
FILES = st.lists(st.builds(QuestionFile, TEXT, TEXT, TEXT, TEXT), max_size=2).map(tuple)
QUESTIONS = st.builds(Question, TEXT, TEXT, TEXT, reference=TEXT, files=FILES)
SOURCES = st.lists(st.builds(Source, TEXT, TEXT), max_size=2).map(tuple)
PROMPTS = st.builds(Prompt, TEXT, TEXT)
REPLIES = st.builds(
    Reply, TEXT, st.booleans(), st.none() | COUNTS, st.none() | COUNTS, MAYBE, FLOATS, COUNTS
)
SCORES = st.lists(st.tuples(TEXT, st.floats(-50, -1e-6)), max_size=2).map(tuple)
LOGPROBS = st.lists(st.tuples(COUNTS, SCORES), max_size=2).map(tuple)
GRADED = st.builds(lambda reply, found: replace(reply, logprobs=found), REPLIES, LOGPROBS)
SOURCED = st.builds(lambda reply, sources: replace(reply, sources=sources), GRADED, SOURCES)
AGREEMENTS = st.builds(Agreement, MAYBE, MAYBE, MAYBE)
CLOSINGS = st.builds(Closing, FLOATS, st.none() | TEXT)


def papers(attempt: int = 1) -> st.SearchStrategy[BallotExchange]:
    return st.builds(BallotExchange, TEXT, PROMPTS, GRADED, st.just(attempt), st.none() | COUNTS)


@st.composite
def panels(draw: st.DrawFn) -> Panel:
    keys = draw(st.lists(TEXT, min_size=2, max_size=7, unique=True))
    seats = [
        Member(key, ModelId(draw(TEXT)), draw(TEXT), draw(TEXT), draw(MAYBE), draw(TEXT))
        for key in keys
    ]
    members = draw(st.integers(2, min(5, len(seats))))
    judges = draw(st.integers(members, len(seats)))
    # A chairman may sit on the council too, or have no other seat.
    chairmen = draw(st.sampled_from([(), (seats[0],), tuple(seats[judges:]), tuple(seats[-2:])]))
    terms = draw(st.builds(Terms, TEXT, st.integers(1, members), FLOATS, FLOATS, FLOATS, MAYBE))
    rubric = draw(st.builds(Rubric, TEXT, TEXT, TEXTS))
    panel = Panel(
        draw(TEXT), tuple(seats[:members]), rubric, tuple(seats[members:judges]), chairmen, terms
    )
    filters = (None, Member("filter", ModelId("a/filter"), draw(TEXT), ""))
    return replace(panel, filter=draw(st.sampled_from(filters)))


@st.composite
def verdicts(draw: st.DrawFn, panel: Panel) -> Verdict:
    seats = [seat.key for seat in panel.seats]
    about_a_seat = st.builds("{} {}".format, st.sampled_from(seats), st.sampled_from(FlagKind))
    sentences = draw(st.lists(TEXT | about_a_seat, max_size=3))
    return Verdict(
        strength=draw(st.sampled_from(Strength)),
        p=draw(MAYBE),
        first_on=draw(st.tuples(COUNTS, COUNTS)),
        too_few_judges=draw(st.booleans()),
        agreement=draw(AGREEMENTS),
        n_eff=draw(MAYBE),
        flags=tuple(parse_flag(sentence, seats) for sentence in sentences),
    )


def rankings(shown: Sequence[Label]) -> st.SearchStrategy[Ranking]:
    """Return rankings with ties anywhere; a tie for last is what a judge left unranked."""
    tied = st.lists(st.booleans(), min_size=len(shown), max_size=len(shown))
    return st.tuples(st.permutations(shown), tied).map(lambda found: _places(*found))


def _places(order: Sequence[Label], tied: Sequence[bool]) -> Ranking:
    places: list[tuple[Label, ...]] = []
    for label, joins in zip(order, tied, strict=True):
        if places and joins:
            places[-1] += (label,)
        else:
            places.append((label,))
    return tuple(places)


@st.composite
def syntheses(draw: st.DrawFn, panel: Panel, labels: Sequence[Label]) -> Synthesis:
    if draw(st.booleans()):
        return Synthesis(draw(TEXT), None, Fallback.ANSWER, tuple(labels[:1]))
    return Synthesis(
        text=draw(TEXT),
        chairman=draw(st.sampled_from(panel.chair_order)).key,
        fallback=draw(st.sampled_from([None, Fallback.CHAIRMAN])),
        drawn_on=tuple(labels[: draw(st.integers(0, 2))]),
        departs=draw(st.booleans()),
        why=draw(st.none() | TEXT),
        prompt=draw(PROMPTS),
        reply=draw(REPLIES),
    )


@st.composite
def rounds(draw: st.DrawFn) -> Round:
    """Draw a round at any stage."""
    round_ = Round(
        id=uuid4().hex,
        question=draw(QUESTIONS),
        panel=draw(panels()),
        seed=draw(TEXT),
        asked_at=draw(MOMENTS),
        versions=draw(VERSIONS),
        bakeoff=draw(TEXT),
    )
    stage = draw(st.sampled_from(Stage))
    round_ = _answered(draw, round_, partly=stage is Stage.OPEN)
    if round_.answers and stage is not Stage.OPEN:
        round_ = _balloted(draw, round_.with_(_draw(draw, round_)))
        if stage is not Stage.ANSWERED:
            round_ = _ranked(draw, round_)
    return round_.with_(draw(CLOSINGS)) if stage is Stage.CLOSED else round_


def rounds_or_forgotten() -> st.SearchStrategy[Round]:
    """Draw a round at any stage, or one whose texts were removed."""
    forgotten = st.builds(forget, rounds(), MOMENTS, st.uuids().map(lambda salt: salt.hex))
    return st.one_of(rounds(), forgotten)


VERSIONS = st.dictionaries(TEXT, TEXT, max_size=3).map(lambda found: tuple(sorted(found.items())))


def _answered(draw: st.DrawFn, round_: Round, *, partly: bool) -> Round:
    for seat in round_.panel.members:
        came = draw(
            st.sampled_from(["answer", "answer", "absence", *(["nothing"] if partly else [])])
        )
        if came == "answer":
            answer = Answer(
                seat.key,
                draw(PROMPTS),
                draw(SOURCED),
                draw(TEXTS),
                draw(TEXTS),
                model=draw(TEXT),
                origin=draw(st.none() | st.builds(Origin, TEXT, st.just(ASKED_AT))),
            )
            round_ = round_.with_(answer)
        elif came == "absence":
            round_ = round_.with_(Absence(seat.key, Role.ANSWER, draw(TEXT)))
            if draw(st.booleans()):
                late = LateReply(seat.key, Role.ANSWER, draw(PROMPTS), draw(SOURCED))
                round_ = round_.with_(late)
    return round_


def _draw(draw: st.DrawFn, round_: Round) -> Draw:
    letters = draw(st.permutations(PUBLIC_LETTERS))
    authors = [answer.member for answer in round_.answers]
    labels = LabelMap(tuple(zip(authors, map(Label, letters), strict=False)))
    slates = []
    for seat in round_.panel.judges:
        others = [label for author, label in labels.pairs if author != seat.key]
        if len(others) > 1:
            slates.append(Slate(seat.key, tuple(draw(st.permutations(others)))))
    return Draw(labels, tuple(slates))


def _balloted(draw: st.DrawFn, round_: Round) -> Round:
    for slate in round_.draw.slates if round_.draw else ():
        attempts = draw(st.integers(0, 2))
        for attempt in range(1, attempts + 1):
            round_ = round_.with_(SpoiledBallot(slate.judge, draw(TEXT), draw(papers(attempt))))
        if draw(st.booleans()):
            round_ = round_.with_(Absence(slate.judge, Role.BALLOT, draw(TEXT)))
            continue
        for kind in draw(st.sampled_from([(None,), (None, "order"), (None, "order", "own")])):
            ranking = draw(rankings(slate.shown))
            paper = draw(papers(attempts + 1))
            round_ = round_.with_(
                Ballot(slate.judge, slate.shown, ranking, draw(TEXT), paper, kind)
            )
    return round_


def _ranked(draw: st.DrawFn, round_: Round) -> Round:
    labels = round_.draw.labels.labels if round_.draw else ()
    order = draw(st.permutations(labels))
    lines = [
        Standing(label, place, draw(MAYBE), draw(FLOATS), draw(COUNTS), draw(COUNTS), draw(MAYBE))
        for place, label in enumerate(order, start=1)
    ]
    # Without a counted ballot there are no standings.
    found = draw(st.sampled_from([tuple(lines), tuple(lines), ()]))
    round_ = round_.with_(Tally(found, draw(verdicts(round_.panel))))
    for chairman in round_.panel.chair_order[: draw(st.integers(0, 2))]:
        round_ = round_.with_(Absence(chairman.key, Role.SYNTHESIS, draw(TEXT)))
    return round_.with_(draw(syntheses(round_.panel, labels))) if draw(st.booleans()) else round_
