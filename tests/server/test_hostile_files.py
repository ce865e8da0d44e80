"""Where a server's keys are kept, on a machine that has other people; and whom a key is sent to."""

from __future__ import annotations

import argparse
import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from lastword.cli import remote, running, secret
from lastword.cli.tokens import tokens_in
from lastword.server.who import ApiToken, Keys, token_from


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the secret is kept."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "lastword" / "server.key"


def test_a_secret_is_made_once_and_for_its_person_alone(place: Path) -> None:
    made: list[bytes] = []
    together = [threading.Thread(target=lambda: made.append(secret.ours())) for _ in range(8)]
    for one in together:
        one.start()
    for one in together:
        one.join()

    assert set(made) == {secret.ours()}
    assert len(made) == 8
    assert place.stat().st_mode & 0o777 == 0o600
    assert place.parent.stat().st_mode & 0o777 == 0o700
    assert os.listdir(place.parent) == ["server.key"]  # noqa: PTH208 - names


def test_a_secret_that_somebody_else_may_know_is_none(place: Path, tmp_path: Path) -> None:
    secret.ours()
    place.chmod(0o640)
    with pytest.raises(OSError, match="others can read it"):
        secret.ours()

    elsewhere = tmp_path / "known to somebody"
    elsewhere.write_bytes(b"x" * 32)
    elsewhere.chmod(0o600)
    place.unlink()
    place.symlink_to(elsewhere)
    with pytest.raises(OSError, match=r"server\.key"):
        secret.ours()

    place.unlink()
    place.symlink_to(tmp_path / "not there yet")
    with pytest.raises(OSError, match=r"server\.key"):
        secret.ours()
    assert not (tmp_path / "not there yet").exists()

    place.unlink()
    os.mkfifo(place, 0o600)
    with pytest.raises(OSError, match="not a secret"):
        secret.ours()

    if os.geteuid() == 0:
        place.unlink()
        secret.ours()
        os.chown(place, 12345, -1)
        with pytest.raises(OSError, match="belongs to somebody"):
            secret.ours()


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ("[a]\ntoken = 'short'", "too short"),
        ("[a]\ntoken = 'long enough, but é'", "plain ASCII"),
        ("[a]\ntoken = 'long enough, or not'\nrights = [['read']]", "which there is not"),
        ("[a]\ntoken = 'long enough, or not'\nrights = ['everything', 1]", "which there is not"),
        ("[a]\ntoken = 'long enough, or not'\nrights = 'read'", "a list"),
        ("[a]\ntoken = 'long enough, or not'\nprincipal = 1", "a text"),
        ("['a/b']\ntoken = 'long enough, or not'", "letters"),
        ("[a]\ntoken = 'long enough, or not'\nprincipal = 'a#1'", "letters"),
        ("[a]\ntoken = 'the same for both'\n[b]\ntoken = 'the same for both'", "the same token"),
        ("a = 1", "not a table"),
        ("[a", "Expected"),
    ],
)
def test_a_file_of_tokens_that_is_wrong_is_refused_without_quoting_a_token(
    told: str, why: str, tmp_path: Path
) -> None:
    path = tmp_path / "tokens.toml"
    path.write_text(told)
    path.chmod(0o600)
    with pytest.raises(ValueError, match=why) as refused:
        tokens_in(path)
    assert "enough" not in str(refused.value)
    assert "same for both" not in str(refused.value)
    path.chmod(0o644)
    with pytest.raises(ValueError, match="chmod 600"):
        tokens_in(path)


def test_a_file_of_tokens_may_begin_as_editors_have_it_and_says_which_line_is_not_text(
    tmp_path: Path,
) -> None:
    path = tmp_path / "tokens.toml"
    path.touch(0o600)
    path.write_bytes(b"\xef\xbb\xbf[a]\ntoken = 'long enough, or not'\n")
    assert [token.name for token in tokens_in(path)] == ["a"]

    path.write_bytes(b"[a]\ntoken = 'long enough, \xe9 or not'\n")
    with pytest.raises(ValueError, match="line 2 is not UTF-8"):
        tokens_in(path)


def test_a_file_of_tokens_that_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "tokens.toml"
    os.mkfifo(path, 0o600)
    with pytest.raises(ValueError, match="no regular file"):
        tokens_in(path)


def test_a_token_keeps_its_rights_however_they_were_told() -> None:
    token = ApiToken("long enough, or not", "a", (right for right in ("read", "send")))
    assert token.who.rights == token.who.rights == {"read", "send"}
    assert "long enough" not in repr(token)


class _Listener(BaseHTTPRequestHandler):
    """Somebody who listens where a server is thought to be."""

    heard: list[str]
    elsewhere = ""

    def do_POST(self) -> None:
        self.heard.append(self.headers.get("authorization", ""))
        self.send_response(307 if self.elsewhere else 404)
        if self.elsewhere:
            self.send_header("location", self.elsewhere)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        self.do_POST()

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def listening(elsewhere: str = "") -> Generator[tuple[int, list[str]]]:
    heard: list[str] = []
    kind = type("Kind", (_Listener,), {"heard": heard, "elsewhere": elsewhere})
    with HTTPServer(("127.0.0.1", 0), kind) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_port, heard
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.scenario("W4", part="server")
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_who_listens_in_a_servers_place_is_sent_nothing(
    place: Path, host: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with listening() as (port, heard):
        for asking in (remote.stop, remote.link):
            url = f"http://{host}:{port}"
            asked = argparse.Namespace(session="s", url=url, run=None, token=None)
            assert asking(asked) == 1
        assert remote.token(argparse.Namespace(url=url)) == 1
    assert heard == []
    assert capsys.readouterr().err.count("no server of yours runs at") == 3
    assert not place.exists(), "not even a secret was made for it"


@pytest.mark.scenario("W4", part="server")
def test_a_token_goes_to_the_server_itself_and_is_of_no_use_after_its_end(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = secret.ours()
    with (
        listening() as (other, strays),
        listening(f"http://127.0.0.1:{other}/v1/sessions/s/stop") as (port, heard),
    ):
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{other}")
        with running.told(f"http://127.0.0.1:{port}", "this start"):
            for host in ("127.0.0.1", "localhost"):
                url = f"http://{host}:{port}"
                asked = argparse.Namespace(session="s", url=url, run=None, token=None)
                assert remote.stop(asked) == 1
    assert strays == [], "neither where a redirect leads nor to a proxy"
    assert set(heard) == {f"Bearer {token_from(key, 'this start')}"}
    token = heard[0].removeprefix("Bearer ")
    assert Keys([ApiToken(token_from(key, "this start"))]).whose(token)
    assert Keys([ApiToken(token_from(key, "the next"))], key).whose(token) is None
    assert place.exists()
