"""O. The Compose file of several servers: each is told where the others ask it, and they agree."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest

from lastword.cli import serve

ROOT = Path(__file__).parents[2]


def servers() -> dict[str, dict[str, Any]]:
    told = msgspec.yaml.decode((ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8"))
    return {
        name: one for name, one in told["services"].items() if "serve" in one.get("command", ())
    }


@pytest.mark.scenario("O16")
def test_each_server_of_the_compose_file_is_asked_at_its_own_name_and_all_agree() -> None:
    assert len(servers()) == 3
    others = set[str]()
    for name, one in servers().items():
        parser = argparse.ArgumentParser()
        serve.options(parser)
        asked = parser.parse_args(one["command"][1:])
        place = urlsplit(str(asked.place))
        assert (place.hostname, str(place.port)) == (name, asked.port)
        others.add(str(vars(asked) | {"place": ""}))
        assert one["environment"]["LASTWORD_STORE"].startswith("postgresql://")
    assert len(others) == 1
