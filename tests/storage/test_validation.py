"""No sentence of pydantic's reaches a person."""

from collections import defaultdict
from typing import get_args

import pytest
from pydantic_core.core_schema import ErrorType

from storage.validation import describe_fault


@pytest.mark.parametrize("kind", get_args(ErrorType))
def test_every_fault_has_a_sentence_of_our_own(kind: str) -> None:
    limits: dict[str, object] = defaultdict(lambda: 5)
    fault = {"type": kind, "loc": ("quorum",), "msg": "Input should be", "ctx": limits}

    said = describe_fault({**fault, "input": "s3cret"})  # type: ignore[typeddict-item]

    assert said
    assert "{" not in said
    assert "Input" not in said
    assert "s3cret" not in said
    assert not said.endswith(".")


def test_a_validator_of_ours_speaks_for_itself() -> None:
    error = ValueError("Write either a list or a file.")

    said = describe_fault(
        {
            "type": "value_error",
            "loc": (),
            "msg": "Value error, …",
            "input": 1,
            "ctx": {"error": error},
        }
    )

    assert said == "write either a list or a file"
