"""What a round loses that quotes a forgotten one, what it keeps, and how it still verifies."""

from dataclasses import replace
from datetime import timedelta

import pytest

from council.answers import Answer, Exchange, LateReply, Prompt, Reply, Role
from council.errors import ForgottenError
from council.files import QuestionFile
from council.integrity.erasure import (
    check_not_forgotten,
    find_text_names,
    forget,
    quote_round,
    quotes,
    redact,
    redact_artefact,
)
from council.integrity.hash_chain import next_link
from council.integrity.seal import Seal, compute_digests, find_changes
from council.integrity.verification import verify
from council.people import Person, ThreadReading
from council.prompts.shared import fence, with_instructions
from council.rounds import Artefact, Closing, Question, Round, Synthesis
from tests.builders import (
    ASKED_AT,
    CLAUDE,
    a_panel,
    a_round,
    a_spoiled_ballot,
    an_exchange,
    with_answers,
    with_ballots,
)

RULES = with_instructions("Be brief.", "Keep the secret.")
LATER, SALT = ASKED_AT + timedelta(days=90), "salt"
FILE = QuestionFile("plan.txt", "text/plain", "a secret plan")
OWN_FILE = QuestionFile("own.txt", "text/plain", "an own plan")
SOURCE = replace(
    a_round(),
    question=Question("A secret?", "ana", files=(FILE,), quotes=()),
    synthesis=Synthesis("The secret answer.", None),
)
ANSWERS = fence("I would wait.", "A", "n1")
ASKED = Prompt("Be brief.", f"And then?\n\nA secret?\n\n{ANSWERS}")


def a_follow_up(**changes: object) -> Round:
    """Return a closed round of somebody else whose context, files and prompts quote the source."""
    round_ = with_ballots(with_answers(a_round(a_panel(4))))
    question = Question(
        "And then?", "ben", quote_round(SOURCE), files=(FILE, OWN_FILE), quotes=("r1",)
    )
    return replace(
        round_,
        id="r2",
        question=replace(question, **changes),  # type: ignore[arg-type]
        answers=tuple(replace(one, prompt=ASKED) for one in round_.answers),
        synthesis=Synthesis("Then wait.", CLAUDE, prompt=ASKED, reply=Reply("Then wait.")),
        late=(LateReply(CLAUDE, Role.ANSWER, ASKED, Reply("At last.")),),
        closing=Closing(1.0),
    )


def test_a_question_or_an_answer_does_not_look_like_two() -> None:
    question = Question("a\n\nThe council's answer to it: b", "ana")

    quoted = quote_round(replace(SOURCE, question=question))

    starts = [one for one in quoted.splitlines() if one.startswith("The council's answer to it:")]
    assert len(starts) == 1


def test_a_context_that_an_earlier_version_quoted_is_found() -> None:
    source = replace(SOURCE, question=Question("a\n\nb", "ana"))
    answer = source.synthesis.text if source.synthesis else ""
    old = f"The question before: a\n\nb\n\nThe council's answer to it: {answer}"

    assert quotes(a_follow_up(quotes=None, context=old), source)


def test_a_follow_up_loses_the_names_of_the_people_of_a_forgotten_round() -> None:
    ada, ben = Person(1, "U1", "ada"), Person(2, "U2", "ben")
    follow_up = a_follow_up(reading=ThreadReading(people=(ada, ben)))
    question = replace(SOURCE.question, reading=ThreadReading(people=(ada,)))
    source = replace(SOURCE, question=question)

    def people(after: Round) -> tuple[Person, ...]:
        reading = redact(follow_up, after, LATER, SALT).question.reading
        return reading.people if reading else ()

    assert people(source) == (ben,)
    assert people(forget(source, LATER, SALT)) == ()
    assert people(SOURCE) == (ada, ben)


def sealed(round_: Round) -> Seal:
    notes = compute_digests(round_, SALT)
    return Seal(notes, next_link(None, "", round_.id, notes.digest))


def test_quoted_texts_and_shared_files_go_and_its_own_texts_stay() -> None:
    redacted = redact(a_follow_up(), SOURCE, LATER, SALT)

    assert "secret" not in repr(redacted)
    assert redacted.question.text == "And then?"
    assert redacted.question.kept_files == (OWN_FILE,)
    assert [answer.text for answer in redacted.answers] == [a.text for a in a_follow_up().answers]
    assert redacted.synthesis
    assert redacted.synthesis.text == "Then wait."


def test_of_prompts_the_answers_stay_since_other_checks_read_them() -> None:
    redacted = redact(a_follow_up(), SOURCE, LATER, SALT)

    assert {answer.prompt for answer in redacted.answers} == {Prompt("Be brief.", ANSWERS)}


def test_a_redacted_round_is_as_it_closed() -> None:
    round_ = a_follow_up()
    redacted = redact(round_, SOURCE, LATER, SALT)

    assert verify(redacted) == ()
    assert find_changes(redacted, sealed(round_)) == ()
    assert find_changes(forget(redacted, LATER, SALT), sealed(round_)) == ()
    assert verify(forget(redacted, LATER, SALT)) == ()


def test_an_erased_text_can_still_be_proven() -> None:
    redacted = redact(a_follow_up(), SOURCE, LATER, SALT)

    assert find_text_names(redacted, quote_round(SOURCE)) == ("context",)
    assert find_text_names(redacted, "And then?") == ("question",)


