"""Renderer of a closed round: the answer, who wrote what, the ballots; also as Markdown."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.chat import (
    Button,
    Buttons,
    Caution,
    File,
    Heading,
    Line,
    Mentions,
    Note,
    Part,
    Post,
    Prose,
    Quote,
    Steps,
    Table,
    Thread,
)
from bot.render.agreement import agreement_parts
from bot.render.formatting import (
    author_names,
    count_noun,
    duration,
    join_words,
    money,
    number_word,
    points,
    seat_names,
)
from bot.render.markdown_parser import first_sentence
from bot.render.text_safety import shorten
from council.answers import Answer, LateReply, Reply, Role
from council.ballots import FIRST_VERSION, Ballot
from council.digests import Erasure
from council.filters import FILTER, find_all_suspicions, find_suspects
from council.labels import Label, Slate
from council.methods import BLIND_RANKING, method_of
from council.pipeline.session import mask_answer
from council.ports import RoundSummary
from council.prompt_injection import ENCODED, PLEA
from council.round_rules import NAMED, ORDER, ballot_version, weighted_standings
from council.round_rules import OWN as AUDITS_OWN
from council.rounds import REVISION, Draw, Fallback, Round, Stage, winning_answer
from council.rubric_grader import GRADE, grade_reasons
from council.tally import Standing, Strength, Tally, Verdict
from council.tally.standings import TOLERANCE, ranks
from council.tally.verdict import CLEAR_P, HIGHEST_SHARE

# What the judge of each kind of audit ballot saw.
AUDIT_VIEWS = {
    ORDER: "saw the same answers again in reverse",
    AUDITS_OWN: "saw its own answer among the others",
    NAMED: "saw the same answers again with their authors' names",
}
OWN_TEXT, NO_BALLOT_TEXT = "own", "none"
ACTIONS = (
    ("answers", "Answers"),
    ("ballots", "Rankings"),
    ("helpful", "Helpful"),
    ("unhelpful", "Not helpful"),
)
MENU = (
    ("again", "Run again"),
    ("export", "Export"),
    ("forget", "Forget"),
)
DISCLAIMER = "AI-generated. Agreement is not truth; check what matters."
NO_NAMES: Mapping[str, str] = {}
MAX_REASON_CHARACTERS = 300  # of a judge's reason in a thread; the rest opens with a button
_RESULTS_TITLE, _RANKINGS_TITLE = "Results", "Rankings"
EXCHANGES_TITLE = "Also asked"
DRAFT_TITLE = "Its draft, before it read the comments:"
ResultRow = tuple[Label, str, Standing | None, Reply]
NOT_BLIND = "Not blind, not ranked: the models read each other's answers under their names"


def whole_round(round_: Round) -> Thread:
    """Return a round with every ranking and answer in full; only its root until it is closed."""
    draw = round_.draw
    if not draw or not (round_.closing or round_.forgotten):
        return Thread(round_post(round_))
    details = details_posts(round_, draw)
    answers = () if round_.forgotten else answers_by_label(round_, draw)
    posts = (results_post(round_, draw), *details, *(post for _, post in answers))
    return Thread(round_post(round_), posts)


def round_post(round_: Round, *, with_results: bool = False) -> Post:
    """Return the answer of a closed round; where it has no thread, with one line per model."""
    results = _result_lines(round_) if with_results and not round_.forgotten else ()
    answer = round_.synthesis.text if round_.synthesis else ""
    return Post(tuple(_root_parts(round_, results)), first_sentence(answer) or round_title(round_))


def menu_buttons(round_id: str) -> tuple[Button, ...]:
    """Return the less common buttons under an answer, which a menu shows."""
    return tuple(Button(action, label, round_id) for action, label in MENU)


def round_title(round_: Round) -> str:
    """Return the question, or the title of a forgotten one."""
    return round_.question.text or "A forgotten question"


def round_state(line: RoundSummary) -> str:
    """Return the state of a stored round: "answered", "failed", "unfinished" or "forgotten"."""
    if line.forgotten:
        return "forgotten"
    if line.stage is not Stage.CLOSED:
        return "unfinished"
    return "failed" if line.failed else "answered"


def forgotten_line(forgotten: Erasure) -> str:
    """Return since when the texts are deleted, and what remains."""
    return (
        f"The texts of this round were forgotten on {forgotten.at:%Y-%m-%d}. Its models, "
        "rankings and cost are kept."
    )


def _root_parts(round_: Round, results: Iterable[Line]) -> Iterator[Part]:
    yield Heading(round_title(round_))
    if round_.forgotten:
        yield Caution(forgotten_line(round_.forgotten))
    if round_.closing and round_.closing.failure:
        yield Caution(round_.closing.failure)
        again, *_, forget = menu_buttons(round_.id)
        yield from () if round_.forgotten else (Buttons((again, forget)),)
        return
    if round_.forgotten:
        yield Note(verdict_line(round_))
        return
    yield from map(Caution, _cautions(round_))
    if round_.synthesis:
        yield Prose(round_.synthesis.text)
    yield Note(verdict_line(round_))
    yield from results
    yield Note(DISCLAIMER)
    buttons = tuple(Button(action, label, round_.id) for action, label in ACTIONS)
    yield Buttons(buttons, menu_buttons(round_.id))


def results_post(round_: Round, draw: Draw) -> Post:
    """Return where the answers differ and who wrote what: the Borda table, or a plain list."""
    columns: tuple[str, ...] = ("Model", "Time", "Cost", "Response")
    if round_.tally and round_.tally.standings:
        columns = ("", "Model", "Points", "First votes", "Time", "Cost", "Response")
    rows = tuple(_result_cells(*row) for row in result_rows(round_, draw))
    numeric = frozenset(i for i, name in enumerate(columns) if name not in {"Model", "Response"})
    notes = [*result_notes(round_), *flag_notes(round_)]
    table = Table(columns, rows, numeric)
    parts = (Heading(_RESULTS_TITLE), *agreement_parts(round_, draw), table, *map(Note, notes))
    return Post(parts, _RESULTS_TITLE)


def result_rows(round_: Round, draw: Draw) -> list[ResultRow]:
    """Return each answer's label, author, standing if it was ranked, and reply, best first."""
    names = author_names(round_.panel, draw)
    standings = {line.label: line for line in (round_.tally.standings if round_.tally else ())}
    replies = {draw.labels.label_of(answer.member): answer.reply for answer in round_.revised}
    labels = ordered_labels(round_, draw)
    return [(label, names[label], standings.get(label), replies[label]) for label in labels]


