from inspect_ai.model import (
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ResponseSchema,
    get_model,
)
from inspect_ai.util import json_schema
from pydantic import BaseModel

MESSAGES = [
    ChatMessageSystem(content='Mention "quokka".'),
    ChatMessageUser(content="Which queue should we use?"),
]


class Queue(BaseModel):
    name: str
    years: int


async def chat() -> str:
    model = get_model("openai/council", responses_api=False)
    return (await model.generate(MESSAGES)).completion


async def structured_response_schema() -> dict:
    schema = ResponseSchema(name="queue", json_schema=json_schema(Queue))
    config = GenerateConfig(response_schema=schema)
    model = get_model("openai/council", config=config, responses_api=False)
    return Queue.model_validate_json((await model.generate(MESSAGES)).completion).model_dump()


async def responses() -> str:
    model = get_model("openai/council")
    return (await model.generate(MESSAGES)).completion
