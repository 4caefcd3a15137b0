"""A round as a JSON document with a stable schema: for programs, exports and the page."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from council.analysis import analyse
from council.answers import Answer, Exchange, LateReply, Reply
from council.ballots import Ballot
from council.decisions import unfollowed_points
from council.filters import find_suspects
from council.methods import shown_method
from council.money import sum_or_none
from council.pipeline.ranking import Ranked
from council.ports import RoundSummary
from council.round_rules import consistency_weights, weighted_standings
from council.rounds import Choice, Decision, Draw, Round, Synthesis
from council.tally import Standing, Tally, Verdict
from council.tally.borda import PairMatrix

Document = dict[str, Any]

_USAGE = ("tokens_in", "tokens_out", "cost_usd", "seconds")
_STANDING = ("share", "points", "max_points", "first_votes", "mean_rank", "place")
_AUTHORED = ("answers", "late", "exchanges", "ballots", "spoiled", "standings")


def round_document(round_: Round) -> Document:
    """Return the round; seats by key, labels public, unknown values null.

    Until it is closed, nothing says who wrote what. It has no seed either, since the labels can be
    drawn from it.
    """
    document = _whole_document(round_)
    if round_.closing or round_.forgotten:
        return document
    return document | {name: [] for name in _AUTHORED} | {"seed": None}


def _whole_document(round_: Round) -> Document:
    replies = round_.replies
    suspicions = [f"the answer of {x.member} {why}" for x in round_.answers for why in x.suspicions]
    suspicions += [
        f"the filter model suspects the {'reason' if one.is_reason else 'answer'} of {one.seat}"
        + (f": {one.why}" if one.why else "")
        for one in find_suspects(round_)
    ]
    return {
        "id": round_.id,
        "question": round_.question.text,
        "files": [
            {"name": file.name, "media_type": file.media_type} for file in round_.question.files
        ],
        "asked_by": round_.question.asked_by,
        "asked_at": round_.asked_at.isoformat(),
        "panel": round_.panel.name,
        "method": round_.panel.terms.method,
        "seed": round_.seed,
        "stage": round_.stage.value,
        "failure": round_.closing.failure if round_.closing else None,
        "forgotten": round_.forgotten.at.isoformat() if round_.forgotten else None,
        "answers": [
            _answer_document(answer, draft, round_.draw)
            for answer, draft in zip(round_.revised, round_.answers, strict=True)
        ],
        "absences": [
            {"member": a.member, "role": a.role.value, "reason": a.reason} for a in round_.absences
        ],
        "late": [_late_document(late) for late in round_.late],
        "exchanges": [_exchange_document(exchange) for exchange in round_.exchanges],
        "ballots": [_ballot_document(ballot) for ballot in round_.ballots],
        "spoiled": [
            {
                "judge": s.judge,
                "fault": s.fault,
                "text": s.paper.reply.text,
                "audit": s.is_audit,
                "pass": s.pass_number,
            }
            for s in round_.spoiled
        ],
        "standings": _standing_documents(round_),
        "weighted": _weighted_document(round_),
        "verdict": verdict_document(round_.tally.verdict, suspicions) if round_.tally else None,
        "synthesis": _synthesis_document(round_.final) if round_.final else None,
        "decisions": [_choice_document(d, c) for d in round_.decisions for c in d.choices],
        "earlier": [_synthesis_document(one) for one in round_.syntheses[:-1]],
        **(_decided_documents(round_) if round_.decisions else {}),
        "analysis": asdict(analysis) if (analysis := analyse(round_)) else None,
        "cost_usd": round_.cost_usd,
        "tokens_in": _sum_tokens(reply.tokens_in for reply in replies),
        "tokens_out": _sum_tokens(reply.tokens_out for reply in replies),
        "seconds": round_.closing.seconds if round_.closing else None,
        "versions": dict(round_.versions),
        "rubric": {"name": round_.panel.rubric.name, "version": round_.panel.rubric.version},
    }


def summary_document(summary: RoundSummary) -> Document:
    """Return a line of a list of rounds."""
    forgotten = {"forgotten": summary.forgotten.isoformat()} if summary.forgotten else {}
    return {
        "id": summary.id,
        "question": summary.question,
        "asked_at": summary.asked_at.isoformat(),
        "stage": summary.stage.value,
        **forgotten,
    }


def tally_document(tally: Tally, matrix: PairMatrix) -> Document:
    """Return a tally of ballots from a file.

    `pair_matrix[x][y]` is the share of ballots that put x above y.
    """
    pairs: dict[str, dict[str, float]] = {}
    for (first, second), share in matrix.items():
        pairs.setdefault(first, {})[second] = share
    return {
        "standings": [
            {"candidate": line.label, **_standing_document(line)} for line in tally.standings
        ],
        "verdict": verdict_document(tally.verdict),
        "pair_matrix": pairs,
    }


def ranking_document(ranked: Ranked, ranking_id: str) -> Document:
    """Return a ranking of given texts; texts by name, without labels."""
    return {
        "id": ranking_id,
        "standings": [asdict(line) for line in ranked.standings],
        "verdict": verdict_document(ranked.verdict),
        "ballots": [
            {
                "judge": ballot.judge,
                "pass": ballot.pass_number,
                "shown": list(ballot.shown),
                "ranking": [list(place) for place in ballot.ranking],
                "reason": ballot.reason,
            }
            for ballot in ranked.ballots
        ],
        "absences": [{"judge": one.member, "reason": one.reason} for one in ranked.absences],
        "cost_usd": ranked.cost_usd,
    }


def verdict_document(verdict: Verdict, suspicions: Iterable[str] = ()) -> Document:
    """Return a verdict with all that weakens it."""
    return {
        "strength": verdict.strength.value,
        "p": verdict.p,
        "first_on": list(verdict.first_on),
        "too_few_judges": verdict.too_few_judges,
        "tau_b": verdict.agreement.tau_b,
        "kendall_w": verdict.agreement.kendall_w,
        "alpha": verdict.agreement.alpha,
        "n_eff": verdict.n_eff,
        "flags": [*map(str, verdict.flags), *suspicions],
    }


def _answer_document(answer: Answer, draft: Answer, draw: Draw | None) -> Document:
    return {
        "member": answer.member,
        "label": draw.labels.label_of(answer.member) if draw else None,
        "text": answer.text,
        "draft": draft.text if answer != draft else None,
        **_usage_document(answer.reply),
        "scrubbed": list(answer.scrubbed or ()),
        "cut": answer.reply.cut,
        "missed": list(answer.missed),
        "sources": [asdict(source) for source in answer.reply.sources],
    }


def _late_document(late: LateReply) -> Document:
    document = {"member": late.member, "role": late.role.value, "text": late.reply.text}
    return document | _usage_document(late.reply)


def _exchange_document(exchange: Exchange) -> Document:
    return {
        "kind": exchange.kind,
        "seat": exchange.seat,
        "subject": exchange.subject,
        "attempt": exchange.attempt,
        "scores": dict(exchange.scores),
        "fault": exchange.fault or None,
        "text": exchange.reply.text,
        **_usage_document(exchange.reply),
    }


def _ballot_document(ballot: Ballot) -> Document:
    return {
        "judge": ballot.judge,
        "shown": list(ballot.shown),
        "ranking": [list(place) for place in ballot.ranking],
        "reason": ballot.reason,
        "nonce": ballot.paper.nonce if ballot.paper else None,
        "attempts": ballot.paper.attempt if ballot.paper and ballot.counts else 1,
        "counted": ballot.counts,
        "audit": ballot.audit,
        "pass": ballot.pass_number,
        "grades": dict(ballot.grades),
        "canary": ballot.canary or None,
    }


def _standing_documents(round_: Round) -> list[Document]:
    if not round_.tally or not round_.draw:
        return []
    author_of = round_.draw.labels.author_of
    return [
        {"member": author_of(line.label), "label": line.label, **_standing_document(line)}
        for line in round_.tally.standings
    ]


def _weighted_document(round_: Round) -> Document | None:
    """Return the result by judges weighted by consistency; None until that is known."""
    if not (lines := weighted_standings(round_)):
        return None
    return {
        "weights": consistency_weights(round_),
        "shares": {line.label: line.share for line in lines},
        "first": [line.label for line in lines if line.place == 1],
        "official": shown_method(round_).is_weighted,
    }


def _standing_document(line: Standing) -> Document:
    return {name: getattr(line, name) for name in _STANDING}


def _synthesis_document(synthesis: Synthesis) -> Document:
    return {
        "text": synthesis.text,
        "chairman": synthesis.chairman,
        "fallback": synthesis.fallback.value if synthesis.fallback else None,
        "drawn_on": list(synthesis.drawn_on),
        "departs": synthesis.departs,
        "why": synthesis.why,
        **_usage_document(synthesis.reply),
    }


def _choice_document(decision: Decision, choice: Choice) -> Document:
    return {
        "point": choice.point,
        "says": choice.says,
        "by": decision.by,
        "at": decision.at.isoformat(),
    }


def _decided_documents(round_: Round) -> Document:
    """Return what a round has only once somebody decided."""
    return {
        "replies": [_reply_document(one) for one in round_.decisions if not round_.is_own(one)],
        "unfollowed": _unfollowed_documents(round_),
    }


def _reply_document(decision: Decision) -> Document:
    """Return what was written for somebody who did not ask; it replaces nothing."""
    written = _synthesis_document(decision.synthesis)
    return {"by": decision.by, "at": decision.at.isoformat(), "synthesis": written}


def _unfollowed_documents(round_: Round) -> list[Document]:
    """Return the decisions that the answer written for them does not follow."""
    return [
        {"point": point, "by": decision.by, "at": decision.at.isoformat()}
        for decision in round_.decisions
        for point in unfollowed_points(round_, decision)
    ]


def _usage_document(reply: Reply | None) -> Document:
    return {name: getattr(reply, name, None) for name in _USAGE}


def _sum_tokens(counts: Any) -> int | None:  # noqa: ANN401
    summed = sum_or_none(counts)
    return None if summed is None else int(summed)
