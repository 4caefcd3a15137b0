"""Registries for tests: of objects that a test made, and of plug-ins with an object of a test."""

import sys
from itertools import count

from council.methods import Method
from council.registry import Part, Registry

_NUMBERS = count(1)


def address_of(value: object) -> str:
    """Return an address at which a value of a test can be loaded."""
    name = f"value_{next(_NUMBERS)}"
    setattr(sys.modules[__name__], name, value)
    return f"{__name__}:{name}"


def a_registry(*methods: Method, **graders: object) -> Registry:
    """Return the registry of a plug-in with these methods, and graders by their name."""
    return Registry(
        methods={method.name: Part("test", address_of(method)) for method in methods},
        graders={name: Part("test", address_of(grader)) for name, grader in graders.items()},
    )
