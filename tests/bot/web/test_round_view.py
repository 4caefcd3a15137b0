"""The page of a running round: blind answers in fixed places, and steps without names."""

from dataclasses import replace

from bot.chat import Step, Steps, StepState
from bot.render.voting import blind_answers
from bot.web.round_view import blind_progress
from council.answers import Exchange, Prompt, Reply, Role
from council.round_rules import compute_draw
from council.rounds import REVISION, Round
from tests.builders import CLAUDE, GEMINI, GPT, a_round, an_absence, an_answer

ANSWERS = {key: an_answer(key, f"What {i} thinks.") for i, key in enumerate((CLAUDE, GPT, GEMINI))}


def answered(*keys: str) -> Round:
    return replace(a_round(), answers=tuple(ANSWERS[key] for key in keys))


def steps(round_: Round) -> tuple[Step, ...]:
    (progress,) = blind_progress(round_).parts
    assert isinstance(progress, Steps)
    return progress.steps


def places(round_: Round) -> list[str | None]:
    return [card.text for card in blind_answers(round_)]


def test_an_answers_place_does_not_depend_on_who_was_first() -> None:
    all_in = places(answered(CLAUDE, GPT, GEMINI))

    assert places(answered(GEMINI, CLAUDE, GPT)) == all_in
    for key, answer in ANSWERS.items():
        early = places(answered(key))
        assert [text for text in early if text] == [answer.text]
        assert early.index(answer.text) == all_in.index(answer.text)


def test_the_order_of_the_answers_is_not_that_of_the_panel_in_every_round() -> None:
    texts = [answer.text for answer in ANSWERS.values()]
    orders = {
        tuple(texts.index(text or "") for text in places(replace(answered(*ANSWERS), seed=str(i))))
        for i in range(40)
    }

    assert len(orders) == 6


def test_an_answer_is_not_shown_before_its_authors_names_are_found() -> None:
    raw = replace(an_answer(CLAUDE, "As Claude, I say yes."), scrubbed=None)

    assert places(replace(a_round(), answers=(raw,))) == ["", "", ""]


def test_labels_appear_once_all_answers_are_in() -> None:
    round_ = answered(*ANSWERS)
    drawn = replace(round_, draw=compute_draw(round_))

    assert {card.label for card in blind_answers(round_)} == {""}
    assert drawn.draw
    texts = {drawn.draw.labels.label_of(key): answer.text for key, answer in ANSWERS.items()}
    assert {card.label: card.text for card in blind_answers(drawn)} == texts
    assert places(drawn) == places(round_)


def test_a_missing_answer_keeps_its_place() -> None:
    round_ = replace(answered(CLAUDE, GPT), absences=(an_absence(GEMINI),))

    assert sorted(filter(None, places(round_))) == ["What 0 thinks.", "What 1 thinks."]
    assert places(round_).count(None) == 1


def test_an_author_who_names_itself_is_masked() -> None:
    text = "As Claude Sonnet 4.6, I say yes."
    round_ = replace(
        answered(), answers=(replace(an_answer(CLAUDE, text), scrubbed=("Claude Sonnet 4.6",)),)
    )

    assert "Claude" not in str(places(round_))
    assert "yes" in str(places(round_))


def test_steps_name_nobody_who_answered_and_are_always_as_many() -> None:
    before, one, done = answered(), answered(GPT), answered(*ANSWERS)
    drawn = replace(done, draw=compute_draw(done))

    assert len({len(steps(round_)) for round_ in (before, one, done, drawn)}) == 1
    (answers, *rest) = steps(one)
    assert (answers.detail, answers.state) == ("1 of 3", StepState.RUNNING)
    assert {step.state for step in rest} == {StepState.WAITING}
    assert [step.title for step in rest] == [step.title for step in steps(before)[1:]]


def test_who_did_not_answer_is_said() -> None:
    round_ = replace(answered(CLAUDE), absences=(an_absence(GPT, Role.ANSWER, "hung up"),))

    assert steps(round_)[0].detail == "1 of 3; GPT-5.1 hung up"


def test_a_revision_is_read_in_place_of_its_draft_and_names_no_author() -> None:
    draft = an_answer(CLAUDE, "A draft.")
    revision = Exchange(REVISION, CLAUDE, Prompt("", ""), Reply("As Claude, I say: it is enough."))
    round_ = replace(a_round(), answers=(draft,), exchanges=(revision,))

    (shown,) = [answer for answer in blind_answers(round_) if answer.text]

    assert shown.text == "As [model name removed], I say: it is enough."
