import litellm
from pydantic import BaseModel

SYSTEM = 'Mention "quokka".'
QUESTION = "Which queue should we use?"
MESSAGES = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]


class Queue(BaseModel):
    name: str
    years: int


def chat() -> str:
    reply = litellm.completion("openai/council", MESSAGES)
    return reply.choices[0].message.content


def stream() -> str:
    chunks = litellm.completion("openai/council", MESSAGES, stream=True)
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks)


def structured_json_schema() -> dict:
    reply = litellm.completion("openai/council", MESSAGES, response_format=Queue)
    return Queue.model_validate_json(reply.choices[0].message.content).model_dump()


def responses() -> str:
    reply = litellm.responses(model="openai/council", instructions=SYSTEM, input=QUESTION)
    return reply.output[0].content[0].text
