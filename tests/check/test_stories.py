"""The list of stories, and what is held against a target."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping

import pytest

from lastword.check.catalogue import STORIES
from lastword.check.history import codes, new_offence
from lastword.check.recipes import Recipe, known, recipe
from lastword.check.reports import as_json
from lastword.check.story import KINDS
from lastword.testing.provider import Request
from tests.scenarios import ROOT

CHAT = "/v1/chat/completions"
PLUGGED = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
pytest_plugins = ["lastword.check.plugin"]
"""
JUDGED = """
import pytest

@pytest.mark.stops("tests.check.planted.as_python:hides_threads", only=["tool.thread", "tool.once"])
def test_it_stops(story):
    story.must_be_kept()

FORGETS = "tests.check.planted.as_python:forgets_results"

@pytest.mark.stops(FORGETS, only=["next.history", "shell.tree"])
def test_another(story):
    story.must_be_kept()
"""
pytest_plugins = ["pytester"]


def request(*messages: Mapping[str, object]) -> Request:
    body = {"model": "m", "messages": list(messages)}
    return Request(1, "POST", CHAT, {}, body, "chat", 0.0)


MODULES = """
import importlib, pkgutil, sys
import lastword.check
for one in pkgutil.walk_packages(lastword.check.__path__, "lastword.check."):
    if one.name != "lastword.check.plugin":
        importlib.import_module(one.name)
print(*(name for name in sys.modules if name.partition(".")[0] == "lastword"))
"""
OURS = re.compile(r"lastword(\.check(\..+)?|\.testing(\.provider(\..+)?)?)?")


def test_who_judges_imports_the_scripted_provider_and_nothing_else_of_lastword() -> None:
    words = [sys.executable, "-c", MODULES]
    done = subprocess.run(words, capture_output=True, text=True, check=True)

    assert [name for name in done.stdout.split() if not OURS.fullmatch(name)] == []


def test_the_schema_is_served_beside_the_pages() -> None:
    served = (ROOT / "docs" / "check" / "schema.json").read_text("utf-8")

    assert json.loads(served) == as_json.schema()


def test_an_id_is_there_once_and_says_its_group() -> None:
    ids = [story.id for story in STORIES]

    assert len(set(ids)) == len(ids) == 32
    assert all(re.fullmatch(r"[a-z]+\.[a-z-]+", one) for one in ids)
    assert all(set(story.kinds) <= set(KINDS) for story in STORIES)


@pytest.mark.scenario("K6")
def test_only_what_a_target_did_not_do_before_a_stop_is_held_against_it() -> None:
    user, call = {"role": "user", "content": "go"}, {"name": "f", "arguments": "{}"}
    asked = {"id": "c1", "type": "function", "function": call}
    lost = {"role": "assistant", "content": None, "tool_calls": [asked]}
    blank = {"role": "assistant", "content": ""}
    beginning = codes([request(user, blank, user)])

    assert beginning == {"chat.blank"}
    assert new_offence(request(user, blank, user), beginning) == ""
    assert "[chat.no_result]" in new_offence(request(user, blank, user, lost, user), beginning)


@pytest.mark.parametrize("name", known())
def test_a_recipe_says_with_which_version_it_was_last_tried(name: str) -> None:
    found = recipe(name)

    assert found.name == name
    assert found.command
    assert found.version
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", found.date)


def test_a_recipe_is_old_when_more_than_ninety_days_have_gone_by() -> None:
    tried = Recipe(version="1.2", date="2026-11-18")

    assert tried.old("2027-02-16") == ""
    assert "2026-11-18, with 1.2: more than 90 days ago" in tried.old("2027-02-17")
    assert Recipe().old("2027-02-17") == ""


@pytest.mark.scenario("K11")
def test_pytest_has_a_test_for_each_story(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(PLUGGED)
    pytester.makepyfile(JUDGED)

    done = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:asyncio", "-rs")

    done.assert_outcomes(passed=2, failed=1, skipped=1, warnings=1)
    done.stdout.fnmatch_lines(["*not asked: shell.tree*"])
