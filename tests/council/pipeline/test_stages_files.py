"""Files and sources in a round: who gets an image, who is told what is missing, what is masked."""

from dataclasses import replace

from council.answers import Reply, Role, Source
from council.budget import GatewayWrapper
from council.files import QuestionFile
from council.integrity.verification import verify
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from council.rounds import Round
from tests.builders import CLAUDE, GPT, a_panel, a_question, a_round
from tests.fakes.gateway import FakeGateway
from tests.fakes.memory_store import MemoryStore

CHART = QuestionFile("chart.png", "image/png", data="iVBORw0KGgo=")
LONG = QuestionFile("log.txt", "text/plain", "line of a log\n" * 3_000)


async def run(gateway: FakeGateway, *files: QuestionFile) -> Round:
    store = MemoryStore()
    round_ = replace(a_round(a_panel(3)), question=replace(a_question(), files=files))
    await store.open(round_)
    return await run_round(round_.id, RoundServices(gateway, store))


async def test_images_go_to_every_seat_that_sees_them_and_the_others_are_told() -> None:
    gateway = FakeGateway(seeing=(CLAUDE, GPT))

    round_ = await run(gateway, CHART)

    for role in (Role.ANSWER, Role.BALLOT, Role.SYNTHESIS):
        for call in gateway.of(role):
            sees = call.member.key in {CLAUDE, GPT}
            assert call.images == ((CHART,) if sees else ())
            assert ("which you cannot see" in call.prompt.user) is not sees
    missed = {answer.member: answer.missed for answer in round_.answers}
    assert [missed.pop(key) for key in (CLAUDE, GPT)] == [(), ()]
    assert [*missed.values()] == [("images",)]
    assert not verify(round_)


async def test_a_file_too_long_for_a_context_is_cut_for_that_seat_alone() -> None:
    gateway = FakeGateway(contexts={CLAUDE: 4_000})

    round_ = await run(gateway, LONG)

    asked = {call.member.key: call.prompt.user for call in gateway.of(Role.ANSWER)}
    assert len(asked[CLAUDE]) < 7_000 < len(LONG.text) < len(asked[GPT])
    assert {a.member: a.missed for a in round_.answers}[CLAUDE] == ("texts",)
    assert {a.member: a.missed for a in round_.answers}[GPT] == ()


async def test_judges_see_titles_and_domains_of_sources_without_makers() -> None:
    sources = (
        Source("Queues in Postgres", "https://www.postgresql.org/docs?utm_source=openai"),
        Source("OpenAI's guide", "https://platform.openai.com/docs"),
        Source(
            "crunchydata.com", "https://vertexaisearch.cloud.google.com/grounding-api-redirect/x"
        ),
    )
    linked = (
        "See [docs](https://a.org/x?utm_source=openai&p=1) or https://b.org/?utm_source=chatgpt"
    )
    gateway = FakeGateway(answers={GPT: Reply(linked, sources=sources)})

    round_ = await run(gateway)

    [answer] = [answer for answer in round_.answers if answer.member == GPT]
    assert answer.reply.sources == sources
    judged = [c.prompt.user for c in gateway.of(Role.BALLOT) if c.member.key != GPT]
    for shown in judged:
        assert "- Queues in Postgres (www.postgresql.org)" in shown
        assert "- crunchydata.com\n" in shown
        assert "https://a.org/x?p=1" in shown
        for trace in ("openai", "chatgpt", "utm_", "vertexaisearch"):
            assert trace not in shown.casefold().replace("openai/", "")


async def test_a_gateway_around_another_knows_who_sees_images() -> None:
    class Wrapper(GatewayWrapper):
        def __init__(self) -> None:
            self.gateway = FakeGateway(seeing=(CLAUDE,))

    wrapper, panel = Wrapper(), a_panel(3)

    assert [await wrapper.sees_images(seat) for seat in panel.members] == [
        seat.key == CLAUDE for seat in panel.members
    ]


def test_an_image_is_sent_as_a_data_url() -> None:
    assert CHART.data_url == "data:image/png;base64,iVBORw0KGgo="
