"""What each part of a post becomes in Block Kit: in messages, in ephemerals and as plain text."""

from collections.abc import Callable
from typing import Any

import pytest

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
    Step,
    Steps,
    StepState,
    Table,
)
from bot.render.pagination import paginate
from bot.render.round_status import progress_post
from bot.slack.block_kit import (
    Payload,
    action_from_id,
    fits_slack,
    render_ephemeral,
    render_message,
    render_text,
)
from tests.bot.rounds import held, round_thread, stages_of
from tests.bot.slack.block_kit_checks import find_message_faults, shown_text
from tests.builders import a_panel
from tests.fakes.gateway import FakeGateway

TABLE = Table(("", "Author", "Points"), (("1", "Claude", "5 of 6"),), frozenset({0, 2}))
STEPS = Steps(
    "1 of 2 answered",
    (Step("A answers", StepState.DONE, "4 s"), Step("B answers", StepState.MISSING, "timed out")),
)
OPINIONS = (Button("helpful", "Helpful", "r1"), Button("unhelpful", "Not helpful", "r1"))


Render = Callable[[Post], Payload]


def blocks_of(post: Post, render: Render = render_message) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = render(post).get("blocks", [])
    return blocks


def only(part: Part, render: Render = render_message) -> list[dict[str, Any]]:
    return blocks_of(Post((part,), "s"), render)


def kinds(post: Post, render: Render = render_message) -> list[str]:
    return [block["type"] for block in blocks_of(post, render)]


async def test_a_finished_round_starts_with_the_answer_and_ends_with_buttons() -> None:
    root = round_thread(await held()).root

    message = render_message(root)

    assert message["text"] == "The council says yes."
    assert kinds(root) == ["header", "rich_text", "context", "actions", "context_actions"]
    assert shown_text(message["blocks"][1:2]) == "The council says yes."
    actions, thumbs = message["blocks"][-2:]
    *buttons, menu = actions["elements"]
    assert [element["text"]["text"] for element in buttons] == [
        "Answers",
        "Rankings",
    ]
    assert [option["text"]["text"] for option in menu["options"]] == [
        "Run again",
        "Export",
        "Forget",
    ]
    assert [element["action_id"] for element in thumbs["elements"]] == ["council:feedback"]


async def test_the_thread_of_a_round_is_a_table_ballots_and_answers() -> None:
    replies = round_thread(await held()).replies

    assert kinds(replies[0])[:2] == ["header", "table"]
    assert kinds(replies[0], render_ephemeral)[:2] == ["header", "rich_text"]
    assert all(column["is_wrapped"] for column in blocks_of(replies[0])[1]["column_settings"])
    assert "Rankings:" in shown_text(blocks_of(replies[1]))


async def test_every_stage_of_a_round_is_a_message_slack_takes() -> None:
    for round_ in await stages_of(FakeGateway(), a_panel(4)):
        post = progress_post(round_, 3.0)

        assert fits_slack(post)
        assert kinds(post)[0] == "plan"


def test_a_short_question_is_a_header_and_a_long_one_is_bold() -> None:
    assert kinds(Post((Heading("Why?"),))) == ["header"]
    assert only(Heading("why " * 50))[0]["elements"][0]["elements"][0]["style"] == {"bold": True}


def test_a_caution_stands_out_and_a_note_is_small() -> None:
    assert only(Caution("Two are missing."))[0]["elements"][0]["elements"] == [
        {"type": "text", "text": "Two are missing.", "style": {"bold": True}}
    ]
    assert only(Note("21 s"))[0]["type"] == "context"


def test_notes_in_a_row_are_one_block_with_a_line_each() -> None:
    (block,) = blocks_of(Post((Note("First: A"), Note("Asked by\nAda"))))

    assert block["type"] == "context"
    assert [element["text"] for element in block["elements"]] == ["First: A\nAsked by Ada"]


def test_a_caution_and_a_ballot_stand_apart_from_what_follows() -> None:
    ballots = (Line("A saw X Y"), Quote("X is right."), Line("B saw Y X"))

    assert kinds(Post((Caution("B is missing."), Prose("Yes.")))) == ["rich_text", "rich_text"]
    assert [shown_text([block]) for block in blocks_of(Post(ballots))] == [
        "A saw X Y\nX is right.",
        "B saw Y X",
    ]


def test_a_file_is_not_part_of_the_message() -> None:
    assert only(File("round.md", "# Round")) == []


def test_numbers_of_one_unit_are_sorted_as_numbers() -> None:
    cells = only(TABLE)[0]["rows"]

    assert [cell["text"] for cell in cells[0]] == ["#", "Author", "Points"]
    assert cells[1][2] == {"type": "raw_number", "value": 5, "text": "5 of 6"}


