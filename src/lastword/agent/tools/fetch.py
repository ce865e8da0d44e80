"""One page of the web, as text; on the event loop, so that a stop ends it at once.

A name is resolved once, its addresses are checked, and the connection is made to the address that
was checked: no answer of a name server can lead it into the house. A redirect to another host or
port is not followed but told: whoever allowed this address has not allowed that one. No proxy, no
cookies, no credentials, nothing is sent but the question.
"""

from __future__ import annotations

import asyncio
import codecs
import ipaddress
import ssl
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import SplitResult, quote, urljoin, urlsplit

Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]
_PORTS = {"http": 80, "https": 443}
_MOST_HEADERS = 1 << 16  # bytes
_MOST_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)
_TEXT = ("text/", "application/json", "application/xml", "application/javascript")
_ALSO_TEXT = ("+json", "+xml", "application/x-ndjson", "application/yaml", "application/toml")
_CHARSETS = frozenset(  # that are read in one go; some of Python's take as long as they please
    ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "ascii", "koi8-r", "koi8-u", "gb18030"]
    + ["gbk", "gb2312", "big5", "big5hkscs", "shift_jis", "cp932", "euc_jp", "euc_kr", "cp949"]
    + [f"iso8859-{part}" for part in range(1, 17) if part != 12]
    + [f"cp{page}" for page in (437, 850, 852, 866, 874, *range(1250, 1259))]
    + ["iso2022_jp", "tis-620", "mac-roman", "mac-cyrillic"]
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_ISATAP = (0x5EFE, 0x0200_5EFE)  # the middle of an address that stands for one of version 4
_NOT_PUBLIC = tuple(  # although one or another release of Python, or a registry, has it otherwise
    ipaddress.ip_network(network)
    for network in (
        "192.0.0.0/24",
        "192.88.99.0/24",
        "168.63.129.16/32",  # the last is a cloud's inside
        "64:ff9b:1::/48",
        "3fff::/20",
        "5f00::/16",
    )
)


async def by_the_system(host: str, port: int) -> list[str]:
    """The addresses of a host, as the system knows them."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=1)  # a stream's
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: dict[str, str]
    body: bytes
    cut: bool

    @property
    def kind(self) -> str:
        return self.headers.get("content-type", "text/plain").partition(";")[0].strip().lower()

    @property
    def charset(self) -> str:
        _, _, said = self.headers.get("content-type", "").lower().partition("charset=")
        try:
            charset = codecs.lookup(said.split(";")[0].strip("\"' ")).name
        except (LookupError, ValueError):
            return "utf-8"
        return charset if charset in _CHARSETS else "utf-8"


class Fetch:
    """Fetches pages, from public addresses only unless `private` is true."""

    def __init__(
        self,
        *,
        private: bool = False,
        limit: int = 200_000,
        seconds: float = 20.0,
        resolve: Resolve = by_the_system,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._private = private
        self._limit = limit  # bytes of a page
        self._seconds = seconds
        self._resolve = resolve
        self._tls = tls

    async def fetch(self, url: str) -> str:
        """Get a page by its address, http or https; what it says, if that is text."""
        try:
            async with asyncio.timeout(self._seconds):
                return await self._follow(url)
        except TimeoutError as error:
            raise TimeoutError(f"{url} did not answer within {self._seconds:g} seconds") from error

    async def _follow(self, url: str) -> str:
        here = _checked(url)
        for _ in range(_MOST_REDIRECTS + 1):
            answer = await self._get(here)
            to = answer.headers.get("location")
            if answer.status not in _REDIRECTS or not to:
                return self._told(here.geturl(), answer)
            there = _checked(urljoin(here.geturl(), to))
            if here.scheme == "https" and there.scheme == "http":
                raise PermissionError(f"{url} redirects from https to {there.geturl()}: refused")
            if not _at_home(here, there):
                to = there.geturl()
                return f"[{url} redirects to another host or port: {to}. It was not followed]"
            here = there
        raise ConnectionError(f"{url} redirects more than {_MOST_REDIRECTS} times")

    def _told(self, url: str, answer: _Answer) -> str:
        if answer.headers.get("content-encoding", "identity") != "identity":
            return f"[{url} answered {answer.status}, compressed although asked not to]"
        if not answer.kind.startswith(_TEXT) and not answer.kind.endswith(_ALSO_TEXT):
            return f"[{url} answered {answer.status} with {answer.kind}, which is no text]"
        text = answer.body.decode(answer.charset, errors="replace")
        notes = [] if answer.status == 200 else [f"[{url} answered {answer.status}]"]
        end = [f"[cut after {self._limit:,} bytes]"] if answer.cut else []
        return "\n".join([*notes, text, *end])

    async def _get(self, url: SplitResult) -> _Answer:
        reader, writer = await self._connect(url)
        try:
            writer.write(_question(url))
            await writer.drain()
            return await _read(reader, self._limit)
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError) as error:
            raise ConnectionError(f"{url.geturl()} did not answer as a web server does") from error
        finally:
            writer.transport.abort()  # at once: a polite end of TLS waits for the other side

    async def _connect(self, url: SplitResult) -> tuple[StreamReader, StreamWriter]:
        host, port = url.hostname or "", url.port or _PORTS[url.scheme]
        addresses = await self._resolve(host, port)
        allowed = [a for a in addresses if self._private or is_public(a)]
        if not allowed:
            raise PermissionError(
                f"{host} is at {', '.join(addresses) or 'no address'}; only public addresses may "
                "be asked, so it was not"
            )
        tls = (self._tls or ssl.create_default_context()) if url.scheme == "https" else None
        name = host if tls else None
        failed: OSError | None = None
        for address in allowed:
            try:
                return await asyncio.open_connection(
                    address, port, ssl=tls, server_hostname=name, limit=_MOST_HEADERS
                )
            except OSError as error:
                failed = error
        raise ConnectionError(f"{host} could not be reached: {failed}") from failed


def is_public(address: str) -> bool:
    """Whether it is an address of the public internet, and stands for no other that is not."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo and ip.teredo[1])
        last = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner or ip in _NAT64:
            return is_public(str(inner or last))
        if (int(ip) >> 32 & 0xFFFFFFFF) in _ISATAP and not is_public(str(last)):
            return False
        if int(ip) >> 32 == 0 or ip.is_site_local:
            return False
    if any(ip in network for network in _NOT_PUBLIC):
        return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


