"""Methods whose later calls follow from earlier replies: critique to peer discussion."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.render.round_json import round_document
from bot.render.round_report.flags import flag_notes
from bot.render.round_report.thread import whole_round
from bot.render.round_report.verdict import verdict_line
from bot.render.voting import blind_answers
from council.answers import Call, Reply, Role
from council.bakeoffs.bias.votes import build_votes
from council.bakeoffs.records import build_record
from council.budget import MAX_TEXT_TOKENS, call_cost_micro_usd, estimate_round
from council.errors import GatewayError, PanelError
from council.files import QuestionFile
from council.integrity.erasure import forget
from council.integrity.verification import verify
from council.methods import method_of
from council.money import Price
from council.pipeline.ranking import Judges, ranking_round
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from council.randomness import shuffle
from council.research.methods.pairwise_elimination import Knockout, slates_so_far
from council.research.methods.peer_discussion import turns_so_far
from council.research.methods.revision import blind_comment
from council.round_rules import compute_draw
from council.rounds import Round
from council.tally import Flag, FlagKind, Strength
from tests.bot.rounds import words_of
from tests.builders import CLAUDE, GPT, GROK, TERMS, a_member, a_panel, a_question
from tests.council.research.registries import LABORATORY, research_method
from tests.council.research.test_methods import a_round_by, run
from tests.fakes.gateway import (
    FailingStore,
    FakeGateway,
    PowerCutError,
    ReadPrompt,
    rank_by_slot,
    rank_by_slot_reversed,
    rank_by_text,
    read_prompt,
)
from tests.fakes.memory_store import MemoryStore
from tests.registries import a_registry

PRICE = Price(1e-6, 1e-6, 100)
NEW = ("critique", "peer-review", "pairwise-elimination", "peer-discussion")
RANKED = ("critique", "pairwise-elimination", "peer-discussion")


def improve(call: Call) -> str:
    """Criticise, or write a revision that sorts before every draft."""
    if "final answer" in call.prompt.system:
        return f"A better answer than {read_prompt(call.prompt).texts['A']}"
    return "As Claude, I say: it lacks an example."


# --- What holds for each of them


@pytest.mark.parametrize("vote", [rank_by_slot, rank_by_slot_reversed])
@pytest.mark.parametrize("members", range(3, 9))
@pytest.mark.parametrize("method", RANKED)
async def test_votes_by_position_alone_end_in_an_exact_tie(
    method: str, members: int, vote: Callable[[ReadPrompt], str]
) -> None:
    round_ = await run(FakeGateway(vote=vote), a_round_by(method, members))

    assert round_.tally
    assert [line.share for line in round_.tally.standings] == pytest.approx([0.5] * members)
    assert {line.place for line in round_.tally.standings} == {1}
    assert round_.tally.verdict.strength is Strength.NO_CONSENSUS
    assert not verify(round_)


@pytest.mark.parametrize("saves", range(0, 60, 3))
@pytest.mark.parametrize("method", NEW)
async def test_a_round_that_stops_anywhere_ends_as_if_it_had_not(method: str, saves: int) -> None:
    whole = await run(FakeGateway(exchange=improve), a_round_by(method, 5))
    store, first = FailingStore(saves), FakeGateway(exchange=improve)
    try:
        await run(first, a_round_by(method, 5), store)
    except (PowerCutError, ExceptionGroup):
        stored = len(store.saved)
        assert stored == saves
    store.left = 1_000

    again = FakeGateway(exchange=improve)
    resumed = await _resume(again, store)

    assert replace(resumed, closing=None) == replace(whole, closing=None)
    assert not verify(resumed)
    kept = [x for x in store.saved[:saves] if hasattr(x, "reply") or getattr(x, "paper", None)]
    assert len(again.asked) == len(whole.replies) - len(kept)


async def _resume(gateway: FakeGateway, store: FailingStore) -> Round:
    return await run_round("r1", RoundServices(gateway, store))


@pytest.mark.parametrize("method", NEW)
async def test_a_forgotten_round_still_verifies_and_holds_no_text(method: str) -> None:
    round_ = await run(FakeGateway(exchange=improve), a_round_by(method, 5))

    forgotten = forget(round_, datetime(2026, 11, 24, tzinfo=UTC), "salt")

    assert not verify(forgotten)
    assert "better answer" not in str(forgotten)
    assert build_record(forgotten).authored[0].share == build_record(round_).authored[0].share


@pytest.mark.parametrize("method", NEW)
async def test_no_round_costs_more_than_its_estimate(method: str) -> None:
    terms = a_round_by(method, 5)
    prices = {seat.key: PRICE for seat in terms.panel.seats}
    gateway = FakeGateway(exchange=improve, prices=prices)

    estimate = await estimate_round(terms, gateway)
    await run(gateway, terms)

    calls = [
        PRICE.cost_micro_usd(len(x.prompt.system + x.prompt.user) // 3, 100) for x in gateway.asked
    ]
    assert sum(calls) <= estimate.micro


@pytest.mark.parametrize("method", NEW)
async def test_a_changed_reply_of_any_step_is_found(method: str) -> None:
    round_ = await run(FakeGateway(exchange=improve), a_round_by(method, 5))
    changed = replace(
        round_,
        exchanges=tuple(replace(x, nonce="0") for x in round_.exchanges),
        ballots=tuple(replace(x, ranking=x.ranking[::-1]) for x in round_.ballots),
    )

    assert verify(changed)


@pytest.mark.parametrize("method", NEW)
async def test_a_round_is_shown_in_full(method: str) -> None:
    round_ = await run(FakeGateway(exchange=improve), a_round_by(method, 5))
    thread = whole_round(round_)

    assert words_of(thread.root)
    assert all(words_of(post) for post in thread.replies)
    assert build_record(round_).judged == () or method != "peer-review"


async def test_a_round_keeps_the_rules_of_its_version() -> None:
    old = replace(research_method("critique"), name="aged", version="1")
    new = replace(old, version="2", draw_slates=lambda *_: (), earlier=(old,))
    round_ = replace(a_round_by("aged", 4), registry=a_registry(new))

    assert method_of(round_) is old
    assert method_of(replace(round_, versions=(("method", "2"),))) is new
    with pytest.raises(PanelError, match="version 3"):
        method_of(replace(round_, versions=(("method", "3"),)))


async def test_a_panel_that_is_too_small_is_refused() -> None:
    for method in ("pairwise-elimination", "peer-discussion"):
        with pytest.raises(PanelError, match="members"):
            research_method(method).check(a_panel(3))
        research_method(method).check(a_panel(5))


# --- Critique and peer review


async def test_revisions_are_ranked_and_shown_with_their_drafts() -> None:
    gateway = FakeGateway(exchange=improve)
    round_ = await run(gateway, a_round_by("critique", 3))

    ballots = gateway.of(Role.BALLOT)
    assert all("A better answer than" in call.prompt.user for call in ballots)
    assert "A better answer than" in gateway.of(Role.SYNTHESIS)[0].prompt.user
    document = round_document(round_)["answers"][0]
    assert document["text"].startswith("A better answer than")
    assert document["draft"] == round_.answers[0].text
    kinds = [one.kind for one in round_.exchanges]
    assert kinds == ["critique"] * 6 + ["revision"] * 3
    assert "A better answer" in words_of(whole_round(round_).replies[-1])


async def test_a_critic_sees_no_author_and_an_author_no_critic() -> None:
    gateway = FakeGateway(
        answers={GPT: "As GPT-5.1, I say yes."},
        exchange=lambda call: "I am Claude Sonnet 4.6. GPT is wrong.",
    )
    await run(gateway, a_round_by("critique", 3))

    steps = [call.prompt.user for call in gateway.of(Role.STEP)]
    read_by_critics = [text for text in steps if "Your draft" not in text]
    read_by_authors = [text for text in steps if "Your draft" in text]
    assert not any("GPT" in text for text in read_by_critics)
    assert not any("Claude" in text for text in read_by_authors)


async def test_who_misses_its_critique_or_revision_keeps_its_draft() -> None:
    def step(call: Call) -> str | GatewayError:
        if call.member.key == CLAUDE:
            return GatewayError("is out of credit")
        return "" if "final answer" in call.prompt.system else "Too short."

    round_ = await run(FakeGateway(exchange=step), a_round_by("critique", 3))

    assert [x.text for x in round_.revised] == [x.text for x in round_.answers]
    assert round_.tally
    assert round_.tally.standings
    assert not verify(round_)


async def test_peer_review_is_under_names_and_says_that_it_is_not_blind() -> None:
    round_ = a_round_by("peer-review", 3)
    members = tuple(replace(x, role="skeptic") for x in round_.panel.members)
    round_ = replace(round_, panel=replace(round_.panel, members=members))
    gateway = FakeGateway(exchange=improve)
    round_ = await run(gateway, round_)

    reviews = [call for call in gateway.of(Role.STEP) if "Your draft" not in call.prompt.user]
    assert all(", skeptic answered:" in call.prompt.user for call in reviews)
    revisions = [call for call in gateway.of(Role.STEP) if "Your draft" in call.prompt.user]
    others = [call for call in revisions if call.member.key != CLAUDE]
    assert len(others) == 2
    assert all("Claude Sonnet 4.6, skeptic wrote:" in call.prompt.user for call in others)
    chair = gateway.of(Role.SYNTHESIS)[0].prompt.system
    assert "nobody ranked" in " ".join(chair.split())
    assert verdict_line(round_).startswith("Not blind, not ranked")
    assert "without names" not in " ".join(words_of(x) for x in whole_round(round_).replies)
    assert round_.tally
    assert not round_.tally.standings
    assert not build_votes(round_).ballots
    assert all(one.share is None for one in build_record(round_).authored)
    assert not verify(round_)


async def test_a_role_is_masked_in_an_answer_that_names_it() -> None:
    round_ = a_round_by("blind-ranking", 3)
    members = tuple(replace(x, role="security reviewer") for x in round_.panel.members)
    round_ = replace(round_, panel=replace(round_.panel, members=members))
    gateway = FakeGateway(answers={GPT: "As the security reviewer, I say no."})
    await run(gateway, round_)

    assert not any("security reviewer" in x.prompt.user for x in gateway.of(Role.BALLOT))


def test_a_comment_is_masked_by_its_writers_names() -> None:
    from council.answers import Exchange, Prompt, Reply

    one = Exchange("critique", GPT, Prompt("", ""), Reply("GPT-5.1 here: weak."), "K")

    assert "GPT" not in blind_comment(a_panel(3), one)


@pytest.mark.parametrize("method", ["peer-review", "critique", "pairwise-elimination"])
async def test_given_texts_are_refused_by_methods_that_ask_their_authors(method: str) -> None:
    judges = Judges((a_member(CLAUDE),), terms=replace(TERMS, method=method), registry=LABORATORY)

    with pytest.raises(PanelError, match="can't rank given texts"):
        ranking_round(a_question(), {"a": "One.", "b": "Two."}, judges, None, FakeGateway())


@pytest.mark.parametrize("method", ["solve-first", "peer-discussion"])
async def test_what_judges_of_given_texts_write_besides_ballots_is_in_the_estimate(
    method: str,
) -> None:
    seats = tuple(map(a_member, (CLAUDE, GPT)))
    gateway = FakeGateway(prices={seat.key: Price(1e-6, 1e-6) for seat in seats})
    texts = {"a": "One.", "b": "Two."}
    plain, more = (
        ranking_round(
            a_question(),
            texts,
            Judges(seats, terms=replace(TERMS, method=name), registry=LABORATORY),
            "seed",
            gateway,
        )
        for name in ("blind-ranking", method)
    )

    estimates = [await estimate_round(one, gateway) for one in (plain, more)]

    assert estimates[1].micro - estimates[0].micro > len(seats) * MAX_TEXT_TOKENS


@pytest.mark.parametrize("method", ["peer-review", "peer-discussion"])
async def test_frames_and_reasons_are_in_the_estimate_where_answers_are_short(method: str) -> None:
    price, cost = Price(1, 1, max_tokens_out=100), 0

    class Counting(FakeGateway):
        async def complete(self, call: Call) -> Reply:
            nonlocal cost
            await super().complete(call)
            cost += call_cost_micro_usd(price, call)
            if call.role is Role.BALLOT:
                shown = read_prompt(call.prompt)
                letters = shuffle(shown.texts, call.prompt.user, "liking")
                return Reply(shown.ballot(" ".join(letters), "x" * 150))
            return Reply(f"{call.member.key[:3]} {'x' * 290}")

    asked = a_round_by(method, 10, (a_member("xai/judge"),))
    terms = replace(asked.panel.terms, audit_share=0.0)
    asked = replace(asked, panel=replace(asked.panel, terms=terms))
    gateway = Counting(prices=dict.fromkeys([seat.key for seat in asked.panel.seats], price))

    estimate = await estimate_round(asked, gateway)
    await run(gateway, asked)

    assert cost <= estimate.micro


async def test_an_author_keeps_its_role_and_one_without_comments_is_not_asked() -> None:
    round_ = a_round_by("critique", 2)
    members = tuple(replace(x, role="skeptic") for x in round_.panel.members)
    round_ = replace(round_, panel=replace(round_.panel, members=members))

    def step(call: Call) -> str | GatewayError:
        if "final answer" in call.prompt.system:
            assert "Your role, without naming it: skeptic" in call.prompt.system
            return "Better."
        return GatewayError("hung up") if call.member.key == CLAUDE else "Weak."

    round_ = await run(FakeGateway(exchange=step), round_)

    assert [one.kind for one in round_.exchanges] == ["critique"]
    assert not verify(round_)


async def test_failed_critiques_cost_nobody_the_revision() -> None:
    failures = iter([GatewayError("was rate limited")] * 2)

    def step(call: Call) -> str | GatewayError:
        if "final answer" in call.prompt.system:
            return "Better."
        return next(failures, "Weak.") if call.member.key == CLAUDE else "Weak."

    round_ = await run(FakeGateway(exchange=step), a_round_by("critique", 4))

    assert {answer.text for answer in round_.revised} == {"Better."}
    assert len(round_.absences) == 1
    assert not any("draft" in flag for flag in flag_notes(round_))
    assert not verify(round_)


async def test_who_did_not_revise_its_draft_is_named() -> None:
    def step(call: Call) -> str | GatewayError:
        is_claudes = call.member.key == CLAUDE and "final answer" in call.prompt.system
        return GatewayError("hung up") if is_claudes else "Better."

    round_ = await run(FakeGateway(exchange=step), a_round_by("critique", 4))

    assert "Note: Claude Sonnet 4.6 did not revise its draft." in flag_notes(round_)
    assert not verify(round_)


# --- Pairwise elimination


async def test_the_best_answer_wins_the_knockout_and_places_are_by_stage() -> None:
    round_ = await run(FakeGateway(), a_round_by("pairwise-elimination", 8))

    assert round_.draw
    assert round_.tally
    texts = {answer.member: answer.text for answer in round_.answers}
    best = min(texts, key=lambda member: texts[member])
    first, *others = round_.tally.standings
    assert round_.draw.labels.author_of(first.label) == best
    assert (first.points, first.max_points) == (3, 3)
    assert [line.place for line in others] == [2, 3, 3, 5, 5, 5, 5]
    assert len(round_.ballots) == 14
    assert round_.tally.verdict.strength is Strength.CLOSE
    assert round_.tally.verdict.p == 1
    assert "3 of 3 matches won · some answer always is" in verdict_line(round_)
    assert not verify(round_)


async def test_no_judge_wrote_what_it_judges_and_every_pair_is_seen_in_both_orders() -> None:
    round_ = await run(FakeGateway(), a_round_by("pairwise-elimination", 7))

    assert round_.draw
    slates = slates_so_far(round_, round_.draw)
    for slate in slates:
        assert round_.draw.labels.label_of(slate.judge) not in slate.shown
    assert [x.shown for x in slates[::2]] == [x.shown[::-1] for x in slates[1::2]]
    assert {x.voter for x in slates} == {x.voter for x in round_.ballots}


async def test_a_tie_shares_a_place_and_says_that_a_lot_decided() -> None:
    round_ = await run(FakeGateway(vote=rank_by_slot), a_round_by("pairwise-elimination", 5))

    assert sum("a lot drawn from the seed" in note for note in flag_notes(round_)) == 4
    assert verdict_line(round_).startswith("No clear winner")


async def test_a_match_whose_judge_is_absent_is_a_tie() -> None:
    whole = await run(FakeGateway(), a_round_by("pairwise-elimination", 5))
    judge = whole.ballots[0].judge
    gateway = FakeGateway(judges={judge: GatewayError("is out of credit")})

    round_ = await run(gateway, a_round_by("pairwise-elimination", 5))

    assert any("nobody judged" in note for note in flag_notes(round_))
    assert not verify(round_)


async def test_one_order_of_a_pair_decides_nothing() -> None:
    whole = await run(FakeGateway(vote=rank_by_slot), a_round_by("pairwise-elimination", 5))
    replies: tuple[Callable[[ReadPrompt], str] | str, ...] = (rank_by_slot, "no", "no")
    gateway = FakeGateway(judges=dict.fromkeys((x.judge for x in whole.ballots), replies))

    round_ = await run(gateway, a_round_by("pairwise-elimination", 5))

    assert round_.tally
    assert round_.tally.standings == ()
    assert round_.tally.verdict.strength is Strength.NO_CONSENSUS
    assert not verify(round_)


async def test_a_judge_that_failed_is_not_drawn_in_a_later_stage() -> None:
    rounds = [replace(a_round_by("pairwise-elimination", 8), seed=f"s{n}") for n in range(12)]
    for opened in rounds:
        judge = opened.panel.members[0].key
        gateway = FakeGateway(judges={judge: GatewayError("is out of credit")})

        round_ = await run(gateway, opened)

        assert round_.draw
        first = {slate.voter for slate in round_.draw.slates if slate.judge == judge}
        slates = slates_so_far(round_, round_.draw)
        later = [x for x in slates[len(round_.draw.slates) :] if x.judge == judge]
        assert not first or not later
        assert not verify(round_)


async def test_one_answer_needs_no_match() -> None:
    opened = a_round_by("pairwise-elimination", 4)
    opened = replace(
        opened, panel=replace(opened.panel, terms=replace(opened.panel.terms, quorum=1))
    )
    silent = {x.key: GatewayError("hung up") for x in opened.panel.members[1:]}

    round_ = await run(FakeGateway(answers=silent), opened)

    assert round_.synthesis
    assert not round_.ballots
    assert not verify(round_)


async def test_a_knockout_in_which_nobody_votes_has_no_standings() -> None:
    gateway = FakeGateway(vote=lambda _: "no")

    round_ = await run(gateway, a_round_by("pairwise-elimination", 5))

    assert round_.tally
    assert round_.tally.standings == ()
    assert not verify(round_)


async def test_two_answers_without_an_outside_judge_have_no_match() -> None:
    round_ = await run(FakeGateway(), a_round_by("pairwise-elimination", 2))

    assert round_.tally
    assert round_.tally.standings == ()


async def test_answers_that_tie_for_first_alone_are_tied() -> None:
    draw = compute_draw(a_round_by("pairwise-elimination", 5))
    final = Knockout(draw.labels, (), "seed")
    whole = await run(FakeGateway(), a_round_by("pairwise-elimination", 5))
    last = [x for x in whole.ballots if x.pass_number > 6]
    assert final.entrants
    judge = last[0].judge
    tied = [rank_by_text] * sum(x.judge == judge and x.pass_number < 7 for x in whole.ballots)
    gateway = FakeGateway(judges={judge: [*tied, rank_by_slot, rank_by_slot]})

    round_ = await run(gateway, a_round_by("pairwise-elimination", 5))

    assert round_.tally
    assert round_.tally.verdict.strength is Strength.TIED
    assert verdict_line(round_).startswith("Tied for first")


# --- Peer discussion


async def test_judges_that_agree_do_not_discuss() -> None:
    round_ = await run(FakeGateway(), a_round_by("peer-discussion", 5))

    assert len(round_.ballots) == 5


async def test_a_discussion_ends_after_three_turns() -> None:
    gateway = FakeGateway(vote=rank_by_slot)

    round_ = await run(gateway, a_round_by("peer-discussion", 6))

    assert round_.draw
    turns = [*turns_so_far(round_, round_.draw)]
    assert 0 < len(turns) <= 9
    assert len(round_.ballots) == 6 + len(turns)
    assert max(ballot.pass_number for ballot in round_.ballots) == 3


async def test_the_last_ranking_counts_and_who_changed_it_is_named() -> None:
    def give_in(shown: ReadPrompt) -> str:
        return shown.ballot(" ".join(sorted(shown.texts, key=lambda x: shown.texts[x])))

    first = await run(FakeGateway(vote=rank_by_slot), a_round_by("peer-discussion", 4))
    assert first.draw
    speaker = next(iter(turns_so_far(first, first.draw))).slate.judge
    gateway = FakeGateway(judges={speaker: [rank_by_slot, give_in]}, vote=rank_by_slot)

    round_ = await run(gateway, a_round_by("peer-discussion", 4))

    assert round_.draw
    counted = {x.judge: x for x in method_of(round_).ballots(round_, round_.draw)}
    cast = [ballot for ballot in round_.ballots if ballot.judge == speaker]
    assert len(cast) > 1
    assert counted[speaker].ranking == cast[-1].ranking
    assert round_.tally
    changed = Flag(FlagKind.RANKING_CHANGED, speaker) in round_.tally.verdict.flags
    assert changed == (cast[0].ranking != cast[-1].ranking)
    assert not build_record(round_).judged[0].pairs
    assert not verify(round_)


async def test_a_judge_reads_the_others_reason_as_it_was_given_without_names() -> None:
    reason = "GPT likes Response B. A, while brief, names vitamin K and the R language."
    gateway = FakeGateway(vote=lambda shown: shown.ballot(" ".join(shown.texts), reason))
    round_ = await run(gateway, a_round_by("peer-discussion", 6))

    assert round_.draw
    notes = [x.prompt.user for x in gateway.of(Role.BALLOT) if "Another judge" in x.prompt.user]
    assert notes
    for text in notes:
        discussion = text[text.index("You ranked these answers before") :]
        assert "GPT" not in discussion
        assert "likes Response B. A, while brief, names vitamin K and the R language." in discussion


async def test_a_judge_is_told_which_letters_the_other_saw() -> None:
    texts = {"A": "first", "B": "second", "C": "third", "D": "fourth"}
    gateway = FakeGateway(vote=rank_by_slot)
    round_ = await run(gateway, a_round_by("peer-discussion", 6))
    assert round_.draw
    slates = {slate.judge: slate for slate in round_.draw.slates}
    turn = next(turns_so_far(replace(round_, ballots=round_.ballots[:6]), round_.draw))

    own, read = slates[turn.slate.judge], turn.reads
    (prompt, *_) = [
        x.prompt.user
        for x in gateway.of(Role.BALLOT, own.judge)
        if "Another judge" in x.prompt.user
    ]
    for letter in texts:
        label = read.shown["ABCDE".index(letter)]
        if label in own.shown:
            mine = own.letters[own.shown.index(label)]
            assert f"its {letter} is your {mine}" in prompt


async def test_a_knockout_among_a_panels_rounds_stops_no_later_one() -> None:
    store = MemoryStore()
    for number in range(32):
        method = "blind-ranking" if number else "pairwise-elimination"
        opened = replace(a_round_by(method, 5), id=f"r{number}", seed=f"s{number}")
        await store.open(opened)
        await run_round(opened.id, RoundServices(FakeGateway(), store))

    last = await store.load("r31")
    assert last.tally
    assert last.tally.verdict.n_eff is not None


async def test_a_revised_answer_costs_its_draft_and_its_part_of_the_comments() -> None:
    def step(call: Call) -> Reply:
        text = "Better." if "final answer" in call.prompt.system else "Weak."
        return Reply(text, cost_usd=0.01)

    answers = {x.key: Reply("No.", cost_usd=0.1) for x in a_panel(3).members}
    round_ = await run(FakeGateway(answers=answers, exchange=step), a_round_by("critique", 3))

    # A draft, a revision, and a third of six critiques.
    assert [x.cost_usd for x in build_record(round_).authored] == pytest.approx([0.13] * 3)


async def test_graders_chairman_and_voters_see_no_name_in_a_revision_after_peer_review() -> None:
    named = "I agree with GPT-5.1, with Gemini and with Claude."
    asked = a_round_by("peer-review", 4, (a_member(GROK),))
    asked = replace(asked, question=replace(asked.question, rubric="Says why."))
    gateway = FakeGateway(exchange=lambda _: named)

    round_ = await run(gateway, asked)

    readers = [call for call in gateway.asked if call.role in {Role.GRADE, Role.SYNTHESIS}]
    assert {call.role for call in readers} == {Role.GRADE, Role.SYNTHESIS}
    for call in readers:
        texts = [text for text in read_prompt(call.prompt).texts.values() if "agree" in text]
        assert texts
        assert not any(name in text for text in texts for name in ("GPT", "Gemini", "Claude"))
    assert not any("GPT-5.1" in (answer.text or "") for answer in blind_answers(round_))
    assert not verify(round_)


async def test_what_is_masked_in_a_revision_is_said_of_it() -> None:
    def step(call: Call) -> str:
        is_claudes = call.member.key == CLAUDE and "final answer" in call.prompt.system
        return "As Claude, made by Anthropic, I say 42." if is_claudes else "Fine."

    round_ = await run(FakeGateway(exchange=step), a_round_by("critique", 3))

    named = [author.member for author in build_record(round_).authored if author.named_itself]
    assert named == [CLAUDE]
    words = [words_of(post) for post in whole_round(round_).replies]
    assert sum("saw it with “Claude” and “Anthropic” masked" in text for text in words) == 1


@pytest.mark.parametrize("method", ["critique", "peer-review"])
async def test_who_comments_or_revises_sees_the_images_of_the_question(method: str) -> None:
    asked = a_round_by(method, 3)
    chart = QuestionFile("chart.png", "image/png", data="aW1hZ2U=")
    asked = replace(asked, question=replace(asked.question, files=(chart,)))
    gateway = FakeGateway(seeing={CLAUDE})

    await run(gateway, asked)

    for call in gateway.of(Role.STEP):
        sees = call.member.key == CLAUDE
        assert call.images == ((chart,) if sees else ())
        assert ("which you cannot see" in call.prompt.user) is not sees
