"""Result of a study as a document, what differs between two of them, and the report of one page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby, zip_longest
from math import isclose
from typing import Any

from bot.render.formatting import count_noun, join_words, money
from bot.research.study_files import Replies
from council.money import MICRO_USD
from council.panel import Panel
from council.research.study import (
    Arm,
    Fault,
    Given,
    Part,
    QuestionResult,
    arms_of,
    measure_arms,
    measure_gains,
)
from council.research.study_runner import StudyRun

TOLERANCE = 1e-9
MAX_DIFFERENCES = 20  # named one by one
ARM_NAMES = {
    Arm.BEST: "best single member",
    Arm.DRAWS: "the same member, drawn",
    Arm.FUSION: "fusion: answers merged, no rankings",
    Arm.COUNCIL: "council",
}
Document = dict[str, Any]

# --- The result


def study_document(run: StudyRun, replies: Replies) -> Document:
    """Return everything that follows from a study's stored calls."""
    study = run.study
    return {
        "study": {
            "name": study.name,
            "digest": study.digest,
            "files": dict(study.files),
            "versions": dict(study.versions),
            "began": study.began.isoformat(),
            "questions": len(study.suite.questions),
            "arms": [*study.arms],
        },
        "replies": {"lines": replies.lines, "head": replies.head},
        "spent_usd": sum(call.micro for call in replies.calls) / MICRO_USD,
        "missing": [*_missing(run)],
        "panels": {panel.name: _panel_document(run, replies, panel) for panel in study.panels},
        "questions": [
            _question_document(run, result)
            for panel in study.panels
            for result in run.of_panel(panel.name)
        ],
    }


def _missing(run: StudyRun) -> Iterator[str]:
    """Yield a sentence for each part of a panel's questions that lacks replies."""
    asked = len(run.study.suite.questions)
    parts = sorted((cell[0], part, cell[1]) for cell, part in run.missing)
    for (panel, part), found in groupby(parts, key=lambda one: one[:2]):
        numbers = [number for *_, number in found]
        what = "draws" if part is Part.DRAWS else "replies"
        which = f", from question {min(numbers)} on" if len(numbers) > 1 else f": {numbers[0]}"
        which = "" if len(numbers) == asked else which
        yield f"Panel {panel} lacks {what} for {len(numbers)} of {asked} questions{which}."


def _panel_document(run: StudyRun, replies: Replies, panel: Panel) -> Document:
    plan, results = run.plans.get(panel.name), run.of_panel(panel.name)
    draws = {number: x for (name, number), x in run.draws.items() if name == panel.name}
    by_arm = arms_of(run.study, plan, results, draws)
    return {
        "members": {
            member.key: {
                "model": member.model_id,
                "right": sum(one.answers[member.key].right is True for one in results),
                "absent": sum(one.answers[member.key].right is None for one in results),
            }
            for member in panel.members
        },
        "chairman": panel.chair_order[0].key,
        "method": panel.terms.method,
        "failed_calls": _failed_calls(replies, panel),
        "refused_calls": sum(
            call.slot.panel == panel.name and call.fault is Fault.REFUSED for call in replies.calls
        ),
        "picks": {str(half): seat for half, seat in plan.picks.items()} if plan else {},
        "draws": dict(plan.draws) if plan and Arm.DRAWS in run.study.arms else {},
        "arms": [asdict(line) | {"ci": [*line.ci]} for line in measure_arms(by_arm)],
        "gains": [asdict(gain) | {"ci": [*gain.ci]} for gain in measure_gains(by_arm)],
    }


def _failed_calls(replies: Replies, panel: Panel) -> Document:
    """Return for each seat with failures how many of its calls failed, and of how many."""
    calls = [
        call
        for call in replies.calls
        if call.slot.panel == panel.name and call.fault is not Fault.REFUSED
    ]
    return {
        seat: {
            "failed": sum(call.fault is not None for call in calls if call.slot.seat == seat),
            "calls": sum(call.slot.seat == seat for call in calls),
        }
        for seat in sorted({call.slot.seat for call in calls if call.fault})
    }


def _question_document(run: StudyRun, result: QuestionResult) -> Document:
    cell = result.panel, result.number
    drawn = run.draws.get(cell)
    return {
        "panel": result.panel,
        "question": result.number,
        "half": run.study.halves[result.number],
        "answers": {seat: _given(given) for seat, given in result.answers.items()},
        "standings": dict(result.standings),
        "council": {**_given(result.council), "calls": result.calls},
        "fusion": _given(result.fusion) if result.fusion else None,
        "draws": {
            "seat": drawn.seat,
            "asked": drawn.asked,
            "answered": drawn.answered,
            "votes": drawn.votes,
            **_given(drawn.given),
        }
        if drawn
        else None,
    }


def _given(given: Given) -> Document:
    return {"right": given.right, "cost_usd": given.cost_usd}


# --- What differs


def differences(stored: object, recomputed: object, path: str = "") -> Iterator[str]:
    """Yield each place where a stored result differs from the recomputed one."""
    if isinstance(stored, dict) and isinstance(recomputed, dict):
        for key in {**recomputed, **stored}:
            at = f"{path}.{key}" if path else str(key)
            yield from differences(stored.get(key), recomputed.get(key), at)
    elif isinstance(stored, list) and isinstance(recomputed, list):
        if len(stored) != len(recomputed):
            yield f"{path}: stored {len(stored)} entries, recomputed {len(recomputed)}"
        for place, (one, other) in enumerate(zip(stored, recomputed, strict=False)):
            yield from differences(one, other, f"{path}[{place}]")
    elif not _same(stored, recomputed):
        yield f"{path}: stored {str(stored)[:80]}, recomputed {str(recomputed)[:80]}"


