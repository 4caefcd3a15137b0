from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput, PromptedOutput

SYSTEM = 'Mention "quokka".'
QUESTION = "Which queue should we use?"


class Queue(BaseModel):
    name: str
    years: int


def _ask(output_type: object, model: str = "openai-chat:council") -> object:
    agent = Agent(model, output_type=output_type, system_prompt=SYSTEM)
    return agent.run_sync(QUESTION).output


def chat() -> str:
    return _ask(str)


async def stream() -> str:
    agent = Agent("openai-chat:council", system_prompt=SYSTEM)
    async with agent.run_stream(QUESTION) as result:
        return "".join([piece async for piece in result.stream_text(delta=True)])


def structured_output_type() -> dict:
    return _ask(Queue).model_dump()


def structured_native() -> dict:
    return _ask(NativeOutput(Queue)).model_dump()


def structured_prompted() -> dict:
    return _ask(PromptedOutput(Queue)).model_dump()


def responses() -> str:
    return _ask(str, "openai-responses:council")


def responses_structured() -> dict:
    return _ask(Queue, "openai-responses:council").model_dump()
