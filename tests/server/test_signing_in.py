"""Who a browser is to a server: keys that no other server is given, and what no page can do."""

from __future__ import annotations

import pytest

from lastword import Runtime
from lastword.server import ApiToken
from lastword.server.operations import OPERATIONS
from lastword.server.who import PERSON, Keys, page_secret, token_from
from tests.promise.workshop import until
from tests.server.client import SECRET, read_head, served, serving_engine
from tests.server.engines import Doors, echo
from tests.server.hostile import door


@pytest.mark.scenario("W4", part="server")
async def test_no_answer_sets_a_cookie_and_no_cookie_says_who_asks() -> None:
    async with door() as (client, keys):
        opened = await client.post("/v1/keys", {"code": keys.new_link()})
        key = opened.json["key"]
        paths = "/", "/assets/app.js", "/v1/me", "/healthz", "/v1/openapi.json"
        for answer in (opened, *[await client.as_(key).get(path) for path in paths]):
            assert answer.status in {200, 201}
            assert "set-cookie" not in answer.headers
        for cookie in (f"lastword={key}", f"lastword-{client.port}={key}", f"key={SECRET}"):
            assert (await client.get("/v1/me", cookie=cookie)).status == 401


@pytest.mark.scenario("W4", part="server")
def test_a_key_is_ours_unchanged_of_this_port_and_not_too_old() -> None:
    now, secret = [1_000_000.0], b"s" * 32
    keys = Keys([ApiToken(SECRET)], page_secret(secret, 1), clock=lambda: now[0])
    mine = keys.open(keys.new_link())
    assert mine
    assert keys.whose(mine) == PERSON
    assert Keys([], page_secret(secret, 2), clock=lambda: now[0]).whose(mine) is None
    name, until_, mark = mine.split(".")
    for forged in (
        *(f"{name}.{int(until_) + 1}.{mark}", f"admin.{until_}.{mark}", f"{name}.{until_}."),
        *(f"{name}.{until_}.{mark[:-1]}", mine + "=", "", ".", "..", "é" * 50),
        f"token.{token_from(secret, 'one')}",
    ):
        assert keys.whose(forged) is None, forged
    now[0] += 31 * 24 * 3600
    assert keys.whose(mine) is None


@pytest.mark.scenario("W16", part="server")
def test_a_link_that_nobody_opens_runs_out_in_ten_minutes() -> None:
    now = [1_000_000.0]
    keys = Keys([ApiToken(SECRET)], clock=lambda: now[0])
    early, late = keys.new_link(), keys.new_link()
    now[0] += 599
    assert keys.open(early)
    assert not keys.open(early), "and is good once"
    now[0] += 2
    assert not keys.open(late)
    assert not keys.open("never was")


@pytest.mark.scenario("W11", part="server")
async def test_no_link_frame_form_or_picture_reaches_what_programs_ask() -> None:
    shown: list[dict[str, str]] = [
        {"sec-fetch-mode": "navigate", "sec-fetch-dest": dest, "sec-fetch-site": site}
        for site in ("none", "same-origin", "same-site", "cross-site")
        for dest in ("document", "iframe", "frame", "object", "embed")
    ]
    pictures = ("image", "script", "style", "video", "worker", "manifest")
    shown += [{"sec-fetch-mode": "no-cors", "sec-fetch-dest": one} for one in pictures]
    # nobody need say who they are here, so nothing but this keeps a frame out
    async with Runtime(echo) as runtime, served(runtime, tokens=()) as client:
        nobody = client.as_(None)
        for headers in shown:
            for operation in OPERATIONS:
                if operation.open:
                    continue
                path = operation.path.replace("{", "").replace("}", "")
                answer = await nobody.ask(operation.method, path, headers=headers)
                assert (answer.status, answer.problem) == (403, "wrong-origin"), (headers, path)
        typed = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
        assert (await nobody.ask("GET", "/", headers=typed)).status == 200
        assert (await nobody.ask("GET", "/healthz", headers=typed)).status == 200


@pytest.mark.scenario("W11", part="server")
async def test_what_is_only_looked_at_stops_nothing_by_leaving() -> None:
    engine = Doors()
    async with serving_engine(engine) as client:
        await client.send("s", "go")
        await until(lambda: engine.runs)
        for said in ("stop", "continue", "x"):
            answer = await client.get(f"/v1/sessions/s/events?on_disconnect={said}")
            assert (answer.status, answer.problem) == (405, "method-not-allowed")
            assert answer.headers["allow"] == "POST"
        assert engine.runs["go"].current
        reader, writer = await client.open()
        writer.write(client.request("POST", "/v1/sessions/s/events?on_disconnect=stop"))
        assert (await read_head(reader))[0] == 200
        writer.close()
        await until(lambda: not engine.runs["go"].current)
