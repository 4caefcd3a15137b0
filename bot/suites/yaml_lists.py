"""Questions as a YAML list: what is written is read as text, so that `no` stays "no"."""

from collections.abc import Iterator

import yaml

from bot.suites.entries import Entry
from bot.suites.lists import SHAPES
from council.errors import SuiteError

_NULL = "tag:yaml.org,2002:null"


def entries_of_yaml(text: str) -> Iterator[Entry]:
    """Give the questions of a YAML list, each a text or a mapping."""
    root = _composed(text)
    if root is None:
        return
    if not isinstance(root, yaml.SequenceNode):
        raise SuiteError(f"{_place(root)} begins no list: write each question after “- ”.")
    for node in root.value:
        yield Entry(_place(node).lower(), _fields(node))


def _composed(text: str) -> yaml.Node | None:
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise SuiteError(
            f"Line {line} is no YAML ({error.problem or 'it is broken'}): write a list, each "
            "question after “- ”, in quotes where it holds a colon."
        ) from None
    except (yaml.YAMLError, RecursionError):
        raise SuiteError(
            "It is no YAML that can be read: write each question after “- ”."
        ) from None


def _fields(node: yaml.Node) -> dict[str, str]:
    if isinstance(node, yaml.ScalarNode):
        return {"question": _scalar(node)}
    if not isinstance(node, yaml.MappingNode):
        raise SuiteError(f"{_place(node)} is no question: write {SHAPES}.")
    fields: dict[str, str] = {}
    for key, value in node.value:
        if not (isinstance(key, yaml.ScalarNode) and isinstance(value, yaml.ScalarNode)):
            raise SuiteError(f"{_place(key)} must hold a text or a number.")
        fields[str(key.value)] = _scalar(value)
    return fields


def _scalar(node: yaml.ScalarNode) -> str:
    return "" if node.tag == _NULL else str(node.value)


def _place(node: yaml.Node) -> str:
    return f"Line {node.start_mark.line + 1}"
