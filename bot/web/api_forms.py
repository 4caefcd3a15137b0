"""What an answer must look like: JSON of a schema, or the call of one function."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.web.api_errors import ApiError, refusal
from council.errors import AnswerSchemaError
from council.structured_output import ANY_OBJECT, check_schema

MAX_TOOLS = 128
_MAX_NAME = 64
# What clients send for "no, thank you".
_UNASKED: tuple[object, ...] = (None, {}, [], False, 0, "", "none", "auto")
_KINDS = ("json_object", "json_schema")  # no set: a client may send what cannot be in one
_WHY_NO_TOOLS = (
    "The council can't choose to call tools: its answer is ranked, and one model's call would not "
    "be. Force one function with tool_choice, or leave out tools: {names}."
)


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """What an answer must fit: a JSON Schema, "" for text.

    With `tool`, the answer is returned as a call of that function, which `is_named` by the request
    or the only one that there is.
    """

    schema: str = ""
    tool: str = ""
    is_named: bool = False


TEXT = AnswerForm()


def is_asked(value: object) -> bool:
    """Return whether a client asks for something with this value of a field."""
    return not any(value is one or (value == one and value is not True) for one in _UNASKED)


def read_form(tools: object, choice: object, form: object, param: str) -> AnswerForm:
    """Return what an answer must look like; raise ApiError for what a council cannot do.

    `param` names the field with the `form` of text. A forced call comes before it.
    """
    if tool := _forced_tool(tools, choice):
        name, is_named = tool["name"], isinstance(choice, Mapping)
        given = tool.get("parameters")
        about = {"title": name, "description": tool.get("description")}
        described = {key: text for key, text in about.items() if isinstance(text, str)}
        parameters = given if isinstance(given, Mapping) else {"type": "object"}
        return AnswerForm(_checked({**described, **parameters}, "tools"), name, is_named)
    if not is_asked(form) or form == {"type": "text"}:
        return TEXT
    if not isinstance(form, Mapping) or form.get("type") not in _KINDS:
        use = 'Use "text", "json_object" or "json_schema".'
        raise ApiError(400, f"{param} has an unknown type. {use}", "unsupported_value", param)
    if form["type"] == "json_object":
        return AnswerForm(ANY_OBJECT)
    inner = form.get("json_schema", form)  # chat completions wrap it once more
    schema = inner.get("schema") if isinstance(inner, Mapping) else None
    if schema is None:
        raise ApiError(400, f"{param} has no schema.", "invalid_json_schema", param)
    return AnswerForm(_checked(schema, param))


def _checked(schema: object, param: str) -> str:
    try:
        return check_schema(schema)
    except AnswerSchemaError as error:
        raise ApiError(400, str(error), "invalid_json_schema", param) from None


def _forced_tool(tools: object, choice: object) -> Mapping[str, Any] | None:
    """Return the one function that must be called; None if there are no tools to call."""
    forced = _forced_name(choice)
    if not is_asked(tools) or choice == "none":
        if forced is not None:
            raise refusal("tool_choice", "tool_choice forces a call, but there are no tools.")
        return None
    known = {tool["name"]: tool for tool in _functions(tools)}
    names = ", ".join(known)
    if forced is None or (not forced and len(known) > 1):
        raise refusal("tools", _WHY_NO_TOOLS.format(names=names[:500]))
    if forced and forced not in known:
        what = f"tool_choice names {forced!r}, which is not among the tools: {names[:500]}."
        raise ApiError(400, what, "invalid_value", "tool_choice")
    return known[forced] if forced else next(iter(known.values()))


def _forced_name(choice: object) -> str | None:
    """Return the name of the function that is forced, "" for any; None if none is."""
    if not is_asked(choice):
        return None
    if choice in ("required", "any"):
        return ""
    name = _unwrapped(choice).get("name") if isinstance(choice, Mapping) else None
    if isinstance(choice, Mapping) and choice.get("type") == "function" and isinstance(name, str):
        return name[:_MAX_NAME]
    what = 'Use "none", "required" or {"type": "function", "function": {"name": …}}.'
    raise ApiError(400, f"tool_choice is invalid. {what}", "unsupported_value", "tool_choice")


def _functions(tools: object) -> list[Mapping[str, Any]]:
    if not isinstance(tools, list) or len(tools) > MAX_TOOLS:
        what = f"tools is invalid: send a list of at most {MAX_TOOLS} functions."
        raise ApiError(400, what, None, "tools")
    found = []
    for i, tool in enumerate(tools):
        kind = tool.get("type", "unknown") if isinstance(tool, Mapping) else "unknown"
        function = _unwrapped(tool) if isinstance(tool, Mapping) else {}
        name = function.get("name")
        if kind != "function" or not isinstance(name, str) or not 0 < len(name) <= _MAX_NAME:
            what = f"The council has no tools of the type {str(kind)[:40]!r}. Leave them out."
            raise ApiError(400, what, "unsupported_value", f"tools.{i}")
        found.append(function)
    return found


def _unwrapped(one: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a function as responses have it; chat completions wrap it once more."""
    inner = one.get("function", one)
    return inner if isinstance(inner, Mapping) else {}
