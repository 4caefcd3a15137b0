from agents import Agent, OpenAIChatCompletionsModel, Runner
from openai import AsyncOpenAI
from pydantic import BaseModel

SYSTEM = 'Mention "quokka".'
QUESTION = "Which queue should we use?"


class Queue(BaseModel):
    name: str
    years: int


def _chatting(**more: object) -> Agent:
    model = OpenAIChatCompletionsModel("council", AsyncOpenAI())
    return Agent("Adviser", instructions=SYSTEM, model=model, **more)


def _agent(**more: object) -> Agent:
    return Agent("Adviser", instructions=SYSTEM, model="council", **more)


async def _streamed(agent: Agent) -> str:
    events = Runner.run_streamed(agent, QUESTION).stream_events()
    said = [event.data async for event in events if event.type == "raw_response_event"]
    return "".join(one.delta for one in said if one.type == "response.output_text.delta")


async def chat() -> str:
    return (await Runner.run(_chatting(), QUESTION)).final_output


async def stream() -> str:
    return await _streamed(_chatting())


async def structured_output_type() -> dict:
    return (await Runner.run(_chatting(output_type=Queue), QUESTION)).final_output.model_dump()


async def responses() -> str:
    return (await Runner.run(_agent(), QUESTION)).final_output


async def responses_stream() -> str:
    return await _streamed(_agent())


async def responses_output_type() -> dict:
    return (await Runner.run(_agent(output_type=Queue), QUESTION)).final_output.model_dump()