def _result_cells(label: Label, name: str, line: Standing | None, reply: Reply) -> tuple[str, ...]:
    use = (duration(reply.seconds), money(reply.cost_usd).removeprefix("cost "), label)
    if not line:
        return (name, *use)
    return (
        str(line.place),
        name,
        points(line.points, line.max_points),
        str(line.first_votes),
        *use,
    )


def _result_lines(round_: Round) -> Iterator[Line]:
    """Yield a line for each model, in the order of the standings."""
    for _, name, line, reply in result_rows(round_, round_.draw) if round_.draw else ():
        facts = [f"**{name}**"]
        if line:
            score = f"{points(line.points, line.max_points)} points"
            facts = [f"**{line.place}. {name}**", score, count_noun(line.first_votes, "first vote")]
        facts.append(duration(reply.seconds))
        facts += [] if reply.cost_usd is None else [money(reply.cost_usd)]
        yield Line(" · ".join(facts))


def result_notes(round_: Round) -> Iterator[str]:
    """Yield who wrote the answer, how far the judges agreed, and what weights change, if known."""
    yield from _chairman_notes(round_)
    tau = round_.tally.verdict.agreement.tau_b if round_.tally else None
    if tau is not None:
        agreed = f"{tau:+.2f}".replace("-", "−")
        yield f"Judges' agreement: {agreed} (mean Kendall τ_b; 1 is full agreement, 0 is chance)."
    yield from _weight_notes(round_)