def test_numbers_of_several_units_stay_text() -> None:
    table = Table(("Time",), (("900 ms",), ("4 s",)), frozenset({0}))

    assert {cell["type"] for row in only(table)[0]["rows"] for cell in row} == {"raw_text"}


def test_an_empty_cell_is_a_dash() -> None:
    assert only(Table(("a", "b"), (("", "x"),)))[0]["rows"][1][0]["text"] == "–"


def test_two_tables_are_both_monospaced() -> None:
    assert set(kinds(Post((TABLE, Prose("|a|\n|-|\n|b|"))))) == {"rich_text"}


def test_text_under_text_lines_up_where_characters_are_wide() -> None:
    table = Table(("名前", "n"), (("a", "1"), ("漢字", "22")), frozenset({1}))

    assert shown_text(only(table, render_ephemeral)) == "名前   n\na      1\n漢字  22"


def test_steps_are_a_plan_and_in_ephemerals_words() -> None:
    tasks = only(STEPS)[0]["tasks"]

    assert [(task["title"], task["status"]) for task in tasks] == [
        ("A answers · 4 s", "complete"),
        ("B answers · timed out", "error"),
    ]
    assert "B answers: missing, timed out" in shown_text(only(STEPS, render_ephemeral))


def test_opinions_are_thumbs_and_in_ephemerals_buttons() -> None:
    thumbs = only(Buttons(OPINIONS))[0]["elements"][0]

    assert thumbs["positive_button"]["value"] == "helpful:r1"
    assert thumbs["action_id"] == "council:feedback"
    plain = only(Buttons(OPINIONS), render_ephemeral)[0]["elements"]
    assert [e["action_id"] for e in plain] == ["council:helpful", "council:unhelpful"]


def test_actions_that_cost_or_end_something_ask_for_confirmation() -> None:
    row = Buttons((Button("cancel", "Stop", "r1"), Button("again", "Again", "r1")))

    cancel, again = only(row)[0]["elements"]

    assert cancel["style"] == "danger"
    assert "style" not in again
    assert cancel["confirm"]
    assert again["confirm"]


def a_menu(count: int) -> Buttons:
    more = tuple(Button(f"do_{n}", f"Do {n}", "r1") for n in range(count))
    return Buttons((Button("answers", "Answers", "r1"),), more)


@pytest.mark.parametrize("render", [render_message, render_ephemeral])
def test_less_common_buttons_are_in_a_menu_after_the_others(render: Render) -> None:
    answers, menu = only(a_menu(2), render)[0]["elements"]

    assert answers["action_id"] == "council:answers"
    assert (menu["type"], menu["action_id"]) == ("overflow", "council:more")
    assert [(option["text"]["text"], option["value"]) for option in menu["options"]] == [
        ("Do 0", "do_0:r1"),
        ("Do 1", "do_1:r1"),
    ]


def test_a_menu_has_two_to_five_options_and_the_rest_stay_buttons() -> None:
    kinds = [[e["type"] for e in only(a_menu(n))[0]["elements"]] for n in (1, 5, 6, 7)]

    assert kinds == [
        ["button", "button"],
        ["button", "overflow"],
        ["button", "overflow", "button"],
        ["button", "overflow", "overflow"],
    ]
    too_long = Buttons((), tuple(Button("again", "Again", "r" * 150) for _ in range(2)))
    assert [e["type"] for e in only(too_long)[0]["elements"]] == ["button", "button"]


def test_a_menu_is_not_lost_when_a_long_post_is_cut() -> None:
    row = Buttons(tuple(Button("answers", "a" * 75, "r" * 400) for _ in range(40)), a_menu(2).more)

    pages = paginate(Post((row,), "s"), fits_slack)

    assert len(pages) > 1
    assert all(find_message_faults(render_message(page)) == [] for page in pages)
    assert sum(str(render_message(page)).count("'overflow'") for page in pages) == 1


def test_code_and_strong_words_are_styled_in_lines_and_notes() -> None:
    text = "Type `/council help` for **all** commands."

    (line,) = only(Line(text))[0]["elements"]
    (note,) = only(Note(text))[0]["elements"]

    assert [(leaf["text"], leaf.get("style")) for leaf in line["elements"]] == [
        ("Type ", None),
        ("/council help", {"code": True}),
        (" for ", None),
        ("all", {"bold": True}),
        (" commands.", None),
    ]
    assert note == {
        "type": "mrkdwn",
        "text": "Type `/council help` for *all* commands.",
        "verbatim": True,
    }
    assert render_text(Post((Caution(text),)))["text"] == "Type /council help for all commands."


