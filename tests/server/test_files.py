"""What answers changed in files, over HTTP: shown, taken back, brought back by who may approve."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic_ai.models.function import FunctionModel

from lastword import Runtime
from lastword.agent.assistant import assistant
from lastword.server import ApiToken
from tests.agent.to_the_letter import Model, call
from tests.promise.workshop import until
from tests.server.client import served

ANN, BOB = "the token of ann, long enough", "the token of bob, long enough"
TOKENS = (
    ApiToken(ANN, "ann", ("read", "send", "approve", "stop"), "home"),
    ApiToken(BOB, "bob", ("read", "send", "stop"), "home"),
)


@pytest.mark.scenario("U9", part="server")
async def test_who_may_approve_sees_and_takes_back_what_an_answer_changed(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("one\ntwo\n", encoding="utf-8")
    model = Model(call("edit_file", path="a.txt", old="two", new="three"))
    agent = assistant(
        FunctionModel(stream_function=model.stream), roots=[tmp_path], rules=["allow *"]
    )
    before = agent.questions.as_before_tool()
    async with (
        Runtime(agent.engine, before_tool=before) as runtime,
        served(runtime, tokens=TOKENS) as client,
    ):
        ann, bob = client.as_(ANN), client.as_(BOB)
        nothing = await ann.post("/v1/sessions/s/undo", {})
        assert nothing.problem == "unknown-session"
        await ann.send("s", "go")
        [name] = await runtime.sessions()
        session = runtime.session(name)
        await until(lambda: not session.busy)

        [shown] = (await ann.get("/v1/sessions/s/files")).json["files"]
        assert (shown["path"], shown["come"], shown["gone"]) == ("a.txt", 1, 1)
        assert {"mark": "+", "text": "three"} in shown["lines"]
        for refused in (
            await bob.get("/v1/sessions/s/files"),
            await bob.post("/v1/sessions/s/undo", {}),
            await bob.post("/v1/sessions/s/redo"),
        ):
            assert (refused.status, refused.problem) == (403, "forbidden")
        assert file.read_text(encoding="utf-8") == "one\nthree\n"

        undone = await ann.post("/v1/sessions/s/undo", {"paths": ["a.txt"]})
        assert undone.json == {"done": ["a.txt"], "left": [], "words": "Taken back: a.txt."}
        assert file.read_text(encoding="utf-8") == "one\ntwo\n"
        again = await ann.post("/v1/sessions/s/undo", {})
        assert (again.status, again.problem) == (409, "nothing-to-undo")

        assert (await ann.post("/v1/sessions/s/redo")).json["done"] == ["a.txt"]
        assert file.read_text(encoding="utf-8") == "one\nthree\n"
