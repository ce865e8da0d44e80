"""Signing in on the page, in Chromium: by a link or a token, in every tab, on this port only."""

from __future__ import annotations

import re
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.server.browser import SOON, Server, picture, started

TOKEN = "the token of bob, long enough"  # noqa: S105 - of a server that lives for a test


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    folder = tmp_path_factory.mktemp("signing-in")
    tokens = folder / "tokens.toml"
    tokens.write_text(f'[bob]\ntoken = "{TOKEN}"\nrights = ["read", "send", "stop"]\n')
    tokens.chmod(0o600)
    with started(folder, "--tokens", str(tokens)) as served:
        yield served


@pytest.fixture
def context(browser: Browser) -> Generator[BrowserContext]:
    opened = browser.new_context()
    opened.set_default_timeout(SOON)
    yield opened
    opened.close()


def signed_in(page: Page) -> None:
    expect(page.locator("lw-head .state")).to_have_text(re.compile("idle|quiet"))
    expect(page.locator(".banner.out")).to_have_count(0)


@pytest.mark.scenario("W4", part="server")
def test_a_link_signs_in_once_and_a_reload_and_another_tab_stay_signed_in(
    server: Server, context: BrowserContext, browser: Browser
) -> None:
    link = server.new_link()
    page = context.new_page()
    page.goto(link)
    signed_in(page)
    assert "key=" not in page.url, "what is used is nobody's to see"
    assert context.cookies() == []
    page.reload()
    signed_in(page)
    tab = context.new_page()
    tab.goto(server.url)
    signed_in(tab)
    tab.locator("lw-composer textarea").fill("count to 3")
    tab.locator("lw-composer textarea").press("Enter")
    expect(tab.locator(".it .text").first).to_contain_text("1 2 3")

    other = browser.new_context()
    used = other.new_page()
    used.goto(link)
    expect(used.locator(".banner.out")).to_be_visible()
    expect(used.locator(".signin")).to_contain_text("used")
    used.goto("about:blank")
    used.goto(server.url)
    expect(used.locator(".banner.out")).to_be_visible()
    used.goto(server.new_link())  # only its fragment is another
    signed_in(used)
    other.close()


@pytest.mark.scenario("W4", part="server")
def test_a_token_signs_in_its_own_person(server: Server, context: BrowserContext) -> None:
    page = context.new_page()
    page.goto(server.url)
    page.get_by_label("Token").fill("a token of nobody's")
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator(".signin")).to_contain_text("Nobody is known by that token.")
    tab = context.new_page()
    tab.goto(server.url)
    expect(tab.locator(".banner.out")).to_be_visible()
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_label("Token").press("Enter")
    for one in (page, tab):  # who signs in in one tab has signed in in all
        signed_in(one)
    name = page.evaluate(
        """async () => {
          const { call } = await import("./assets/wire.js");
          return (await call("GET", "v1/me")).name;
        }"""
    )
    assert name == "bob"


@pytest.mark.scenario("W4", part="server")
def test_another_server_of_the_same_machine_is_given_nothing(
    server: Server, context: BrowserContext
) -> None:
    given: list[tuple[str | None, str | None]] = []

    class Nosy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            given.append((self.headers["cookie"], self.headers["authorization"]))
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><p>hello</p>")

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    nosy = ThreadingHTTPServer(("127.0.0.1", 0), Nosy)
    thread = Thread(target=nosy.serve_forever, daemon=True)
    thread.start()
    try:
        page = context.new_page()
        page.goto(server.new_link())
        signed_in(page)
        page.goto(f"http://127.0.0.1:{nosy.server_port}/")
        assert given
        assert set(given) == {(None, None)}
        assert page.evaluate("JSON.stringify(localStorage)") == "{}"
        frame = f"http://127.0.0.1:{urlsplit(server.url).port}/v1/me"
        page.evaluate(
            """address => new Promise((loaded) => {
              const frame = document.createElement("iframe");
              frame.src = address;
              frame.addEventListener("load", loaded);
              document.body.append(frame);
            })""",
            frame,
        )
    finally:
        nosy.shutdown()
        nosy.server_close()
        thread.join()


