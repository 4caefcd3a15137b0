"""The rankings of a closed round by judge, with reasons, invalid replies and audits."""

from collections.abc import Iterator, Mapping, Sequence

from bot.chat import Heading, Line, Note, Part, Post, Quote
from bot.render.formatting import author_names, ordinal, seat_names
from bot.render.round_report.revealed import reason_by_name
from bot.render.text_safety import shorten
from council.ballots import Ballot
from council.labels import Slate
from council.methods import BLIND_RANKING, missing_rules, shown_method
from council.round_rules import NAMED, ORDER
from council.round_rules import OWN as AUDITS_OWN
from council.rounds import Draw, Round

_TITLE = "Rankings"
HOW_SHOWN = "After each ranking: in which places the judge was shown these answers."
# What the judge of each kind of audit ballot saw.
AUDIT_VIEWS = {
    ORDER: "saw the same answers again in reverse",
    AUDITS_OWN: "saw its own answer among the others",
    NAMED: "saw the same answers again with their authors' names",
}
NO_NAMES: Mapping[str, str] = {}
MAX_REASON_CHARACTERS = 120  # of a judge's reason in a thread; the rest opens with a button


def rankings_post(round_: Round, draw: Draw, max_reason: int | None = None) -> Post:
    """Return every ranking with its reason, or what made it invalid.

    With `max_reason`, reasons are cut to so many characters, and the order that each judge saw is
    left out.
    """
    slates, intro = slates_to_read(round_, draw), rankings_intro(round_)
    parts: list[Part] = [Heading(_TITLE), Note(f"{intro} {HOW_SHOWN}")]
    if max_reason is not None:
        parts = [Line(f"**{_TITLE}:** {intro[0].lower()}{intro[1:]}")]
    last_of = {slate.judge: slate for slate in slates}
    for slate in slates:
        parts += _ranking_parts(round_, draw, slate, max_reason)
        if slate is last_of[slate.judge]:
            parts += map(Note, ranking_notes(round_, slate.judge))
    return Post(tuple(parts), _TITLE)


def slates_to_read(round_: Round, draw: Draw) -> Sequence[Slate]:
    """Return what judges saw, by judge; matches, which follow from each other, as played."""
    slates = shown_method(round_).slates(round_, draw)
    judges = [*dict.fromkeys(slate.judge for slate in slates)]
    if shown_method(round_).pair_ballots:
        return slates
    return sorted(slates, key=lambda slate: judges.index(slate.judge))


def rankings_intro(round_: Round) -> str:
    """Return how the judges saw the answers, and what an unusual method asked of them."""
    method = shown_method(round_)
    if method.pair_ballots:
        return "Each pair was judged without names, in both orders, by one judge who wrote neither."
    how = "Each judge saw the other answers without names, in a different order."
    if method.name != BLIND_RANKING.name and not missing_rules(round_):
        how += f" {method.summary}"
    if any(ballot.canary for ballot in round_.ballots):
        how += " Among them was a canary, a text that was made to lose; it was not counted."
    return how


def _ranking_parts(
    round_: Round, draw: Draw, slate: Slate, max_reason: int | None
) -> Iterator[Part]:
    authors, judge = author_names(round_.panel, draw), voter_title(round_, slate)
    cast = [b for b in round_.ballots if b.voter == slate.voter and b.counts]
    if not cast:
        yield Line(f"**{judge}**: no valid ranking")
    for ballot in cast:
        shown = "" if max_reason else f" · shown {shown_text(ballot)}"
        yield Line(f"**{judge}**: {ranking_text(ballot, authors)}{shown}")
        if reason := reason_by_name(round_, ballot, authors):
            short = _short_reason(reason, max_reason or len(reason))
            yield Note(f"“{short}”") if max_reason else Quote(reason)


def _short_reason(reason: str, most: int) -> str:
    """Return a reason in at most so many characters, after a whole sentence if one is long."""
    reason = " ".join(reason.split())
    short = shorten(reason, most)
    end = max(short.rfind(f"{sign} ") for sign in ".!?") + 1
    return f"{short[:end]} …" if short != reason and end > most // 2 else short


def voter_title(round_: Round, slate: Slate) -> str:
    """Return the name of a judge, with the number of its ranking where it gave several."""
    name, number = seat_names(round_.panel)[slate.judge], ranking_number(round_, slate)
    return name if number == 1 else f"{name}, ranking {number}"


def ranking_number(round_: Round, slate: Slate) -> int:
    """Return which of a judge's rankings this one is, from 1; matches share their passes."""
    slates = shown_method(round_).slates(round_, round_.draw) if round_.draw else ()
    return 1 + sum(
        one.judge == slate.judge and one.pass_number < slate.pass_number for one in slates
    )


def ranking_notes(round_: Round, judge: str) -> Iterator[str]:
    """Yield what else to know of a judge's ranking: invalid replies, cut answers, means, audits."""
    name = seat_names(round_.panel)[judge]
    for reply in round_.spoiled:
        if reply.judge == judge and not reply.is_audit:
            yield f"{name}'s reply {reply.paper.attempt} was not counted: {reply.fault}."
    cast = [ballot for ballot in round_.ballots if ballot.judge == judge]
    why_cut = "as this panel wants" if round_.panel.terms.equal_length else "to fit its context"
    for tokens in sorted({b.paper.cut_to for b in cast if b.counts and b.paper and b.paper.cut_to}):
        yield f"{name} saw every answer cut to {tokens:,} tokens, {why_cut}."
    if any(ballot.has_cut_reason for ballot in cast):
        yield f"{name}'s reason was cut at 2 KB."
    for slate in round_.draw.slates if round_.draw else ():
        if slate.judge == judge and slate.wording:
            yield f"Instruction to {name}: {slate.wording}."
    for ballot in cast:
        has_logprobs = ballot.paper and ballot.paper.reply.logprobs
        if has_logprobs and any(grade % 1 for _, grade in ballot.grades):
            yield f"{name}'s grades are means over the scale, weighted by its own probabilities."
    yield from _audit_lines(round_, judge)


def _audit_lines(round_: Round, judge: str) -> Iterator[str]:
    name = seat_names(round_.panel)[judge]
    authors = author_names(round_.panel, round_.draw) if round_.draw else NO_NAMES
    for ballot in round_.ballots:
        if ballot.judge == judge and not ballot.counts:
            seen = AUDIT_VIEWS.get(ballot.audit or "", f"voted again ({ballot.audit})")
            ranked = ranking_text(ballot, authors)
            yield f"{name} {seen} and ranked {ranked}; an audit, not counted."
    for spoiled in round_.spoiled:
        if spoiled.judge == judge and spoiled.is_audit:
            yield f"{name}'s ranking for an audit was invalid: {spoiled.fault}."


def shown_text(ballot: Ballot) -> str:
    """Return in which places the judge saw the answers that it ranked, best first: "2nd, 1st"."""
    ranked = (label for place in ballot.ranking for label in place)
    return ", ".join(ordinal(1 + ballot.shown.index(label)) for label in ranked)


def ranking_text(ballot: Ballot, names: Mapping[str, str]) -> str:
    """Return a ranking by name, "Qwen 3 > GPT-5.1 = Kimi", with the grades it follows from."""
    shown = {label: names.get(label, label) for label in ballot.shown}
    shown |= {label: f"{shown[label]} ({grade:.3g})" for label, grade in ballot.grades}
    return " > ".join(" = ".join(shown[label] for label in place) for place in ballot.ranking)
