"""What changed since earlier runs, in sentences and as a post: who moved beyond noise."""

from collections.abc import Iterator, Mapping, Sequence

from bot.chat import Heading, Line, Mentions, Note, Part, Post
from bot.render.boards.chart import percent
from bot.render.figures import counted, duration, listed
from council.bakeoffs.changes import Changes, Hint, Measure, Move, Sign

Names = Mapping[str, str]

SWAP = "That is what it looks like when a provider puts another model behind a name."
QUIET = "Nothing moved beyond noise."
FIRST_RUN = "The first run: there is nothing to compare it with yet."


def news_lines(changes: Changes, names: Names) -> Iterator[str]:
    """Say what changed beyond noise, the largest fall first; nothing where nothing did."""
    for move in changes.beyond_noise:
        yield _moved(move, names)
    for hint in changes.hints:
        yield _hinted(hint, names)
    if changes.hints:
        yield SWAP
    if changes.new:
        yield f"New: {listed(_name(key, names) for key in changes.new)}."
    if changes.missing:
        missing = listed(_name(key, names) for key in changes.missing)
        yield f"Missing: {missing} answered in the run before, and not in this one."


def delta_post(changes: Changes, names: Names, title: str, subscribers: Sequence[str] = ()) -> Post:
    """Give what changed in a run as a short post; it calls subscribers, and only where it is news.

    `title` names the schedule or suite, `subscribers` are ids of the chat it goes to.
    """
    lines = [*news_lines(changes, names)]
    parts: list[Part] = [Heading(f"{title}: {'what changed' if lines else 'no change'}")]
    if changes.runs:
        parts += map(Line, lines or [QUIET])
        parts.append(Note(compared(changes)))
    else:
        parts.append(Line(FIRST_RUN))
    if lines and subscribers:
        parts.append(Mentions(tuple(subscribers)))
    summary = f"{title}: {lines[0] if lines else QUIET if changes.runs else FIRST_RUN}"
    return Post(tuple(parts), summary)


def compared(changes: Changes) -> str:
    """Say what was compared with what."""
    shares = [move for move in changes.moves if move.measure is Measure.SHARE]
    runs = counted(max((move.runs for move in shares), default=changes.runs), "earlier run")
    members = counted(len({move.member for move in shares}), "member")
    return f"{members} compared with {runs}, question by question; what may be chance is left out."


def _moved(move: Move, names: Names) -> str:
    went = "fell" if move.difference < 0 else "rose"
    of = "of rivals beaten" if move.measure is Measure.SHARE else "right"
    by = f"{_points(move.difference)} points, {_points(move.ci[0])} to {_points(move.ci[1])}"
    return (
        f"{_name(move.member, names)} {went} from {percent(move.before)} to {percent(move.now)} "
        f"{of} ({by}), beyond noise."
    )


def _points(share: float) -> str:
    return f"{share * 100:+.0f}".replace("-", "−")


def _hinted(hint: Hint, names: Names) -> str:
    name = _name(hint.member, names)
    more = hint.now > hint.before
    match hint.sign:
        case Sign.LENGTH:
            longer = "longer" if more else "shorter"
            return f"{name} writes {longer}: {hint.now:.0f} words, before {hint.before:.0f}."
        case Sign.LATENCY:
            slower = "slower" if more else "faster"
            return f"{name} is {slower}: {duration(hint.now)}, before {duration(hint.before)}."
        case Sign.REFUSALS:
            often = "more often" if more else "less often"
            return f"{name} refuses {often}: {percent(hint.now)}, before {percent(hint.before)}."


def _name(key: str, names: Names) -> str:
    return names.get(key, key)
