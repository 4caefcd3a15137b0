"""What a method asks besides answers and rankings, and the grades a ranking follows from."""

import json
from dataclasses import replace

from bot.render.round_report.exchanges import exchange_rows
from bot.render.round_report.thread import details_posts
from council.answers import Exchange, Prompt, Reply
from council.prompts.shared import nonce_for
from council.rounds import REVISION, Round
from council.rubric_grader import GRADE, graded_keys
from tests.bot.rounds import held, round_thread, words_of
from tests.builders import CLAUDE, GPT, GROK, TERMS, a_member, a_panel


async def a_criticised_round() -> Round:
    round_ = await held()
    assert round_.draw
    label = round_.draw.labels.labels[0]
    one = Exchange(
        "critique", GPT, Prompt("", ""), Reply("It is " + "too " * 200 + "short."), label
    )
    two = replace(one, reply=Reply("?"), fault="it graded nothing")
    three = Exchange("solution", CLAUDE, Prompt("", ""), Reply(""), scores=(("K", 0.5),))
    return replace(round_, exchanges=(one, two, three))


async def test_an_exchange_names_who_was_asked_about_what_and_what_was_read() -> None:
    round_ = await a_criticised_round()

    titles = [row[:2] for row in exchange_rows(round_)]

    about = "Critique from GPT-5.1 on the answer of Claude Sonnet 4.6"
    assert titles == [
        (about, ""),
        (about, "not counted: it graded nothing"),
        ("Solution from Claude Sonnet 4.6", "K 0.5"),
    ]


async def test_a_revision_is_among_the_answers_and_not_repeated() -> None:
    round_ = await a_criticised_round()
    used = Exchange(REVISION, CLAUDE, Prompt("", ""), Reply("A better answer."))

    rows = exchange_rows(replace(round_, exchanges=(used, replace(used, fault="it is empty"))))

    assert [row[:2] for row in rows] == [
        ("Revision from Claude Sonnet 4.6", "not counted: it is empty")
    ]


async def test_a_thread_cuts_texts_that_the_whole_round_has_in_full() -> None:
    round_ = await a_criticised_round()
    assert round_.draw

    (*_, cut), (*_, full) = (
        details_posts(round_, round_.draw, 60),
        details_posts(round_, round_.draw),
    )

    assert "short." in words_of(full)
    assert "short." not in words_of(cut)
    assert "Also asked" in words_of(round_thread(round_).replies[-1])


async def test_answers_cut_to_one_length_say_why() -> None:
    panel = a_panel(4, terms=replace(TERMS, equal_length=True))
    round_ = await held(panel=panel)
    assert round_.draw

    text = words_of(details_posts(round_, round_.draw)[0])

    assert "saw every answer cut to 40 tokens, as this panel wants." in text


async def test_a_ranking_shows_the_grades_it_follows_from_and_its_wording() -> None:
    round_ = await held()
    assert round_.draw
    first, *others = round_.ballots
    grades = tuple((label, 4.5 - i) for i, (label, *_) in enumerate(first.ranking))
    slate, *slates = round_.draw.slates
    draw = replace(round_.draw, slates=(replace(slate, wording="worst first"), *slates))
    round_ = replace(round_, draw=draw, ballots=(replace(first, grades=grades), *others))

    text = words_of(details_posts(round_, draw)[0])

    assert "(4.5) > " in text
    assert "(3.5)" in text
    assert "Instruction to Claude Sonnet 4.6: worst first." in text


async def test_a_grade_is_shown_in_words_with_its_reasons_by_answer() -> None:
    keys = graded_keys(round_ := await held(), GROK)
    grades = {
        letter: {"reason": f"On {key}.", "meets": int(key == keys[0])}
        for letter, key in zip("ABCDEFG", keys, strict=False)
    }
    nonce = nonce_for(round_.seed, GROK, GRADE)
    text = json.dumps({"nonce": nonce, "grades": grades})
    scores = tuple(sorted((key, float(key == keys[0])) for key in keys))
    outside = (*round_.panel.outside_judges, a_member(GROK))
    round_ = replace(
        round_,
        panel=replace(round_.panel, outside_judges=outside),
        exchanges=(Exchange(GRADE, GROK, Prompt("", ""), Reply(text), nonce=nonce, scores=scores),),
    )

    ((title, read, said),) = exchange_rows(round_)

    assert title == "Grade from Grok 4"
    assert f"{keys[0]} yes" in read
    assert f"{keys[1]} no" in read
    assert f"{keys[1]}: On {keys[1]}." in said
    assert nonce not in said