def test_the_streams_of_the_page_cut_events_wherever_their_pieces_end(
    server: Server, context: BrowserContext
) -> None:
    page = context.new_page()
    page.goto(server.new_link())
    signed_in(page)
    told = page.evaluate(
        """async () => {
          const { Stream } = await import("./assets/wire.js");
          const frames = ['id: a-1\\ndata: {"text": "é ☃"}', ":", "id: a-2\\ndata: {}", ""];
          const whole = ["retry: 1000", ...frames].join("\\n\\n");
          const bytes = new TextEncoder().encode(whole);
          const asked = [];
          const found = [];
          let size = 1;
          const real = window.fetch;
          window.fetch = async (path, options) => {
            const { headers } = options;
            if (!path.includes("/cut-up/")) return real(path, options);  // the page's own
            asked.push(headers["Last-Event-ID"] ?? "");
            const step = size++;
            const pieces = [];
            for (let at = 0; at < bytes.length; at += step) pieces.push(bytes.slice(at, at + step));
            return new Response(new ReadableStream({
              start(to) { for (const piece of pieces) to.enqueue(piece); to.close(); },
            }));
          };
          await new Promise((done) => {
            const stream = new Stream("cut-up", {
              event: (event) => found.push(event),
              link: (link) => {
                if (link !== "reconnecting") return;
                if (size > 12) { stream.close(); done(); } else setTimeout(() => stream.hurry());
              },
              problem: () => done(),
            });
          });
          window.fetch = real;
          return { asked, found };
        }"""
    )
    assert told["found"] == [{"text": "é ☃"}, {}] * 12
    assert told["asked"] == ["", *["a-2"] * 11]


@pytest.mark.parametrize("width", [1280, 390])
def test_all_of_the_form_to_sign_in_is_on_the_screen_and_in_line_with_what_it_says(
    server: Server, context: BrowserContext, width: int
) -> None:
    page = context.new_page()
    page.goto(server.url)
    page.set_viewport_size({"width": width, "height": 860})
    button, token = page.get_by_role("button", name="Sign in"), page.get_by_label("Token")
    expect(token).to_be_visible()
    box, field = button.bounding_box(), token.bounding_box()
    words = page.locator(".banner b").bounding_box()
    assert box
    assert field
    assert words
    assert box["x"] + box["width"] <= width
    assert field["x"] == words["x"]
    picture(page, "signed-out")


@pytest.mark.scenario("W49", part="server")
def test_who_is_signed_out_is_offered_nobody_to_speak_to_and_keeps_what_they_wrote(
    server: Server, context: BrowserContext
) -> None:
    page, box = context.new_page(), "lw-composer textarea"
    page.goto(server.url)
    expect(page.locator(".banner.out")).to_be_visible()
    expect(page.locator("lw-composer")).to_be_hidden()
    expect(page.locator(".welcome")).to_contain_text("Sign in above")
    page.goto(server.new_link())
    signed_in(page)
    page.goto(f"{server.url}#/s/signed-out")
    page.locator(box).fill("what I wrote")
    page.evaluate("import('./assets/key.js').then(({ keep }) => keep('a key that has run out'))")
    page.locator(box).press("Enter")
    expect(page.locator(".banner.out")).to_be_visible()
    expect(page.locator("lw-composer")).to_be_hidden()
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_label("Token").press("Enter")
    signed_in(page)
    expect(page.locator(box)).to_have_value("what I wrote")


@pytest.mark.scenario("W49", part="server")
@pytest.mark.parametrize("phone", [True, False])
def test_a_phone_is_told_of_the_button_that_stops_and_not_of_a_key(
    server: Server, browser: Browser, phone: bool
) -> None:
    size = {"width": 390, "height": 800} if phone else {"width": 1280, "height": 800}
    context = browser.new_context(viewport=size, has_touch=phone, is_mobile=phone)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(server.new_link())
    signed_in(page)
    page.goto(f"{server.url}#/s/nothing-yet")
    expect(page.locator(".welcome")).to_be_visible()
    told = page.locator("body").inner_text()
    assert ("Tap Stop at any moment" in told) is phone
    assert ("Esc" in told) is not phone
    picture(page, "phone" if phone else "desk")
    context.close()