def _at_home(here: SplitResult, there: SplitResult) -> bool:
    """Whether it is the same origin; or the same host, and http becomes https as usual."""
    if here.hostname != there.hostname:
        return False
    usual = (here.scheme, there.scheme) == ("http", "https") and not (here.port or there.port)
    return usual or (here.scheme, here.port) == (there.scheme, there.port)


def _checked(url: str) -> SplitResult:
    """An address that can be asked, or an error that says what is wrong with it."""
    if any(c.isspace() or not c.isprintable() for c in url):
        raise ValueError("an address must not hold spaces or control characters")
    try:
        parts = urlsplit(url)
        port = parts.port
        host = (parts.hostname or "").encode("idna").decode()
    except ValueError as error:
        raise ValueError(f"{url!r} is not an address: {error}") from error
    if parts.scheme not in _PORTS:
        raise ValueError(f"only http and https can be fetched, not {parts.scheme or 'nothing'}")
    if not host or parts.username is not None or parts.password is not None:
        raise ValueError(f"an address needs a host, and must not hold a password: {url!r}")
    where = f"[{host}]" if ":" in host else host
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~")
    query = quote(parts.query, safe="/%:@!$&'()*+,;=~?")
    netloc = where if port in (None, _PORTS[parts.scheme]) else f"{where}:{port}"
    return SplitResult(parts.scheme, netloc, path, query, "")


def _question(url: SplitResult) -> bytes:
    target = f"{url.path}?{url.query}" if url.query else url.path
    lines = [f"GET {target} HTTP/1.1", f"Host: {url.netloc}", "User-Agent: lastword", "Accept: */*"]
    return "\r\n".join([*lines, "Accept-Encoding: identity", "Connection: close", "", ""]).encode()


async def _read(reader: StreamReader, limit: int) -> _Answer:
    status = 100
    headers: dict[str, str] = {}
    while 100 <= status < 200:  # what is told before the answer
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        version, code, *_ = head[0].split(" ", 2)
        if not version.startswith("HTTP/1."):
            raise ValueError(version)
        status = int(code)
        pairs = (line.partition(":") for line in head[1:] if line)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    if status in (204, 304, *_REDIRECTS):
        return _Answer(status, headers, b"", cut=False)
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body = await _chunks(reader, limit + 1)
    elif (length := headers.get("content-length")) is not None:
        body = await reader.readexactly(min(max(int(length), 0), limit + 1))
    else:
        body = await _to_the_end(reader, limit + 1)
    return _Answer(status, headers, body[:limit], cut=len(body) > limit)


async def _chunks(reader: StreamReader, limit: int) -> bytes:
    body = bytearray()
    while len(body) < limit:
        size = int((await reader.readline()).split(b";")[0], 16)
        if size <= 0:
            break
        body += await reader.readexactly(min(size, limit - len(body)))
        if len(body) < limit:
            await reader.readexactly(2)
    return bytes(body)


async def _to_the_end(reader: StreamReader, limit: int) -> bytes:
    body = bytearray()
    while len(body) < limit and (data := await reader.read(limit - len(body))):
        body += data
    return bytes(body)
