import instructor
from openai import OpenAI
from pydantic import BaseModel

SYSTEM = 'Mention "quokka".'
QUESTION = "Which queue should we use?"
MESSAGES = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]


class Queue(BaseModel):
    name: str
    years: int


def _ask(mode: instructor.Mode) -> dict:
    client = instructor.from_openai(OpenAI(), mode=mode)
    return client.create(model="council", messages=MESSAGES, response_model=Queue).model_dump()


def chat() -> str:
    client = instructor.from_openai(OpenAI())
    reply = client.create(model="council", messages=MESSAGES, response_model=None)
    return reply.choices[0].message.content


def structured_tools() -> dict:
    return _ask(instructor.Mode.TOOLS)


def structured_tools_strict() -> dict:
    return _ask(instructor.Mode.TOOLS_STRICT)


def structured_json() -> dict:
    return _ask(instructor.Mode.JSON)


def structured_json_schema() -> dict:
    return _ask(instructor.Mode.JSON_SCHEMA)


def structured_md_json() -> dict:
    return _ask(instructor.Mode.MD_JSON)


def responses_tools() -> dict:
    return _ask(instructor.Mode.RESPONSES_TOOLS)
