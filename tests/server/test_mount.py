"""The app in somebody else's: mounted under a path, served by a server that is not ours."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Scope

from lastword import Runtime
from lastword.server import ApiToken, ServerLimits, Who, app
from lastword.server.asgi import routes
from lastword.server.desk import ServerState
from lastword.server.serve import listen
from lastword.server.who import ALL, Keys
from tests.promise.workshop import until
from tests.server.client import SECRET, Client, upto
from tests.server.engines import Doors, Talker, echo


class Below(Client):
    """Asks what is mounted under a path."""

    def request(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> bytes:
        return super().request(method, f"/agent{path}", body, headers)

    def as_(self, token: str | None) -> Client:
        return Below(self.port, token, self.headers)


async def home(request: object) -> PlainTextResponse:
    return PlainTextResponse("somebody else's page")


@asynccontextmanager
async def mounted(inner: ASGIApp) -> AsyncGenerator[Below]:
    """A client of it, where somebody else's app has it."""
    outer = Starlette(routes=[Route("/", home), Mount("/agent", app=inner)])
    listening = listen("127.0.0.1", 0)
    config = uvicorn.Config(outer, log_config=None, lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve([listening]))
    await until(lambda: server.started)
    try:
        yield Below(listening.getsockname()[1])
    finally:
        server.should_exit = True
        await serving


async def test_a_mounted_app_is_talked_to_watched_and_stopped() -> None:
    engine = Talker()
    async with (
        Runtime(engine) as runtime,
        mounted(app(runtime, tokens=[ApiToken(SECRET)])) as client,
    ):
        async with client.events("s") as events:
            assert (await client.send("s", "go")).status == 202
            await upto(events, "text")
            engine.go.set()
            await upto(events, "text")
            receipt = await client.stop("s")
            assert receipt["runs"] == ["s#1"]
            seen = await upto(events, "stopped")
        kinds = [event["kind"] for event in seen]
        assert "text" not in kinds[kinds.index("ended") :]
        async with client.events("s", last_event_id=seen[-2]["id"]) as events:
            assert (await anext(events))["id"] == seen[-1]["id"]
        refused = await client.as_("wrong").get("/v1/sessions")
        assert (refused.status, refused.problem) == (401, "unauthorized")
        nothing = await client.get("/nothing")
        assert (nothing.status, nothing.problem) == (404, "not-found")
        outside = await Client(client.port).get("/")
        assert outside.body == b"somebody else's page"
        assert "content-security-policy" not in outside.headers


async def test_a_server_that_bounds_its_end_is_not_kept_by_those_who_watch() -> None:
    engine = Doors()
    async with Runtime(engine) as runtime, AsyncExitStack() as watching:
        async with mounted(app(runtime, tokens=[ApiToken(SECRET)])) as client:
            events = await watching.enter_async_context(client.events("s"))
            await client.send("s", "go")
            await upto(events, "text")
        assert engine.runs["go"].current, "who is cut off stops nothing; the runtime's end does"
        assert [event async for event in events] == []


async def test_the_page_and_all_it_consists_of_are_found_under_the_path() -> None:
    async with Runtime(echo) as runtime, mounted(app(runtime)) as client:
        page = await client.get("/")
        assert page.headers["content-type"].startswith("text/html")
        assert "default-src 'none'" in page.headers["content-security-policy"]
        named = re.findall(r'(?:src|href)="([^"#]+)"', page.body.decode())
        ours = [name for name in named if not name.startswith("data:")]
        assert ours
        for name in ours:
            assert not name.startswith(("/", "http")), "relative, wherever it is mounted"
            answer = await client.get(f"/{name.removeprefix('./')}")
            assert answer.status == 200, name
            again = await client.get(f"/{name}", if_none_match=answer.headers["etag"])
            assert again.status == 304
        assert (await client.get("/assets/nothing.js")).status == 404
        assert (await client.get("/assets/..%2fwire.py")).status in {400, 404}


async def test_the_link_gives_the_page_a_key_once_wherever_it_is_mounted() -> None:
    async with Runtime(echo) as runtime:
        keys = Keys([ApiToken(SECRET)])
        desk = ServerState(runtime, None, keys, ServerLimits(), "")
        async with mounted(routes(desk)) as client:
            nobody, code = client.as_(None), {"code": keys.new_link()}
            key = (await nobody.post("/v1/keys", code)).json["key"]
            me = (await client.as_(key).get("/v1/me")).json
            assert (me["name"], set(me["rights"])) == ("local", ALL)
            again = await nobody.post("/v1/keys", code)
            assert (again.status, again.problem) == (410, "used-link")
            forged = key[:-2] + ("AA" if key[-2:] != "AA" else "BB")
            assert (await client.as_(forged).get("/v1/me")).status == 401
            assert (await nobody.get("/v1/me")).status == 401


async def test_a_hook_says_who_asks_by_whatever_it_finds() -> None:
    def who(scope: Scope) -> Who | None:
        name = dict(scope["headers"]).get(b"x-user", b"").decode()
        rights = frozenset[str]({"read", "send", "stop"} if name == "ann" else {"read"})
        return Who(name, name, rights) if name else None  # pyright: ignore[reportArgumentType] - of them

    engine = Doors()
    async with Runtime(engine) as runtime, mounted(app(runtime, who=who)) as client:
        nobody = client.as_(None)
        assert (await nobody.get("/v1/me")).status == 401
        ann = Below(client.port, None, {"x-user": "ann"})
        bob = Below(client.port, None, {"x-user": "bob"})
        assert (await ann.send("s", "go")).status == 202
        refused = await bob.send("s", "go")
        assert (refused.status, refused.problem) == (403, "forbidden")
        assert (await bob.get("/v1/sessions")).json["sessions"] == []
        await until(lambda: engine.runs)
        assert (await ann.stop("s"))["runs"] == ["s#1"]
        [said] = [
            entry
            for entry in (await ann.get("/v1/sessions/s/log")).json["entries"]
            if entry["kind"] == "said"
        ]
        assert said["message"]["by"] == "ann"


async def test_without_tokens_it_answers_only_to_names_of_this_machine() -> None:
    async with Runtime(echo) as runtime, mounted(app(runtime)) as client:
        nobody = client.as_(None)
        for host in ("localhost", "127.0.0.1", "[::1]", "LOCALHOST", "localhost."):
            assert (await nobody.get("/v1/me", host=f"{host}:{client.port}")).status == 200, host
        for host in ("evil.example", f"evil.example:{client.port}", "127.0.0.1.evil.example", ""):
            answer = await nobody.get("/v1/me", host=host)
            assert (answer.status, answer.problem) == (403, "wrong-host"), host
