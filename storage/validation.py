"""Plain sentences about values that pydantic refuses."""

import re

from pydantic_core import ErrorDetails

_SENTENCES = {
    "missing": "is missing",
    "extra_forbidden": "is not a known name; check its spelling",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "too_short": "needs at least {min_length}",
    "too_long": "takes at most {max_length}",
    "string_too_short": "needs at least {min_length} characters",
    "string_too_long": "takes at most {max_length} characters",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "finite_number": "must be a number",
    "int_from_float": "must be a whole number",
    "json_type": "must be JSON",
    "timezone_aware": "needs a time zone",
}
# The type of an error begins with the type of the value that is expected.
_KINDS = {
    "string": "text",
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "decimal": "a number",
    "tuple": "a list",
    "list": "a list",
    "set": "a list",
    "frozen": "a list",
    "dict": "a group of named values",
    "mapping": "a group of named values",
    "model": "a group of named values",
    "dataclass": "a group of named values",
    "datetime": "a date with a time",
    "date": "a date",
    "timezone": "a time with its zone",
    "url": "an address",
    "none": "empty",
}


def describe_fault(fault: ErrorDetails) -> str:
    """Return what is wrong with a value, without the value, which may be secret.

    Our own validators speak for themselves; nothing else of pydantic's text is shown.
    """
    kind = fault["type"]
    if kind in {"value_error", "assertion_error"}:
        text = str(fault.get("ctx", {}).get("error") or "is not valid").rstrip(".")
        return text[:1].lower() + text[1:]
    if kind == "json_invalid":
        line = re.search(r"line \d+", str(fault.get("ctx", {}).get("error")))
        return f"not valid JSON ({line[0]})" if line else "not valid JSON"
    if kind in _SENTENCES:
        return _SENTENCES[kind].format_map(fault.get("ctx", {}))
    expected = _KINDS.get(kind.partition("_")[0])
    return f"must be {expected}" if expected else "is not valid"
