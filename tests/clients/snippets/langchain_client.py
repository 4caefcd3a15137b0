from langchain_openai import ChatOpenAI
from pydantic import BaseModel

MESSAGES = [("system", 'Mention "quokka".'), ("user", "Which queue should we use?")]
KEYS = ("system", 'Write JSON with "name" (text) and "years" (integer).')
model = ChatOpenAI(model="council")


class Queue(BaseModel):
    name: str
    years: int


def chat() -> str:
    return model.invoke(MESSAGES).text


def stream() -> str:
    return "".join(chunk.text for chunk in model.stream(MESSAGES))


def structured_json_schema() -> dict:
    return model.with_structured_output(Queue, method="json_schema").invoke(MESSAGES).model_dump()


def structured_function_calling() -> dict:
    asking = model.with_structured_output(Queue, method="function_calling")
    return asking.invoke(MESSAGES).model_dump()


def structured_json_mode() -> dict:
    asking = model.with_structured_output(Queue, method="json_mode")
    return asking.invoke([KEYS, *MESSAGES]).model_dump()


def responses() -> str:
    return ChatOpenAI(model="council", use_responses_api=True).invoke(MESSAGES).text


def responses_structured() -> dict:
    asking = ChatOpenAI(model="council", use_responses_api=True).with_structured_output(Queue)
    return asking.invoke(MESSAGES).model_dump()
