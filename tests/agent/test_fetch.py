"""Pages of the web: from where one may ask, in bounded time and size, and ended by a stop."""

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from lastword import Run, Runtime, Status
from lastword.agent.tools.fetch import Fetch, is_public
from tests.promise.workshop import until

Handler = Callable[[str, asyncio.StreamWriter], Awaitable[None]]


class Server:
    """A web server on the loopback; what it was asked, and by how many it is held."""

    def __init__(self, answers: dict[str, bytes]) -> None:
        self.answers = answers
        self.asked: list[str] = []
        self.gone = 0
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        path = head.split(" ")[1]
        self.asked.append(head)
        writer.write(self.answers[path])
        if path.startswith("/slow"):
            with suppress(ConnectionError):
                await reader.read()  # until the other side leaves
        self.gone += 1
        writer.close()


@asynccontextmanager
async def serving(
    answers: dict[str, bytes], tls: ssl.SSLContext | None = None
) -> AsyncGenerator[Server]:
    server = Server(answers)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=tls)
    server.port = listening.sockets[0].getsockname()[1]
    async with listening:
        yield server


def page(body: bytes, *headers: str, status: str = "200 OK", kind: str = "text/plain") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", *headers]
    if not any("ransfer" in line for line in headers):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def moved(to: str) -> bytes:
    return f"HTTP/1.1 302 Found\r\nLocation: {to}\r\n\r\n".encode()


async def test_a_page_is_given_as_text_however_it_is_sent() -> None:
    answers = {
        "/plain?q=1": page("grüße".encode()),
        "/latin": page(b"caf\xe9", kind="text/html; charset=ISO-8859-1"),
        "/odd": page(b"odd \xff", kind="text/plain; charset=klingon"),
        "/chunks": page(b"3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\n\r\n", "Transfer-Encoding: chunked"),
        "/old": b"HTTP/1.0 200 OK\r\n\r\nto the end",
        "/early": b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + page(b"after the hints"),
        "/none": page(b"no such page", status="404 Not Found"),
    }
    async with serving(answers) as server:
        fetch = Fetch(private=True).fetch

        assert await fetch(f"{server.url}/plain?q=1#part") == "grüße"
        assert await fetch(f"{server.url}/latin") == "café"
        assert await fetch(f"{server.url}/odd") == "odd \ufffd"
        assert await fetch(f"{server.url}/chunks") == "abcdefg"
        assert await fetch(f"{server.url}/old") == "to the end"
        assert await fetch(f"{server.url}/early") == "after the hints"
        assert await fetch(f"{server.url}/none") == (
            f"[{server.url}/none answered 404]\nno such page"
        )
        assert f"Host: 127.0.0.1:{server.port}\r\n" in server.asked[0]


@pytest.mark.parametrize("path", ["/length", "/chunks", "/end"])
async def test_a_long_page_is_cut_and_says_so(path: str) -> None:
    answers = {
        "/length": page(b"x" * 5000),
        "/chunks": page(b"2000\r\n" + b"x" * 0x2000, "Transfer-Encoding: chunked"),
        "/end": b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 5000,
    }
    async with serving(answers) as server:
        text = await Fetch(private=True, limit=1000).fetch(server.url + path)

    assert text == "x" * 1000 + "\n[cut after 1,000 bytes]"


async def test_what_is_no_text_is_not_given() -> None:
    answers = {
        "/picture": page(b"\x89PNG", kind="image/png"),
        "/gzip": page(b"\x1f\x8b", "Content-Encoding: gzip"),
        "/json": page(b"{}", kind="application/problem+json"),
    }
    async with serving(answers) as server:
        fetch = Fetch(private=True).fetch

        assert "with image/png, which is no text" in await fetch(f"{server.url}/picture")
        assert "compressed although asked not to" in await fetch(f"{server.url}/gzip")
        assert await fetch(f"{server.url}/json") == "{}"


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("file:///etc/passwd", "only http and https can be fetched, not file"),
        ("example.org", "only http and https"),
        ("http://", "needs a host"),
        ("http://me:secret@example.org/", "must not hold a password"),
        ("http://example.org/\r\nX-Evil: 1", "control characters"),
        ("http://example.org:99999/", "is not an address"),
    ],
)
async def test_an_address_that_cannot_be_asked_is_refused(url: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        await Fetch().fetch(url)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]"])
async def test_the_loopback_is_not_asked_unless_allowed(host: str) -> None:
    async with serving({"/": page(b"secret")}) as server:
        with pytest.raises(PermissionError, match="only public addresses may be asked"):
            await Fetch().fetch(f"http://{host}:{server.port}/")
        assert server.asked == []


async def test_a_public_name_for_a_private_address_is_no_way_in() -> None:
    asked: list[str] = []

    async def resolve(host: str, port: int) -> list[str]:
        asked.append(host)  # a name server that says another thing each time
        return ["127.0.0.1"] if len(asked) % 2 else ["93.184.216.34"]

    async with serving({"/": page(b"secret")}) as server:
        with pytest.raises(PermissionError, match=r"rebind\.example is at 127\.0\.0\.1"):
            await Fetch(resolve=resolve).fetch(f"http://rebind.example:{server.port}/")
        assert asked == ["rebind.example"]  # once: what was checked is what is connected to
        assert server.asked == []


