"""nginx and Caddy on loopback, each with its file of `deploy/`, in front of a server."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.scenarios import ROOT
from tests.server.client import Client

DEPLOY = ROOT / "deploy"
NAME = "lastword.example.com"


@dataclass
class SecureClient(Client):
    """Asks over TLS; it believes one certificate."""

    trusted: Path | None = None

    def as_(self, token: str | None) -> SecureClient:
        return SecureClient(self.port, token, self.headers, self.trusted)

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        context = ssl.create_default_context(cafile=self.trusted)
        return await asyncio.open_connection(
            "127.0.0.1", self.port, limit=1 << 24, ssl=context, server_hostname=NAME
        )


def installed(program: str) -> str:
    """Where it is; without it, the test cannot be."""
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    found = shutil.which(program, path=path)
    if found is None:
        pytest.skip(f"{program} is not installed")
    return found


def certificate(folder: Path) -> tuple[Path, Path]:
    """One that its key has signed itself."""
    made, key = folder / "fullchain.pem", folder / "privkey.pem"
    command = [
        *(installed("openssl"), "req", "-x509", "-nodes", "-days", "2", "-subj", f"/CN={NAME}"),
        *("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"),
        *("-addext", f"subjectAltName=DNS:{NAME}", "-keyout", str(key), "-out", str(made)),
    ]
    subprocess.run(command, check=True, capture_output=True)
    return made, key


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def changed(text: str, *changes: tuple[str, str]) -> str:
    """A file with what has to differ here: each is found in it, and once."""
    for old, new in changes:
        text, many = re.subn(old, new.replace("\\", r"\\"), text, flags=re.MULTILINE)
        assert many == 1, f"{old!r} is there {many} times"
    return text


def nginx_file(folder: Path, port: int, upstream: int) -> Path:
    """A whole configuration, with the file of `deploy/` in it."""
    made, key = certificate(folder)
    site = changed(
        (DEPLOY / "nginx.conf").read_text(encoding="utf-8"),
        (r"server 127\.0\.0\.1:8420;", f"server 127.0.0.1:{upstream};"),
        (r"listen 80;", f"listen 127.0.0.1:{free_port()};"),
        (r"listen 443 ssl http2;", f"listen 127.0.0.1:{port} ssl http2;"),
        (r"/etc/ssl/lastword/fullchain\.pem", str(made)),
        (r"/etc/ssl/lastword/privkey\.pem", str(key)),
        (r"/var/log/nginx/lastword\.log", str(folder / "access.log")),
    )
    return whole_nginx(folder, site)


def whole_nginx(folder: Path, site: str) -> Path:
    """A configuration that a site stands in, with everything in a folder."""
    (folder / "site.conf").write_text(site, encoding="utf-8")
    places = "".join(
        f"{what}_temp_path {folder / what};\n"
        for what in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;\n" if os.geteuid() == 0 else ""
    whole = folder / "nginx.conf"
    whole.write_text(
        f"{user}daemon off;\npid {folder / 'pid'};\nerror_log {folder / 'error.log'};\n"
        f"events {{}}\nhttp {{\n{places}include {folder / 'site.conf'};\n}}\n",
        encoding="utf-8",
    )
    return whole


def caddy_file(folder: Path, port: int, upstream: int) -> Path:
    """The file of `deploy/`, on loopback, with a certificate that is here."""
    made, key = certificate(folder)
    site = changed(
        (DEPLOY / "Caddyfile").read_text(encoding="utf-8"),
        (
            rf"^{re.escape(NAME)} {{$",
            f"https://{NAME}:{port} {{\n\tbind 127.0.0.1\n\ttls {made} {key}",
        ),
        (r"reverse_proxy 127\.0\.0\.1:8420", f"reverse_proxy 127.0.0.1:{upstream}"),
        (r"/var/log/caddy/lastword\.log", str(folder / "access.log")),
    )
    whole = folder / "Caddyfile"
    alone = f"{{\n\tadmin off\n\tauto_https disable_redirects\n\tstorage file_system {folder}\n}}\n"
    whole.write_text(alone + site, encoding="utf-8")
    return whole


@asynccontextmanager
async def in_front(proxy: str, folder: Path, client: Client) -> AsyncGenerator[SecureClient]:
    """The proxy, in front of the server that a client asks; and a client that asks the proxy."""
    program, port = installed(proxy), free_port()
    make = nginx_file if proxy == "nginx" else caddy_file
    file = str(make(folder, port, client.port))
    command = {
        "nginx": [program, "-p", str(folder), "-e", str(folder / "error.log"), "-c", file],
        "caddy": [program, "run", "--config", file, "--adapter", "caddyfile"],
    }[proxy]
    with (folder / "said").open("wb") as said:
        process = await asyncio.create_subprocess_exec(
            *command, stdout=said, stderr=said, env=os.environ | {"HOME": str(folder)}
        )
    secure = SecureClient(port, client.token, {"host": f"{NAME}:{port}"}, folder / "fullchain.pem")
    try:
        while True:
            assert process.returncode is None, (folder / "said").read_text()
            with suppress(OSError):
                _, writer = await secure.open()
                writer.close()
                break
            await asyncio.sleep(0.02)  # the tool's own: nobody tells when it listens
        yield secure
    finally:
        process.terminate()
        await process.wait()
