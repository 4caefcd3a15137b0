"""The verdict line under an answer: the winner, how sure that is, time and cost."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.render.formatting import author_names, duration, join_words, money, number_word, points
from council.methods import shown_method
from council.rounds import Round
from council.tally import Standing, Strength, Tally, Verdict
from council.tally.borda import TOLERANCE
from council.tally.verdict import CLEAR_P, HIGHEST_SHARE

NOT_BLIND = "Not blind, not ranked: the models read each other's answers under their names"


def verdict_line(round_: Round) -> str:
    """Return the winner, how sure that is, the time and the cost."""
    return " · ".join(filter(None, verdict_facts(round_)))


def verdict_facts(round_: Round) -> tuple[str, str, str, str]:
    """Return the winner, how sure that is, the time and the cost; "" for what does not apply."""
    return (
        _winner_text(round_),
        _demonstration_text(round_) or _certainty_text(round_),
        duration(round_.closing.seconds) if round_.closing else "",
        money(round_.cost_usd),
    )


_IN_A_ROW = {
    Strength.UNANIMOUS: "unanimous",
    Strength.CLEAR: "clear lead",
    Strength.CLOSE: "slight lead",
    Strength.NO_CONSENSUS: "no clear lead",
}


def short_verdict(round_: Round) -> tuple[str, str]:
    """Return for a row of a list who is first and how sure that is, or what there is instead."""
    if not round_.tally or not round_.draw:
        return "", ""
    authors = author_names(round_.panel, round_.draw)
    first = [line for line in round_.tally.standings if line.place == 1]
    if not first:
        return _winner_text(round_), ""
    if len(first) > 1:
        return f"Tied: {join_words(authors[line.label] for line in first)}", ""
    is_sure = not any(seat.demonstration for seat in round_.panel.judges)
    verdict = round_.tally.verdict
    strength = _IN_A_ROW.get(verdict.strength, "")
    if verdict.strength is Strength.UNANIMOUS and not verdict.is_sure:
        strength = "too few judges"
    return authors[first[0].label], strength if is_sure else ""


def _winner_text(round_: Round) -> str:
    if not round_.tally or not round_.draw:
        return ""
    lines = round_.tally.standings
    authors = author_names(round_.panel, round_.draw)
    first = [line for line in lines if line.place == 1]
    if not first:
        return "No ranking: no judges were left" if len(lines) else _unranked_text(round_)
    if shown_method(round_).pair_ballots:
        return _knockout_text(first, len(lines), authors)
    if len(first) == len(lines):
        return f"No clear winner: all {number_word(len(first))} answers got the same points"
    if len(first) > 1:
        tied = join_words(authors[line.label] for line in first)
        return f"Tied for first: {tied}, {points(first[0].points, first[0].max_points)} points"
    score = points(first[0].points, first[0].max_points)
    is_weak = round_.tally.verdict.strength is Strength.NO_CONSENSUS
    lead = "No clear winner; most points" if is_weak else "Best-ranked"
    return f"{lead}: {authors[first[0].label]}, {score} points"


def _knockout_text(first: Sequence[Standing], answers: int, authors: Mapping[str, str]) -> str:
    """Return who was left; answers that tied share a place, whichever of them a lot sent on."""
    if len(first) == answers:
        return "No clear winner: the matches that counted were ties"
    if len(first) > 1:
        return f"Tied for first: {join_words(authors[line.label] for line in first)}"
    score = points(first[0].points, first[0].max_points)
    return f"Last one left: {authors[first[0].label]}, {score} matches won"


def _unranked_text(round_: Round) -> str:
    if not shown_method(round_).is_ranked:
        return NOT_BLIND
    answers = len(round_.answers)
    if answers == 1:
        return "One answer, nothing to rank"
    if round_.panel.trial and not round_.panel.trial.is_ranked:
        return "Graded, not ranked"
    if round_.draw and not round_.draw.slates:
        return f"{number_word(answers).capitalize()} answers, no judges left"
    return "No valid rankings, so there is no result"


def _certainty_text(round_: Round) -> str:
    """Return how sure the first place is; demo models never make one sure."""
    if not round_.tally or any(seat.demonstration for seat in round_.panel.judges):
        return ""
    # The text before this one says that there is a tie or no winner.
    verdict = round_.tally.verdict
    if shown_method(round_).pair_ballots and verdict.strength is Strength.CLOSE:
        return "some answer always is, and one judge decided each match"
    if verdict.strength is Strength.UNANIMOUS and not _is_first_everywhere(round_.tally):
        is_clear = verdict.p is not None and verdict.p <= CLEAR_P
        verdict = replace(verdict, strength=Strength.CLEAR if is_clear else Strength.CLOSE)
    unsure = {Strength.TIED, Strength.NO_CONSENSUS}
    text = "" if verdict.strength in unsure else describe_certainty(verdict)
    return text[:1].lower() + text[1:]


def _is_first_everywhere(tally: Tally) -> bool:
    """Return whether every ranking puts the winner first; older rounds looked at a judge's mean."""
    share = tally.standings[0].share
    return share is not None and share >= HIGHEST_SHARE - TOLERANCE


def describe_certainty(verdict: Verdict) -> str:
    """Return in words for people how sure the first place is."""
    match verdict.strength:
        case Strength.UNANIMOUS:
            judges = verdict.first_on[1]
            who = {1: "Its only judge", 2: "Both judges"}.get(judges, f"All {judges} judges")
            is_doubtful = verdict.p is None or verdict.p > CLEAR_P
            doubt = "; with so few, that can be chance" if is_doubtful else ""
            return f"{who} put it first{doubt}"
        case Strength.CLEAR:
            return "Clearly ahead; unlikely to be chance"
        case Strength.CLOSE:
            return "Slightly ahead; could be chance"
        case Strength.TIED:
            return "Tied for first"
        case Strength.NO_CONSENSUS:
            return "No clear winner"


def _demonstration_text(round_: Round) -> str:
    if not any(seat.demonstration for seat in round_.panel.judges):
        return ""
    models = [seat.model_id for seat in round_.panel.members]
    shared = ", one used twice" if len(set(models)) < len(models) else ""
    return f"demo models{shared}: ignore the ranking"