def test_a_note_without_styles_is_not_parsed() -> None:
    assert only(Note("Ada *and* <!here>"))[0]["elements"][0]["type"] == "plain_text"


def test_a_wide_table_is_a_list_where_no_table_can_be() -> None:
    wide = Table(
        ("", "Model", "Share", "95 % interval", "Rounds"),
        (("1", "Claude Sonnet 4.6", "71 %", "65–77 %", "36"), ("2", "Qwen 3", "48 %", "", "36")),
        frozenset({0, 2, 3, 4}),
    )

    assert only(wide)[0]["type"] == "data_table"
    items = only(wide, render_ephemeral)[0]["elements"]
    assert {(item["type"], item["style"]) for item in items} == {("rich_text_list", "bullet")}
    assert [shown_text([item]) for item in items] == [
        "1. Claude Sonnet 4.6\n · Share 71 % · 95 % interval 65–77 % · Rounds 36",
        "2. Qwen 3\n · Share 48 % · Rounds 36",
    ]


def test_a_repeated_action_gets_two_ids_and_stays_one_action() -> None:
    row = Buttons((Button("open", "One", "r1"), Button("open", "Two", "r2")))

    ids = [element["action_id"] for element in only(row)[0]["elements"]]

    assert ids == ["council:open", "council:open#2"]
    assert {action_from_id(id_) for id_ in ids} == {"open"}


@pytest.mark.parametrize("render", [render_message, render_ephemeral, render_text])
def test_the_text_of_a_message_is_never_empty_and_never_markup(render: Render) -> None:
    assert render(Post(()))["text"]
    assert "<" not in render(Post((), "a < b & c <!here>" * 50))["text"]


def test_plain_text_contains_every_part() -> None:
    post = Post((Heading("Why?"), Prose("So & so."), Quote("q"), Line("l"), TABLE, STEPS), "Why?")

    message = render_text(post)

    assert "blocks" not in message
    for words in ("Why?", "So &amp; so.", "» q", "Claude", "A answers: done, 4 s"):
        assert words in message["text"]


def test_the_longest_possible_question_is_shown_completely() -> None:
    question = "why " * 5_000
    post = Post((Heading(question), Prose("So."), Note("4 of 4")), question)

    made = [render_message(page) for page in paginate(post, fits_slack)]

    assert all(find_message_faults(message) == [] for message in made)
    assert "So." in shown_text(made[0]["blocks"])
    assert "".join(shown_text(message["blocks"]) for message in made[1:]).count("why") == 5_000


CALLED = Post((Line("Claude moved, <@U0BEN> <!channel>."), Mentions(("U0ADA", "W0EVE"))), "s")


@pytest.mark.parametrize("render", [render_message, render_ephemeral])
def test_mentions_are_user_elements(render: Callable[[Post], Payload]) -> None:
    block = render(CALLED)["blocks"][-1]

    (section,) = block["elements"]
    assert [leaf for leaf in section["elements"] if leaf["type"] == "user"] == [
        {"type": "user", "user_id": "U0ADA"},
        {"type": "user", "user_id": "W0EVE"},
    ]
    assert fits_slack(CALLED)


def test_a_line_after_a_mention_continues_it() -> None:
    (block,) = blocks_of(Post((Mentions(("U0ADA",)), Line("Your answer is ready.")), "s"))

    (section,) = block["elements"]
    assert [leaf.get("text", leaf.get("user_id")) for leaf in section["elements"]] == [
        "U0ADA",
        " ",
        "Your answer is ready.",
    ]


@pytest.mark.parametrize("render", [render_message, render_ephemeral])
def test_a_notification_mentions_whom_the_message_mentions(render: Render) -> None:
    assert render(CALLED)["text"] == "<@U0ADA> <@W0EVE> s"


def test_in_plain_text_only_our_own_mentions_are_markup() -> None:
    text = render_text(CALLED)["text"]

    assert text.endswith("\n<@U0ADA>\n<@W0EVE>")
    assert text.count("<") == 2


@pytest.mark.parametrize("id_", ["", "everyone", "!channel", "123", "U0ADA> <!here", "u0ada"])
def test_an_id_that_is_not_a_users_mentions_nobody(id_: str) -> None:
    post = Post((Line("Here."), Mentions((id_,)), Line("There.")), "s")

    assert shown_text(render_message(post)["blocks"]) == "Here.\nThere."
    assert "<" not in render_text(post)["text"]