def _weight_notes(round_: Round) -> Iterator[str]:
    """Yield the result by judges weighted by consistency, or that the official one is so."""
    weighted, tally = weighted_standings(round_), round_.tally
    if not weighted or not tally:
        return
    if method_of(round_).is_weighted:
        yield "Judges weigh by their consistency in earlier rounds."
        return
    first = {line.label for line in tally.standings if line.place == 1}
    now = {line.label for line in weighted if line.place == 1}
    change = "The winner stays the same" if now == first else f"{join_words(sorted(now))} would win"
    shares, official = map(_share_list, (weighted, tally.standings))
    yield f"Weighted by consistency: {shares} (official: {official}). {change}."


def _share_list(lines: Iterable[Standing]) -> str:
    known = ((line.label, line.share) for line in lines if line.share is not None)
    return ", ".join(f"{label} {share:.2f}" for label, share in known)


def _chairman_notes(round_: Round) -> Iterator[str]:
    """Yield which chairman wrote the answer, and from what; nothing if none did."""
    written = round_.synthesis
    if written and written.chairman:
        drawn_on = join_words(written.drawn_on or ())
        drew = f"used {drawn_on}" if drawn_on else "did not name its sources"
        name = seat_names(round_.panel)[written.chairman]
        how = "saw the answers without names and " if method_of(round_).is_blind else ""
        yield f"Chairman: {name}, who {how}{drew}."


def flag_notes(round_: Round) -> list[str]:
    """Return what weakens the result, one note each."""
    names = seat_names(round_.panel)
    seats: dict[str, list[str]] = {}  # by what is said of them
    for flag in round_.tally.verdict.flags if round_.tally else ():
        seat, _, rest = flag.partition(" ")  # a flag may begin with the key of a seat
        said = rest if seat in names else flag
        said = said.replace("seats are of the", "models are from the")  # stored words stay
        said = said.replace("has no ballot that counts", "has no valid ranking")
        who = seats.setdefault(said, [])
        who += [names[seat]] if seat in names and names[seat] not in who else []
    flags = [_flag_text(who, said) for said, who in seats.items()]
    flags += [_suspicion_text(round_, a, s) for a in round_.answers for s in a.suspicions]
    flags += [
        _suspicion_text(round_, new, suspicion)
        for new, draft in zip(round_.revised, round_.answers, strict=True)
        if new != draft
        for suspicion in find_all_suspicions(round_, new.text)
        if suspicion not in draft.suspicions
    ]
    for owner, why in _suspects(round_, names):
        flags.append(f"the filter model suspects {owner}" + (f": “{why}”" if why else ""))
    return [f"Note: {flag}." for flag in flags]


def _suspicion_text(round_: Round, answer: Answer, suspicion: str) -> str:
    unseen = suspicion in {PLEA, ENCODED} and ballot_version(round_) != FIRST_VERSION
    hidden = "; judges did not see the request" if unseen else ""
    return f"{seat_names(round_.panel)[answer.member]}'s answer {suspicion}{hidden}"


