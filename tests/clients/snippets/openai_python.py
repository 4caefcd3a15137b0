from openai import OpenAI
from pydantic import BaseModel

SYSTEM = 'Mention "quokka".'
QUESTION = "Which queue should we use?"
MESSAGES = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]
KEYS = 'Write JSON with "name" (text) and "years" (integer).'
client = OpenAI()


class Queue(BaseModel):
    name: str
    years: int


def chat() -> str:
    reply = client.chat.completions.create(model="council", messages=MESSAGES)
    return reply.choices[0].message.content


def stream() -> str:
    chunks = client.chat.completions.create(model="council", messages=MESSAGES, stream=True)
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks)


def structured_parse() -> dict:
    reply = client.chat.completions.parse(model="council", messages=MESSAGES, response_format=Queue)
    return reply.choices[0].message.parsed.model_dump()


def structured_json_object() -> str:
    reply = client.chat.completions.create(
        model="council",
        messages=[{"role": "system", "content": KEYS}, *MESSAGES],
        response_format={"type": "json_object"},
    )
    return Queue.model_validate_json(reply.choices[0].message.content).model_dump()


def responses() -> str:
    return client.responses.create(model="council", instructions=SYSTEM, input=QUESTION).output_text


def responses_stream() -> str:
    with client.responses.stream(model="council", instructions=SYSTEM, input=QUESTION) as events:
        return "".join(one.delta for one in events if one.type == "response.output_text.delta")


def responses_parse() -> dict:
    reply = client.responses.parse(model="council", input=MESSAGES, text_format=Queue)
    return reply.output_parsed.model_dump()


def responses_continued() -> str:
    first = client.responses.create(model="council", input=QUESTION)
    return client.responses.create(
        model="council", instructions=SYSTEM, input="And then?", previous_response_id=first.id
    ).output_text
