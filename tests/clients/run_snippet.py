"""Run each function of a snippet and write what it returned; runs in the client's environment."""

import asyncio
import importlib.util
import inspect
import json
import sys
from pathlib import Path


def main(snippet: str, results: str) -> None:
    spec = importlib.util.spec_from_file_location("snippet", snippet)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["snippet"] = module
    spec.loader.exec_module(module)
    # One event loop for all, since clients are kept from one to the next.
    with asyncio.Runner() as loop, Path(results).open("w", encoding="utf-8") as file:
        for name, function in [*vars(module).items()]:
            if not inspect.isfunction(function) or function.__module__ != "snippet":
                continue
            if name.startswith("_"):
                continue
            try:
                said = function()
                said = loop.run(said) if inspect.iscoroutine(said) else said
                line = {"mode": name, "said": said}
            except Exception as error:  # noqa: BLE001 - it is the result
                why = getattr(error, "stderr", None) or error  # a command says more there
                line = {"mode": name, "error": f"{type(error).__name__}: {str(why)[-600:]}"}
            file.write(json.dumps(line) + "\n")
            file.flush()


main(*sys.argv[1:])