def _suspects(round_: Round, names: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return whose answer or reason the panel's filter model suspects, and why."""
    return [
        (f"{names[one.seat]}'s {'reason' if one.is_reason else 'answer'}", one.why.rstrip("."))
        for one in find_suspects(round_)
    ]


def _flag_text(who: Sequence[str], said: str) -> str:
    if len(who) > 1:
        said = said.replace("has no valid ranking", "have no valid ranking")
        said = said.replace("changed its ranking", "changed their rankings")
        said = said.replace("in its reason", "in their reasons")
    return f"{join_words(who)} {said}".strip()


def details_posts(round_: Round, draw: Draw, max_text: int | None = None) -> tuple[Post, ...]:
    """Return the rankings, and what else the method asked; texts cut to so many characters."""
    rankings = (rankings_post(round_, draw, max_text),) if draw.slates else ()
    rows = exchange_rows(round_)
    if not rows:
        return rankings
    parts: list[Part] = [Heading(EXCHANGES_TITLE)]
    for title, note, text in rows:
        parts.append(Line(f"**{title}**{': ' if note else ''}{note}"))
        parts += [Quote(shorten(text, max_text) if max_text else text)] if text else []
    return (*rankings, Post(tuple(parts), EXCHANGES_TITLE))


def exchange_rows(round_: Round) -> list[tuple[str, str, str]]:
    """Return what was asked besides answers and rankings: who about what, what was read, text.

    A revision that counts is among the answers.
    """
    names = seat_names(round_.panel)
    authors = author_names(round_.panel, round_.draw) if round_.draw else {}
    rows = []
    for one in round_.exchanges:
        if one.kind == REVISION and not one.fault:
            continue
        about = f" for {names[one.subject]}" if one.subject in names else ""
        if one.subject in authors:
            about = f" on Response {one.subject}, by {authors[one.subject]}"
        title = f"{one.kind.capitalize()} from {names[one.seat]}{about}"
        read, text = ", ".join(f"{name} {score:.3g}" for name, score in one.scores), one.reply.text
        if one.kind == FILTER and not one.fault:
            owners = join_words(owner for owner, _ in _suspects(round_, names))
            read, text = f"suspects {owners or 'nothing'}", ""
        if one.kind == GRADE and not one.fault:
            grades = [f"{key} {'yes' if met else 'no'}" for key, met in one.scores]
            reasons = grade_reasons(round_, one)
            read, text = ", ".join(grades), " ".join(f"{x}: {reasons[x]}" for x in sorted(reasons))
        rows.append((title, f"not counted: {one.fault}" if one.fault else read, text))
    return rows


def rankings_post(round_: Round, draw: Draw, max_reason: int | None = None) -> Post:
    """Return every ranking with its reason, or what made it invalid.

    With `max_reason`, reasons are cut to so many characters, and what each judge saw is left out.
    """
    slates = slates_to_read(round_, draw)
    parts: list[Part] = [Heading(_RANKINGS_TITLE), Note(rankings_intro(round_))]
    last_of = {slate.judge: slate for slate in slates}
    for slate in slates:
        parts += _ranking_parts(round_, draw, slate, max_reason)
        if slate is last_of[slate.judge]:
            parts += map(Note, ranking_notes(round_, slate.judge))
    return Post(tuple(parts), _RANKINGS_TITLE)


def slates_to_read(round_: Round, draw: Draw) -> Sequence[Slate]:
    """Return what judges saw, by judge; matches, which follow from each other, as played."""
    slates = method_of(round_).slates(round_, draw)
    judges = [*dict.fromkeys(slate.judge for slate in slates)]
    if method_of(round_).pair_ballots:
        return slates
    return sorted(slates, key=lambda slate: judges.index(slate.judge))


def rankings_intro(round_: Round) -> str:
    """Return how the judges saw the answers, and what an unusual method asked of them."""
    method = method_of(round_)
    if method.pair_ballots:
        return "Each pair was judged without names, in both orders, by one judge who wrote neither."
    how = "Each judge saw the other answers without names, in a different order."
    if method.name != BLIND_RANKING.name:
        how += f" {method.summary}"
    if any(ballot.canary for ballot in round_.ballots):
        how += (
            " Among them was a canary: an answer to another question, which belongs in the last "
            "place and was not counted."
        )
    return how


def _ranking_parts(
    round_: Round, draw: Draw, slate: Slate, max_reason: int | None
) -> Iterator[Part]:
    authors, judge = author_names(round_.panel, draw), voter_title(round_, slate)
    cast = [b for b in round_.ballots if b.voter == slate.voter and b.counts]
    if not cast:
        yield Line(f"**{judge}**: no valid ranking")
    for ballot in cast:
        yield Line(f"**{judge}**: {ranking_text(ballot, authors)}")
        if ballot.reason:
            yield Quote(shorten(ballot.reason, max_reason) if max_reason else ballot.reason)
    if max_reason is None:
        shown = join_words(f"{label} ({authors[label]})" for label in slate.shown)
        which = ranking_number(round_, slate)
        number = f"For ranking {which}, " if which > 1 else ""
        name = seat_names(round_.panel)[slate.judge]
        yield Note(f"{number}{name} saw {shown}, in this order.")


def voter_title(round_: Round, slate: Slate) -> str:
    """Return the name of a judge, with the number of its ranking where it gave several."""
    name, number = seat_names(round_.panel)[slate.judge], ranking_number(round_, slate)
    return name if number == 1 else f"{name}, ranking {number}"


def ranking_number(round_: Round, slate: Slate) -> int:
    """Return which of a judge's rankings this one is, from 1; matches share their passes."""
    slates = method_of(round_).slates(round_, round_.draw) if round_.draw else ()
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


def answers_by_label(round_: Round, draw: Draw) -> Iterator[tuple[Label, Post]]:
    """Yield each answer's label and post, in the order of the standings."""
    authors = author_names(round_.panel, draw)
    answers = {draw.labels.label_of(one.member): one for one in answers_as_shown(round_)}
    drafts = {draw.labels.label_of(answer.member): answer for answer in round_.answers}
    for label in ordered_labels(round_, draw):
        answer = answers[label]
        title = f"Response {label}, by {authors[label]}"
        notes = []
        if answer.scrubbed:
            masked = join_words(f"“{trace}”" for trace in answer.scrubbed)
            notes.append(Note(f"Judges and chairman saw it with {masked} masked."))
        if answer.reply.cut:
            notes.append(Note("It was cut off at its model's token limit."))
        parts: list[Part] = [Heading(title), *notes, Prose(answer_markdown(answer))]
        if answer.reply != drafts[label].reply:
            parts += [Note(DRAFT_TITLE), Quote(drafts[label].text)]
        yield label, Post(tuple(parts), title)


def answer_markdown(answer: Answer) -> str:
    """Return an answer as it is read, with links to its sources at the end."""
    if not answer.reply.sources:
        return answer.text
    lines = (f"- [{_link_text(one.title)}](<{one.url}>)" for one in answer.reply.sources)
    return "\n".join((answer.text, "", "Sources:", "", *lines))


def _link_text(title: str) -> str:
    return re.sub(r"[\[\]\\`*_<>]", " ", title).strip() or "source"


def ordered_labels(round_: Round, draw: Draw) -> list[Label]:
    """Return the labels in the order of the standings, or by letter without any."""
    standings = round_.tally.standings if round_.tally else ()
    return [line.label for line in standings] or sorted(draw.labels.labels)


# --- Verdict line and cautions


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


def _winner_text(round_: Round) -> str:
    if not round_.tally or not round_.draw:
        return ""
    lines = round_.tally.standings
    authors = author_names(round_.panel, round_.draw)
    first = [line for line in lines if line.place == 1]
    if not first:
        return "No ranking: no judges were left" if len(lines) else _unranked_text(round_)
    if method_of(round_).pair_ballots:
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
    if not method_of(round_).is_ranked:
        return NOT_BLIND
    answers = len(round_.answers)
    if answers == 1:
        return "One answer, nothing to rank"
    if round_.draw and not round_.draw.slates:
        return f"{number_word(answers).capitalize()} answers, no judges left"
    return "No valid rankings, so there is no result"


def _certainty_text(round_: Round) -> str:
    """Return how sure the first place is; demo models never make one sure."""
    if not round_.tally or any(seat.demonstration for seat in round_.panel.judges):
        return ""
    # The text before this one says that there is a tie or no winner.
    verdict = round_.tally.verdict
    if method_of(round_).pair_ballots and verdict.strength is Strength.CLOSE:
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
    shared = ", one of them in two seats" if len(set(models)) < len(models) else ""
    return f"demo models{shared}: their ranking says little"


def _cautions(round_: Round) -> list[str]:
    names = seat_names(round_.panel)
    # A seat that failed twice for the same reason is named once.
    missing = list(
        dict.fromkeys(
            f"{names[absence.member]} {absence.reason.rstrip('.')}"
            for absence in round_.absences
            if absence.role is not Role.SYNTHESIS
        )
    )
    return [
        *_sentences(missing, _ranked_by_text(round_)),
        *(_missed_text(answer, names[answer.member]) for answer in round_.answers if answer.missed),
        *_chairman_cautions(round_, names),
        *(_late_text(late, names[late.member]) for late in round_.late),
    ]


def _missed_text(answer: Answer, name: str) -> str:
    missed = {
        "images": "did not see the images, since it reads only text",
        "texts": "read only the beginning of the files, which are too long for it",
    }
    return f"{name} {' and '.join(missed[what] for what in answer.missed)}."


def _late_text(late: LateReply, name: str) -> str:
    what = {Role.ANSWER: "answer", Role.BALLOT: "ranking"}.get(late.role, "version")
    return f"{name}'s {what} came after {duration(late.reply.seconds)}: stored, but not counted."


def _ranked_by_text(round_: Round) -> str:
    if not round_.draw or not round_.tally or not round_.tally.standings:
        return ""
    voters = len({ballot.judge for ballot in round_.ballots if ballot.counts})
    answers, judges = number_word(len(round_.answers)), "judge" if voters == 1 else "judges"
    return f"{answers} answers were ranked by {number_word(voters)} {judges}"


def _sentences(missing: list[str], instead: str) -> list[str]:
    """Return a sentence for each missing part; the last adds what stands in for it."""
    ends = [""] * (len(missing) - 1) + [f"; {instead}" if instead else ""]
    return [f"{text}{end}." for text, end in zip(missing, ends, strict=False)]


def _chairman_cautions(round_: Round, names: dict[str, str]) -> list[str]:
    synthesis = round_.synthesis
    if not synthesis:
        return []
    # Where the first chairman wrote the answer, those asked beside it are not missed.
    gone = [round_.absence(seat.key, Role.SYNTHESIS) for seat in round_.panel.chair_order]
    missing = [f"The chairman, {names[x.member]}, {x.reason.rstrip('.')}" for x in gone if x]
    missing = missing if synthesis.fallback else []
    if synthesis.fallback is Fallback.ANSWER and round_.draw:
        missing = missing or ["The chairman could not be reached"]
        return _sentences(missing, _fallback_text(round_, round_.draw, names))
    instead = ""
    if synthesis.chairman and synthesis.fallback:
        instead = f"{names[synthesis.chairman]} wrote the answer instead"
    sentences = _sentences(missing, instead)
    if synthesis.departs:
        why = f": {synthesis.why.rstrip('.')}" if synthesis.why else ""
        sentences.append(f"This answer departs from the winning answer{why}.")
    if synthesis.reply and synthesis.reply.cut:
        sentences.append("The chairman reached its token limit, so this answer is cut off.")
    return sentences


def _fallback_text(round_: Round, draw: Draw, names: dict[str, str]) -> str:
    """Return whose answer stands for the synthesis, and why if nobody won alone."""
    if round_.tally is None:
        raise AssertionError("the council's answer is written after the count")
    author = names[winning_answer(round_, draw, round_.tally).member]
    first = [line for line in round_.tally.standings if line.place == 1]
    if len(first) == 1:
        return f"this is the winning answer, unchanged, by {author}"
    among = "those tied for first place" if first else "all answers, since none was ranked"
    return f"this is the answer by {author}, unchanged, the cheapest of {among}"


# --- Revised answers and audit ballots


def answers_as_shown(round_: Round) -> tuple[Answer, ...]:
    """Return the answers as they stand; of a revision with what is found in it, as in a draft."""
    return tuple(
        answer
        if answer in round_.answers
        else replace(
            answer,
            scrubbed=mask_answer(round_, answer).found,
            suspicions=find_all_suspicions(round_, answer.text),
        )
        for answer in round_.revised
    )


def _audit_lines(round_: Round, judge: str) -> Iterator[str]:
    name = seat_names(round_.panel)[judge]
    for ballot in round_.ballots:
        if ballot.judge == judge and not ballot.counts:
            seen = AUDIT_VIEWS.get(ballot.audit or "", f"voted again ({ballot.audit})")
            yield f"{name} {seen} and ranked {ranking_text(ballot)}; an audit, not counted."
    for spoiled in round_.spoiled:
        if spoiled.judge == judge and spoiled.is_audit:
            yield f"{name}'s ranking for an audit was invalid: {spoiled.fault}."


def ranking_text(ballot: Ballot, names: Mapping[str, str] = NO_NAMES) -> str:
    """Return a ranking as "K > T = M", or by name, with the grades it follows from."""
    shown = {label: names.get(label, label) for label in ballot.shown}
    shown |= {label: f"{shown[label]} ({grade:.3g})" for label, grade in ballot.grades}
    return " > ".join(" = ".join(shown[label] for label in place) for place in ballot.ranking)


# --- Placements


@dataclass(frozen=True, slots=True)
class Placement:
    """Where one judge put one answer: "1", "2=", "own", or "none" without a ballot.

    `height` is its position from 0 (last) to 4 (first); `slot` is where the judge saw it, from 1
    on, None if it did not.
    """

    text: str
    height: int | None = None
    slot: int | None = None


@dataclass(frozen=True, slots=True)
class PlacementTable:
    """The answers in the order of the standings, and a row of placements for each judge."""

    columns: tuple[tuple[Label, str], ...]
    rows: tuple[tuple[str, tuple[Placement, ...]], ...]


def placement_table(round_: Round, draw: Draw) -> PlacementTable:
    """Return the table of judges by answers."""
    authors = author_names(round_.panel, draw)
    labels = ordered_labels(round_, draw)
    ballots = {ballot.voter: ballot for ballot in round_.ballots if ballot.counts}
    rows = tuple(
        (
            voter_title(round_, slate),
            tuple(_place_answer(slate, ballots.get(slate.voter), x) for x in labels),
        )
        for slate in slates_to_read(round_, draw)
    )
    return PlacementTable(tuple((label, authors[label]) for label in labels), rows)


def _place_answer(slate: Slate, ballot: Ballot | None, label: Label) -> Placement:
    if label not in slate.shown:
        return Placement(OWN_TEXT)
    slot = slate.shown.index(label) + 1
    rank = ranks(ballot.ranking).get(label) if ballot else None
    if ballot is None or rank is None:
        return Placement(NO_BALLOT_TEXT, slot=slot)
    tied = next(len(place) for place in ballot.ranking if label in place)
    # The mean rank of a tie: in it each answer has beaten half of the others.
    beaten = (len(slate.shown) - rank) / max(1, len(slate.shown) - 1)
    first = round(rank - (tied - 1) / 2)
    return Placement(f"{first}{'=' if tied > 1 else ''}", round(4 * beaten), slot)


# --- Markdown


def thread_markdown(thread: Thread) -> str:
    """Return the post and its replies as one Markdown text."""
    texts = [_part_markdown(part, "#") for part in thread.root.parts]
    texts += [_part_markdown(part, "##") for reply in thread.replies for part in reply.parts]
    return "\n\n".join(filter(None, texts)) + "\n"


def _part_markdown(part: Part, level: str) -> str:
    match part:
        case Heading(text):
            return f"{level} {_line(text)}"
        case Prose(text):
            return text
        case Quote(text):
            return "\n".join(f"> {line}" for line in text.splitlines())
        case Table():
            rule = ["--:" if i in part.numeric else "---" for i in range(len(part.columns))]
            return "\n".join(map(_row_markdown, (part.columns, rule, *part.rows)))
        case Buttons() | Steps() | File() | Mentions():
            return ""
    return _line(part.text)


def _row_markdown(cells: Iterable[str]) -> str:
    return "| " + " | ".join(_line(cell).replace("|", "\\|") for cell in cells) + " |"


def _line(text: str) -> str:
    return " ".join(text.split())