@pytest.mark.parametrize(
    "charset", ["punycode", "idna", "unicode_escape", "utf-7", "base64", "undefined", "no\0ne"]
)
async def test_a_charset_that_takes_long_or_is_none_is_not_used(charset: str) -> None:
    body = rb"maana-pta \x41 +AGE- QUJD"
    answers = {"/": page(body, kind=f"text/plain; charset={charset}")}
    async with serving(answers) as server:
        assert await Fetch(private=True).fetch(f"{server.url}/") == body.decode()


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("10.0.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),  # noqa: S104 - it is not bound to
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("::", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("fc00::1", False),
        ("fec0::1", False),
        ("ff02::1", False),
        ("::ffff:10.0.0.1", False),
        ("::ffff:93.184.216.34", True),
        ("::7f00:1", False),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
        ("192.0.0.192", False),
        ("168.63.129.16", False),
        ("3fff::1", False),
        ("5f00::1", False),
        ("64:ff9b:1::7f00:1", False),
        ("2a00::5efe:7f00:1", False),
        ("2a00::200:5efe:a00:1", False),
        ("2a00::5efe:5db8:d822", True),
        ("fc00::5efe:5db8:d822", False),
        ("not an address", False),
    ],
)
def test_only_addresses_of_the_internet_are_public(address: str, public: bool) -> None:
    assert is_public(address) is public


async def test_redirects_are_followed_at_home_told_elsewhere_and_never_to_other_schemes() -> None:
    async with serving({}) as server, serving({"/x": page(b"inner")}) as inner:
        server.answers |= {
            "/a": moved("/b"),
            "/b": moved(f"{server.url}/c"),
            "/c": page(b"here"),
            "/away": moved("http://elsewhere.example/x"),
            "/port": moved(f"{inner.url}/x"),
            "/file": moved("file:///etc/passwd"),
            "/round": moved("/round"),
        }
        fetch = Fetch(private=True).fetch

        assert await fetch(f"{server.url}/a") == "here"
        assert "another host or port: http://elsewhere.example/x. It was not" in await fetch(
            f"{server.url}/away"
        )
        assert f"port: {inner.url}/x. It was not" in await fetch(f"{server.url}/port")
        assert inner.asked == []
        with pytest.raises(ValueError, match="only http and https can be fetched, not file"):
            await fetch(f"{server.url}/file")
        with pytest.raises(ConnectionError, match="more than 5 times"):
            await fetch(f"{server.url}/round")


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"x" * 99999,
    ],
    ids=["nothing", "another protocol", "no number", "endless headers"],
)
async def test_an_answer_that_is_none_is_an_error_that_says_so(answer: bytes) -> None:
    async with serving({"/": answer}) as server:
        with pytest.raises(ConnectionError, match="did not answer as a web server does"):
            await Fetch(private=True).fetch(f"{server.url}/")


async def test_a_server_that_never_ends_is_left_in_time() -> None:
    async with serving({"/slow": page(b"x", "X-Transfer: never")}) as server:
        with pytest.raises(TimeoutError, match=r"did not answer within 0\.1 seconds"):
            await Fetch(private=True, seconds=0.1).fetch(f"{server.url}/slow")
        await until(lambda: server.gone)


async def test_a_stop_ends_it_at_once() -> None:
    async with serving({"/slow": b"HTTP/1.1 200 OK\r\n\r\nsome"}) as server:

        async def engine(run: Run) -> None:
            await run.call(Fetch(private=True).fetch, f"{server.url}/slow")

        async with Runtime(engine) as r:
            session = r.session("s")
            await session.send("go")
            await until(lambda: server.asked)
            receipt = await session.stop()

            assert receipt.quiet
            assert [call.status for call in receipt.calls] == [Status.MAY_HAVE_EXECUTED]
            await until(lambda: server.gone)


async def test_https_is_checked_by_name_although_the_address_is_connected_to(
    tmp_path: Path,
) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("nothing here makes certificates")
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    made = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    made += ["-nodes", "-keyout", str(key), "-out", str(cert), "-subj", "/CN=right.example"]
    made += ["-addext", "subjectAltName=DNS:right.example"]
    await asyncio.to_thread(subprocess.run, made, check=True, capture_output=True)
    theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    theirs.load_cert_chain(cert, key)
    ours = ssl.create_default_context(cafile=str(cert))

    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    async with serving({"/": page(b"safe"), "/down": moved("http://right.example/")}, theirs) as s:
        fetch = Fetch(private=True, resolve=resolve, tls=ours).fetch

        assert await fetch(f"https://right.example:{s.port}/") == "safe"
        with pytest.raises(ConnectionError, match="certificate verify failed"):
            await fetch(f"https://wrong.example:{s.port}/")
        with pytest.raises(PermissionError, match="redirects from https"):
            await fetch(f"https://right.example:{s.port}/down")
