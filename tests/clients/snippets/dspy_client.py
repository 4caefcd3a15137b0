import dspy

SYSTEM = 'Mention "quokka".'
QUESTION = "Which queue should we use?"
MESSAGES = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]
dspy.configure(lm=dspy.LM("openai/council", cache=False))


class Choose(dspy.Signature):
    """Choose a queue. Mention "quokka"."""

    question: str = dspy.InputField()
    name: str = dspy.OutputField()
    years: int = dspy.OutputField()


def _choose(adapter: dspy.Adapter) -> dict:
    with dspy.context(adapter=adapter):
        return dspy.Predict(Choose)(question=QUESTION).toDict()


def chat() -> str:
    [said] = dspy.LM("openai/council", cache=False)(messages=MESSAGES)
    return said


def structured_chat_adapter() -> dict:
    return _choose(dspy.ChatAdapter(use_json_adapter_fallback=False))


def structured_json_adapter() -> dict:
    return _choose(dspy.JSONAdapter())


def responses() -> str:
    [said] = dspy.LM("openai/council", model_type="responses", cache=False)(messages=MESSAGES)
    return said["text"] if isinstance(said, dict) else said
