"""What a `who=` says is who asks: nobody is taken for the program's own person by mistake."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.types import Scope

from lastword import Runtime
from lastword.server import ApiToken, Who, app
from tests.server.engines import echo
from tests.server.test_mount import mounted

WORDS = "the site's own secret"


@pytest.mark.scenario("W23", part="server")
@pytest.mark.parametrize("name", ["local", "=local", "==local", "ann"])
async def test_a_name_alone_is_never_the_program_s_own(name: str) -> None:
    said = {"who": name}

    def who(scope: Scope) -> str:
        assert scope
        return said["who"]

    async with Runtime(echo) as runtime, mounted(app(runtime, who=who)) as client:
        await (await runtime.session("ops").send(WORDS)).outcome()
        assert (await client.get("/v1/sessions")).json["sessions"] == []
        assert WORDS not in (await client.get("/v1/sessions/ops/transcript")).body.decode()
        await client.send("mine", "go")
        for other in {"local", "=local", "==local", "ann"} - {name}:
            said["who"] = other
            assert (await client.get("/v1/sessions")).json["sessions"] == []


@pytest.mark.scenario("W23", part="server")
async def test_a_who_of_the_principal_local_has_the_program_s_own_sessions() -> None:
    def who(scope: Scope) -> Who:
        assert scope
        return Who("ann", "local", frozenset({"read"}))

    async with Runtime(echo) as runtime, mounted(app(runtime, who=who)) as client:
        await (await runtime.session("ops").send(WORDS)).outcome()
        assert WORDS in (await client.get("/v1/sessions/ops/transcript")).body.decode()


@pytest.mark.scenario("W23", part="server")
@pytest.mark.parametrize("found", ["", " ", None, Who("ann", "", frozenset({"read"}))])
async def test_who_has_no_name_is_nobody(found: Any) -> None:
    async with Runtime(echo) as runtime, mounted(app(runtime, who=lambda _: found)) as client:
        assert (await client.get("/v1/me")).status == 401
        assert (await client.send("s", "hi")).status == 401
        assert (await client.get("/healthz")).status == 200


def raising(_: Scope) -> None:
    raise RuntimeError("password=hunter2")


def wrong_rights(_: Scope) -> Who:
    return Who("a", "a", "ready-and-stopped")  # pyright: ignore[reportArgumentType] - on purpose


@pytest.mark.scenario("W23", part="server")
@pytest.mark.parametrize(
    "found",
    [raising, wrong_rights, 5, True, b"ann", "a/b"],
    ids=["raises", "rights", "int", "bool", "bytes", "slash"],
)
async def test_a_hook_that_fails_leaves_what_anybody_may_ask_as_it_is(found: Any) -> None:
    def who(scope: Scope) -> Any:
        return found(scope) if callable(found) else found

    async with Runtime(echo) as runtime, mounted(app(runtime, who=who)) as client:
        for path in ("/healthz", "/readyz", "/"):
            assert (await client.get(path)).status == 200, path
        for path in ("/v1/me", "/v1/sessions", "/metrics"):
            answer = await client.get(path)
            assert (answer.status, answer.problem) == (500, "internal"), path
            assert b"hunter2" not in answer.body
        assert (await client.send("s", "hi")).status == 500


@pytest.mark.scenario("W23", part="server")
@pytest.mark.parametrize("rights", ["read", "ready-and-stopped", None, 5, ["fly"], ["read", 5]])
def test_rights_are_a_list_of_those_there_are(rights: Any) -> None:
    with pytest.raises(ValueError, match="ann"):
        Who("ann", "ann", rights)
    with pytest.raises(ValueError, match="ann"):
        ApiToken("a token that is long enough", "ann", rights)
    assert Who("ann", "ann", ["read"]).rights == {"read"}  # pyright: ignore[reportArgumentType]