def _same(one: object, other: object) -> bool:
    numbers = int | float
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, numbers) and isinstance(other, numbers):
        return isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return one == other


def report_differences(stored: str, recomputed: str) -> Iterator[str]:
    """Yield the first line in which a stored report differs from the recomputed one, if any."""
    lines = zip_longest(stored.splitlines(), recomputed.splitlines(), fillvalue="")
    for number, (one, other) in enumerate(lines, start=1):
        if one != other:
            yield f"line {number}: stored {one[:80]!r}, recomputed {other[:80]!r}"
            return


# --- The report


def report_markdown(result: Mapping[str, Any]) -> str:
    """Return a result as one page of Markdown."""
    study = result["study"]
    parts = [f"# {study['name']}", *_paragraph(result["missing"])]
    for name, panel in result["panels"].items():
        if len(result["panels"]) > 1:
            parts.append(f"## {name}")
        parts += _panel_parts(panel)
    parts.append(
        "Differences are the council's share of right answers minus the other's, paired by "
        "question, with 95 % intervals. A missing answer is wrong. The best member is picked on "
        "one half of the questions and measured on the other, both ways. Money is the mean per "
        "question; a call that failed counts as free."
    )
    parts.append(
        f"{money(result['spent_usd'])} spent. Study `{study['digest']}`; its "
        f"{result['replies']['lines']:,} lines of replies end with digest "
        f"`{result['replies']['head']}`. Recompute it with `council lab study verify DIR`."
    )
    return "\n\n".join(parts) + "\n"


def _paragraph(sentences: Sequence[str]) -> Iterator[str]:
    if sentences:
        yield "**Incomplete.** " + " ".join(sentences)


def _panel_parts(panel: Mapping[str, Any]) -> Iterator[str]:
    if not panel["arms"]:
        yield "No question is complete."
        return
    arms = {line["arm"]: line for line in panel["arms"]}
    gains = {gain["over"]: gain for gain in panel["gains"]}
    yield " ".join(verdict(gains[arm]) for arm in Arm if arm in gains)
    yield "\n".join(_rows(panel, arms, gains))
    yield " ".join(_details(panel))


def verdict(gain: Mapping[str, Any]) -> str:
    """Return a sentence on whether the council was right more often than another arm."""
    low, high = gain["ci"]
    than = {
        Arm.BEST: "its best single member",
        Arm.DRAWS: "that member drawn several times",
        Arm.FUSION: "the same answers merged without rankings",
    }[Arm(gain["over"])]
    if low > 0:
        start = f"The council beat {than}"
    elif high < 0:
        start = f"The council was worse than {than}"
    else:
        start = f"No clear difference from {than}"
    return f"{start}: {gain['right']} of {gain['questions']} right against {gain['other_right']}."


def _rows(
    panel: Mapping[str, Any],
    arms: Mapping[str, Mapping[str, Any]],
    gains: Mapping[str, Mapping[str, Any]],
) -> Iterator[str]:
    yield "| | right | 95 % interval | council minus this, points | money | of the council's |"
    yield "|---|---|---|---|---|---|"
    for arm, line in arms.items():
        low, high = (f"{100 * x:.1f}" for x in line["ci"])
        gain = gains.get(arm)
        share = line["of_council"]
        yield (
            f"| {_arm_name(arm, panel)} | {line['right']} of {line['questions']} "
            f"({100 * line['mean']:.1f} %) | {low} to {high} % "
            f"| {_points(gain) if gain else ''} | {money(line['cost_usd'])} "
            f"| {'' if share is None else f'{100 * share:.0f} %'} |"
        )


def _arm_name(arm: str, panel: Mapping[str, Any]) -> str:
    times = sorted({*panel["draws"].values()})
    often = f" {' or '.join(map(str, times))} times" if arm == Arm.DRAWS and times else ""
    return f"{ARM_NAMES[Arm(arm)]}{often}"


def _points(gain: Mapping[str, Any]) -> str:
    mean, low, high = (_signed(100 * x) for x in (gain["mean"], *gain["ci"]))
    return f"{mean} ({low} to {high})"


def _signed(value: float) -> str:
    text = f"{value:+.1f}".replace("-", "−")
    return "0.0" if text[1:] == "0.0" else text


def _details(panel: Mapping[str, Any]) -> Iterator[str]:
    members, picks = panel["members"], panel["picks"]
    alone = join_words(f"{seat} {one['right']}" for seat, one in members.items())
    yield f"Right answers of each member alone: {alone}."
    best = [*dict.fromkeys(picks.values())]
    yield f"Picked as best: {best[0]}" + (f", and {best[1]}." if len(best) > 1 else ".")
    yield f"The chairman is {panel['chairman']}, the method {panel['method']}."
    for seat, failed in panel["failed_calls"].items():
        yield f"{failed['failed']} of {failed['calls']} calls to {seat} failed."
    if panel["refused_calls"]:
        refused = count_noun(panel["refused_calls"], "call")
        yield f"The cap of a question left no money for {refused}."
