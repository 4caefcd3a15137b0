"""Sentences and tables about a leaderboard: footnotes, who is ahead, council value, changes."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from bot.bakeoffs.render.leaderboard_tables import (
    Leaderboard,
    interval_text,
    lead_text,
    percent,
    signed_number,
    signed_points,
    tie_note,
)
from bot.chat import Buttons, Caution, Heading, Line, Mentions, Note, Part, Post, Table
from bot.render.formatting import count_noun, duration, join_words, known_text, money, number_table
from council.bakeoffs.changes import Changes, Measure, MemberChange, SwapHint, SwapSign
from council.bakeoffs.council_value import (
    COUNCIL,
    BestMember,
    CouncilValueLine,
    Drafts,
    Payoff,
)
from council.bakeoffs.grade_comparison import MIN_GRADED
from council.bakeoffs.leaderboard import RankedBy
from council.bakeoffs.pairwise import MIN_ROUNDS, RunOff

NO_CHANGE = "No change beyond chance since {}."
_MAX_CHANGES = 5  # in a post


# --- Footnotes


def footnote_lines(leaderboard: Leaderboard) -> Iterator[str]:
    """Yield why places are shared, what other judges say of the first two, and what was mixed."""
    board, by_grades = leaderboard.board, leaderboard.board.ranked_by is RankedBy.GRADES
    if note := tie_note(board.rows):
        yield note
    if left_out := join_words(_too_few_text(leaderboard)):
        yield f"Not placed: {left_out}."
    if board.run_off and board.run_off.rounds >= MIN_ROUNDS and not by_grades:
        yield _run_off_line(leaderboard, board.run_off)
    if board.is_mixed:
        met = [line for line in board.rows if line.strength is not None]
        met.sort(key=lambda line: -(line.strength or 0.0))
        order = ", ".join(leaderboard.name(x.member) for x in met)
        yield f"Estimated order by points if every model had met every other: {order}."


def _too_few_text(leaderboard: Leaderboard) -> Iterator[str]:
    """Yield the models without a place that were counted: "Qwen 3, too few rounds (5)"."""
    by_grades = leaderboard.board.ranked_by is RankedBy.GRADES
    what = "graded questions" if by_grades else "rounds"
    for line in leaderboard.board.rows:
        count = line.graded if by_grades else line.rounds
        if line.place is None and count:
            yield f"{leaderboard.name(line.member)}, too few {what} ({count})"


def _run_off_line(leaderboard: Leaderboard, run_off: RunOff) -> str:
    first, second = leaderboard.name(run_off.first), leaderboard.name(run_off.second)
    over = count_noun(run_off.rounds, "round")
    if not round(run_off.margin, 2):
        return f"Judges other than {first} and {second} rank both alike over {over}."
    if run_off.changed:
        return (
            f"Leave out the votes of {second} and {first} themselves, and {first} leads "
            f"({signed_number(run_off.margin)} over {over}). A model can vote down a rival, so "
            "check before you choose."
        )
    return (
        f"Judges other than {first} and {second} also prefer {first} "
        f"({signed_number(run_off.margin)} over {over})."
    )


def claim_lines(leaderboard: Leaderboard) -> Iterator[str]:
    """Yield who is ahead of whom beyond chance; nothing for a single member."""
    if len(leaderboard.board.rows) < 2:  # noqa: PLR2004
        return
    beaten: defaultdict[str, list[str]] = defaultdict(list)
    for duel in leaderboard.board.claims:
        loser = duel.second if duel.ahead == duel.first else duel.first
        beaten[duel.ahead or ""].append(loser)
    order = [line.member for line in leaderboard.board.rows]
    for member in order:
        if losers := join_words(leaderboard.name(x) for x in order if x in beaten[member]):
            yield f"{leaderboard.name(member)} is ahead of {losers}; unlikely to be chance."
    if not leaderboard.board.claims:
        yield "No model is ahead of another beyond chance yet."


# --- Council value

_MAX_DRAFTS = 10
_ROUNDING = 0.05  # of a count computed from a share


def council_value_table(leaderboard: Leaderboard) -> Table | None:
    """Return the best member, the council and the winner; None if nothing was graded or voted."""
    value = leaderboard.worth
    if not value.best or not value.rows:
        return None
    right = "Chosen" if value.is_voted else "Right"
    columns = ("Answer", right, "95 % interval", "Against the best", "Price", "Time")
    rows = [_best_member_row(leaderboard, value.best), *map(_council_value_row, value.rows)]
    if drafts := value.drafts:
        name = f"{leaderboard.name(value.best.member)}, {drafts.times} drafts"
        rows.append((name, percent(drafts.accuracy), "", "", *_cost_and_time(drafts)))
    return number_table(columns, rows)


def _best_member_row(leaderboard: Leaderboard, best: BestMember) -> tuple[str, ...]:
    row = next((line for line in leaderboard.board.rows if line.member == best.member), None)
    name = f"{leaderboard.name(best.member)} (best model)"
    is_same = row and not best.is_picked_elsewhere and not leaderboard.worth.is_voted
    interval = interval_text(row.accuracy_ci) if row and is_same else ""
    return (name, percent(best.accuracy), interval, "", *_cost_and_time(best))


def _council_value_row(line: CouncilValueLine) -> tuple[str, ...]:
    right = known_text(line.accuracy, percent)
    lead = lead_text(line.difference, line.difference_ci)
    return (line.name, right, interval_text(line.accuracy_ci), lead, *_cost_and_time(line))


def _cost_and_time(line: CouncilValueLine | BestMember | Drafts) -> tuple[str, str]:
    return known_text(line.cost_usd, money), known_text(line.seconds, duration)


def council_value_lines(leaderboard: Leaderboard) -> Iterator[str]:
    """Yield whether the council is worth its price, compared with what else it could buy."""
    value = leaderboard.worth
    if not value.rows or not value.best:
        return
    if not value.is_decided:
        kind, count = "voted" if value.is_voted else "graded", value.rows[0].graded
        yield f"Too few {kind} questions to say: {count} of the {MIN_GRADED} that are needed."
        return
    worth_it = [line for line in value.rows if line.verdict is Payoff.WORTH_IT]
    for line in worth_it:
        yield _worth_it_line(leaderboard, line, value.best)
    if others := [line for line in value.rows if line not in worth_it]:
        yield _no_gain_line(leaderboard, others, value.best)
    yield from _drafts_lines(leaderboard, value.best, value.rows[0])
    if not value.best.is_picked_elsewhere:
        yield "The best single model is picked from these same rounds, which flatters it."


def _worth_it_line(leaderboard: Leaderboard, line: CouncilValueLine, best: BestMember) -> str:
    got, of = _got(leaderboard, line)
    alone = f"{leaderboard.name(best.member)} alone {_counted_text(best, line.graded)}"
    return f"Worth it here: {_who(line)} {got} {_counted_text(line, line.graded, of)}, {alone}."


def _no_gain_line(
    leaderboard: Leaderboard, lines: Sequence[CouncilValueLine], best: BestMember
) -> str:
    """Return that the best model alone does as well as these, which count the same questions."""
    got, of = _got(leaderboard, lines[0])
    others = [f"{_who(line)} {_counted_text(line, line.graded)}" for line in lines]
    alone = f"{leaderboard.name(best.member)} alone"
    counted = _counted_text(best, lines[0].graded, of)
    return f"No gain shown: {alone} {got} {counted}, {join_words(others)}."


def _who(line: CouncilValueLine) -> str:
    return "the council" if line.name == COUNCIL else "the best-ranked answer"


def _got(leaderboard: Leaderboard, line: CouncilValueLine) -> tuple[str, str]:
    """Return a verb for right answers or choices, and what they are out of."""
    if leaderboard.worth.is_voted:
        return "was chosen by people in", f" of {line.graded}"
    return "got", f" of {line.graded} right"


def _counted_text(line: CouncilValueLine | BestMember, graded: int, of: str = "") -> str:
    """Return a count and its price: "18 of 24 right for $0.012 a question"."""
    return f"{_counted(line.accuracy, graded)}{of}{_price_text(line)}"


def _counted(share: float | None, graded: int) -> str:
    """Return how many of the graded questions a share is; people may be split on one."""
    count = (share or 0.0) * graded
    return f"{count:.0f}" if abs(count - round(count)) < _ROUNDING else f"{count:.1f}"


def _price_text(line: CouncilValueLine | BestMember) -> str:
    return "" if line.cost_usd is None else f" for {money(line.cost_usd)} a question"


def _drafts_lines(
    leaderboard: Leaderboard, best: BestMember, council: CouncilValueLine
) -> Iterator[str]:
    """Yield how the best member does if it is asked as often as the council pays for."""
    name, drafts = leaderboard.name(best.member), leaderboard.worth.drafts
    if drafts:
        price = "" if drafts.cost_usd is None else f", for {money(drafts.cost_usd)} a question"
        right = _counted(drafts.accuracy, drafts.questions)
        yield (
            f"Asked {drafts.times} times, {name} alone got {right} of {drafts.questions} "
            f"right{price}. Against that, the council is at "
            f"{lead_text(drafts.lead, drafts.lead_ci)}."
        )
    elif council.cost_usd and best.cost_usd and not leaderboard.worth.is_voted:
        times, seats = round(council.cost_usd / best.cost_usd), len(leaderboard.board.rows)
        if times > 1:
            yield (
                f"For the same money, {name} alone could be asked about {times} times. To see "
                f"whether that does as well, set “drafts = {min(_MAX_DRAFTS, seats)}” for it in "
                "council.toml and run the suite on a panel of nothing else."
            )


# --- Changes

_Names = Mapping[str, str]


def change_lines(changes: Changes, names: _Names) -> Iterator[str]:
    """Yield what changed beyond noise, the largest fall first."""
    for move in changes.beyond_noise:
        yield _change_line(move, names)
    for hint in changes.hints:
        yield _swap_hint_line(hint, names)
    if changes.hints:
        yield "This can happen when a provider changes the model behind a name."
    if changes.new:
        yield f"New: {join_words(_name(key, names) for key in changes.new)}."
    if changes.missing:
        missing = join_words(_name(key, names) for key in changes.missing)
        earlier = "baseline" if changes.baseline else "previous run"
        yield f"Missing: {missing} answered in the {earlier}, but not in this one."


def few_change_lines(changes: Changes, names: _Names) -> Iterator[str]:
    """Yield what changed beyond noise; the first lines of many, and how many are left out."""
    lines = [*change_lines(changes, names)]
    yield from lines[:_MAX_CHANGES]
    if (rest := len(lines) - _MAX_CHANGES) > 0:
        yield f"And {count_noun(rest, 'more change')}."


def changes_post(
    changes: Changes,
    names: _Names,
    title: str,
    subscribers: Sequence[str] = (),
    buttons: Buttons | None = None,
    missing: Sequence[str] = (),
) -> Post:
    """Return what changed in a run, if anything did, as a short post that mentions subscribers.

    `title` names the schedule or suite, `subscribers` are user ids in the chat. What is `missing`
    stands above.
    """
    lines = [*few_change_lines(changes, names)]
    parts: list[Part] = [Heading(f"{title}: what changed")]
    parts += [*map(Caution, missing), *map(Line, lines)]
    parts += [Note(comparison_line(changes))] if changes.runs else []
    if subscribers:
        parts.append(Mentions(tuple(subscribers)))
    parts += [buttons] if buttons else []
    return Post(tuple(parts), f"{title}: {[*lines, *missing][0]}")


def no_change_line(changes: Changes) -> str:
    """Return that nothing changed, and since when."""
    return NO_CHANGE.format(_baseline_text(changes) or "the last run")


def _baseline_text(changes: Changes) -> str:
    at = changes.baseline
    return f"the baseline of {at.day} {at:%B %Y}" if at else ""


def comparison_line(changes: Changes) -> str:
    """Return what was compared with what."""
    shares = [move for move in changes.moves if move.measure is Measure.SHARE]
    members = count_noun(len({move.member for move in shares}), "model")
    if baseline := _baseline_text(changes):
        return f"{members} compared with {baseline}, question by question."
    runs = count_noun(max((move.runs for move in shares), default=changes.runs), "earlier run")
    return (
        f"{members} compared with {runs}, question by question; differences that may be "
        "chance are left out."
    )


def _change_line(move: MemberChange, names: _Names) -> str:
    verb = "fell" if move.difference < 0 else "rose"
    measure = "of rivals beaten" if move.measure is Measure.SHARE else "right"
    ends = " to ".join(map(signed_points, move.ci))
    change = f"{signed_points(move.difference)} points, {ends}"
    return (
        f"{_name(move.member, names)} {verb} from {percent(move.before)} to {percent(move.now)} "
        f"{measure} ({change}); unlikely to be chance."
    )


def _swap_hint_line(hint: SwapHint, names: _Names) -> str:
    name = _name(hint.member, names)
    is_more = hint.now > hint.before
    match hint.sign:
        case SwapSign.LENGTH:
            longer = "longer" if is_more else "shorter"
            return f"{name} writes {longer}: {hint.now:.0f} words, {hint.before:.0f} before."
        case SwapSign.LATENCY:
            slower = "slower" if is_more else "faster"
            return f"{name} is {slower}: {duration(hint.now)}, {duration(hint.before)} before."
        case SwapSign.REFUSALS:
            frequency = "more often" if is_more else "less often"
            return (
                f"{name} refuses {frequency}: {percent(hint.now)}, {percent(hint.before)} before."
            )


def _name(key: str, names: _Names) -> str:
    return names.get(key, key)
