"""Inside the sandbox: run a student's cells, and answer questions with arrays.

One line of JSON comes in for each, one goes out. There are neither solutions nor seeds here: what
a student's code patches, prints or reads can change its own answers only.
"""

import base64
import io
import json
import os
import sys
from types import SimpleNamespace

import numpy as np

LONGEST = 200  # characters of an error


def packed(value: object) -> object:
    """Return an array as text for JSON; numbers as they are."""
    if not isinstance(value, np.ndarray):
        return value
    file = io.BytesIO()
    np.save(file, value, allow_pickle=False)
    return base64.b64encode(file.getvalue()).decode()


def unpacked(value: object) -> object:
    """Return what `packed` was given; nothing in it is ever run."""
    if not isinstance(value, str):
        return value
    return np.load(io.BytesIO(base64.b64decode(value)), allow_pickle=False)


def error_in(error: BaseException) -> str:
    """Return an error in one line; where it is of the syntax, without the cell's file name."""
    is_syntax = isinstance(error, SyntaxError)
    text = f"{error.msg} (line {error.lineno})" if is_syntax else str(error)
    lines = text.strip().splitlines()
    return ": ".join([type(error).__name__, *lines[:1]])[:LONGEST]


def reply_to(request: dict, shell, framework) -> dict:
    """Run a cell, or return what an expression of the notebook makes of inputs."""
    from d2l_attention.arrays import as_array, dtype_of
    from d2l_attention.frameworks import to_numpy
    from d2l_attention.practice.checking import calls, changed, is_stub
    from d2l_attention.practice.exercises import Stream

    if "cell" in request:
        done = shell.run_cell(request["cell"], store_history=False)
        error = done.error_before_exec or done.error_in_exec
        return {"error": error_in(error)} if error else {}
    answer = eval(request["of"], shell.user_ns)
    inputs = tuple(map(unpacked, request["inputs"]))
    asked = (lambda x: answer(x[i] for i in range(x.shape[0]))) if request["stream"] else answer
    if "direction" in request:
        found = framework.gradients(answer, inputs, unpacked(request["direction"]))
        return {"gradients": {i: packed(gradient) for i, gradient in found.items()}}
    if "largest" in request:
        return {"largest": framework.largest_array(asked, inputs)}
    if "calls" in request:
        return {"calls": sorted(calls(framework, answer, inputs))}
    given = [framework.make_array(x) for x in inputs]
    handed = [Stream(given[0])] if request["stream"] else given
    returned = answer(*handed) if inputs else answer
    if returned is None or returned is ...:
        if inputs and is_stub(answer):
            raise NotImplementedError
        return {"kind": "nothing", "changed": []}
    kind = "list" if isinstance(returned, list | tuple) else "array"
    return {
        "kind": "NumPy array" if isinstance(returned, np.ndarray) else kind,
        "array": packed(as_array(returned)),
        "dtype": dtype_of(to_numpy(returned) if kind == "list" else returned),
        "changed": [bool(changed(x, y)) for x, y in zip(inputs, given, strict=True)],
    }


def main() -> None:
    requests, replies = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):  # what cells read and print has nothing to do with the answers
        os.dup2(nowhere, stream)
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    from d2l_attention import practice
    from d2l_attention.frameworks import check_installed, load
    from d2l_attention.practice import checking

    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))

    async def run_code(code, result=None, run=shell.run_code, **options):
        before = result and result.error_in_exec
        await run(code, result, **options)  # and so the statements below an error
        if before:
            result.error_in_exec = before  # the first says why

    shell.run_code = run_code
    done = SimpleNamespace(passed=True, status="passed", mistake=None)
    practice.check = checking.check = lambda *_, **__: done  # which would ask for solutions
    check_installed(os.environ["D2L_FRAMEWORK"])
    framework = SimpleNamespace(**vars(load(os.environ["D2L_FRAMEWORK"])))  # before it is patched
    framework.make_array(np.zeros(1))  # its import takes no answer's time
    sys.path.insert(0, "")  # as in Jupyter: what %%writefile writes can be imported
    for request in map(json.loads, requests):
        try:
            reply = reply_to(request, shell, framework)
        except BaseException as error:
            reply = {"error": error_in(error)}
        print(json.dumps(reply | {"token": request["token"]}), file=replies, flush=True)


if __name__ == "__main__":
    sys.exit(main())