def test_a_changed_rest_of_a_prompt_is_found() -> None:
    redacted = redact(a_follow_up(), SOURCE, LATER, SALT)
    first, *others = redacted.answers
    changed = replace(first, prompt=replace(first.prompt, user=ANSWERS.replace("wait", "go")))
    edited = replace(redacted, answers=(changed, *others))

    name = f"answers[{first.member}].prompt.user"
    assert name in find_changes(edited, sealed(a_follow_up()))
    assert [one.field for one in verify(edited)] == [name]


def test_another_salt_of_what_was_erased_is_found() -> None:
    other = redact(a_follow_up(), SOURCE, LATER, "other")

    assert find_changes(other, sealed(a_follow_up())) != ()


def test_erasing_twice_keeps_the_first_digests() -> None:
    once = redact(a_follow_up(), SOURCE, LATER, SALT)
    other = replace(SOURCE, id="r0", question=replace(SOURCE.question, files=(OWN_FILE,)))

    twice = redact(once, other, LATER, SALT)

    assert twice.question.kept_files == ()
    assert find_changes(twice, sealed(a_follow_up())) == ()
    assert redact(twice, other, LATER, SALT) is twice


@pytest.mark.parametrize(("asker", "stays"), [("ana", True), ("ben", False)])
def test_a_repeated_question_goes_unless_its_asker_repeats_their_own(
    asker: str, *, stays: bool
) -> None:
    again = a_follow_up(text="A secret?", asked_by=asker)

    assert bool(redact(again, SOURCE, LATER, SALT).question.text) is stays


def test_a_repeated_question_is_known_by_its_digest_once_its_source_is_forgotten() -> None:
    again = a_follow_up(text="A secret?", context="")
    gone = forget(SOURCE, LATER, "its own")

    assert redact(again, gone, LATER, SALT).question.text == ""
    assert find_text_names(gone, "A secret?") == ("question",)


def test_a_round_without_its_question_cannot_be_resumed() -> None:
    again = redact(a_follow_up(text="A secret?"), SOURCE, LATER, SALT)

    with pytest.raises(ForgottenError, match="was forgotten on 2027-02-19"):
        check_not_forgotten(again)
    check_not_forgotten(redact(a_follow_up(), SOURCE, LATER, SALT))


FOLLOW_UP = a_follow_up()
LEGACY = a_follow_up(quotes=None)
AGAIN = a_follow_up(text="A secret?", context="", files=(FILE,), quotes=None)


@pytest.mark.parametrize(
    ("later", "is_quoting"),
    [
        pytest.param(FOLLOW_UP, True, id="noted"),
        pytest.param(a_follow_up(quotes=("r0", "r1")), True, id="noted-with-others"),
        pytest.param(a_follow_up(quotes=()), False, id="noted-none"),
        pytest.param(LEGACY, True, id="by-context"),
        pytest.param(
            a_follow_up(quotes=None, context="The council: The secret answer."), True, id="thread"
        ),
        pytest.param(a_follow_up(quotes=None, context="Else."), False, id="other-context"),
        pytest.param(AGAIN, True, id="again"),
        pytest.param(a_follow_up(text="A secret?", quotes=None, context=""), False, id="files"),
        pytest.param(
            replace(AGAIN, question=replace(AGAIN.question, asked_by="ana")), False, id="own-again"
        ),
        pytest.param(
            replace(AGAIN, panel=replace(a_panel(4), name="other")), False, id="other-panel"
        ),
        pytest.param(replace(LEGACY, bakeoff="b"), False, id="bake-off"),
        pytest.param(replace(LEGACY, id="r1"), False, id="itself"),
        pytest.param(replace(LEGACY, asked_at=ASKED_AT - timedelta(1)), False, id="earlier"),
    ],
)
def test_a_round_quotes_what_it_notes_and_before_there_were_notes_what_it_has(
    later: Round, *, is_quoting: bool
) -> None:
    assert quotes(later, SOURCE) is is_quoting


def test_a_question_without_an_answer_is_quoted_too() -> None:
    unanswered = replace(SOURCE, synthesis=None)

    assert quotes(a_follow_up(quotes=None, context=quote_round(unanswered)), unanswered)


@pytest.mark.parametrize(
    "artefact",
    [
        Answer(CLAUDE, ASKED, Reply("Wait.")),
        Exchange("critique", CLAUDE, ASKED, Reply("Fine.")),
        LateReply(CLAUDE, Role.ANSWER, ASKED, Reply("At last.")),
        replace(FOLLOW_UP.ballots[0], paper=replace(an_exchange(), prompt=ASKED)),
        replace(a_spoiled_ballot(), paper=replace(an_exchange(), prompt=ASKED)),
        FOLLOW_UP.synthesis,
    ],
)
def test_what_arrives_after_the_erasure_is_stored_without_the_question(artefact: Artefact) -> None:
    assert "A secret?" in repr(artefact)

    assert "A secret?" not in repr(redact_artefact(artefact))


def test_an_artefact_without_texts_is_stored_as_it_is() -> None:
    closing = Closing(1.0)

    assert redact_artefact(closing) is closing


def test_a_repeated_question_loses_what_its_asker_had_set_also_from_prompts() -> None:
    told = "Keep the secret."
    source = replace(SOURCE, question=replace(SOURCE.question, instructions=told))
    prompt = replace(ASKED, system=RULES)
    later = a_follow_up(text="A secret?", context="", quotes=("r1",), instructions=told)
    later = replace(later, answers=tuple(replace(one, prompt=prompt) for one in later.answers))

    redacted = redact(later, source, LATER, SALT)

    assert "secret" not in repr((redacted.question.instructions, redacted.answers)).casefold()
    assert {one.prompt.system for one in redacted.answers} == {"Be brief."}
    assert verify(redacted) == ()
