"""The reference has everything that there is, and nothing that there is not."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
from collections.abc import Iterable
from pathlib import Path
from typing import cast, get_args

import msgspec
import pytest

import lastword.errors
from lastword import Outcome, Policy, Runtime, Status
from lastword.agent.config import Config, ServerSetting
from lastword.check.asked import Subject
from lastword.check.recipes import Recipe, filled
from lastword.check.story import KINDS
from lastword.core.entries import Entry
from lastword.core.story import FACTS, Fact, kind_of
from lastword.runtime.clock import time_of_day
from lastword.server import Right, ServerLimits, app
from lastword.server.change_wire import AnyChange, Snapshot
from tests.docs.pages import DOCS, Page, named_in_first_cells, names, page, rows
from tests.scenarios import ROOT

SRC = ROOT / "src" / "lastword"
_VARIABLE = re.compile(
    r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+|PATH|LANG|LESS|TERM|PAGER|EDITOR|VISUAL|MANPAGER"
)


def differences(documented: Iterable[str], there: Iterable[str]) -> dict[str, set[str]]:
    """What is not documented, and what is and does not exist."""
    told, known = set(documented), set(there)
    found = {"not documented": known - told, "not there": told - known}
    return {what: names for what, names in found.items() if names}


def test_a_difference_would_be_found_either_way() -> None:
    assert differences(["a", "b"], ["b", "c"]) == {"not documented": {"c"}, "not there": {"a"}}
    assert differences(["a"], ["a"]) == {}


# settings


def settings_on(told: Page) -> dict[str, str]:
    """The settings that a page explains, and the default that it says each has."""
    parts = re.split(r"^#{2,3} (.*)$", told.text, flags=re.MULTILINE)
    defaults = (
        (name, re.search(r"^Default: (.+)$", about, re.MULTILINE))
        for name, about in _two_by_two(parts[1:])
    )
    return {name.strip("`"): found[1] for name, found in defaults if found and name.startswith("`")}


def _two_by_two(parts: list[str]) -> Iterable[tuple[str, str]]:
    return zip(parts[::2], parts[1::2], strict=True)


def test_every_setting_of_a_runtime_is_explained_with_its_default() -> None:
    told = settings_on(page("reference/settings.md"))
    taken = {
        name: parameter.default
        for name, parameter in inspect.signature(Runtime).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    }

    assert differences(told, taken) == {}
    for name, default in taken.items():
        plain = told[name].strip("`")
        if default is time_of_day:
            assert plain == "the system's clock"
        else:
            assert ast.literal_eval(plain) == default, name


def test_a_setting_without_a_default_is_not_taken_for_explained() -> None:
    text = "### `one`\n\nIt has none.\n\n### `two`\n\nIt has.\n\nDefault: `2`\n"

    assert settings_on(Page(DOCS / "a.md", text)) == {"two": "`2`"}


@pytest.mark.parametrize("told", ["reference/settings.md", "how-to/messages.md"])
def test_every_policy_is_explained(told: str) -> None:
    shown = {name.strip('"') for name in named_in_first_cells(page(told).text)}

    assert set(get_args(Policy)) - shown == set()


def test_every_limit_of_a_server_is_explained_with_its_default() -> None:
    told = {names(row[0])[0]: row[1] for row in rows(page("reference/server-limits.md").text)}
    fields = {field.name: field.default for field in dataclasses.fields(ServerLimits)}

    assert differences(told, fields) == {}
    assert {name: ast.literal_eval(told[name]) for name in fields} == fields


def test_everything_that_the_app_takes_is_explained_and_named_in_its_docstring() -> None:
    told = page("how-to/serve.md").section("Mount it in your app")
    parameters = inspect.signature(app).parameters.items()
    taken = {name for name, one in parameters if one.kind is one.KEYWORD_ONLY}

    assert differences(named_in_first_cells(told), taken) == {}
    assert differences(names(app.__doc__ or ""), {*taken, "GET /v1/me"}) == {}


def test_every_key_of_what_a_check_reads_is_explained() -> None:
    told = page("check/targets.md")
    of_recipe, of_target = told.section("An agent for editors"), told.section("Several")

    for text, read in ((of_recipe, Recipe), (of_target, Subject)):
        fields = {field.name for field in dataclasses.fields(read)}
        assert differences(named_in_first_cells(text), fields) == {}
    kinds = next(row[1] for row in rows(of_target) if row[0] == "`kind`")
    assert differences(names(kinds), {*KINDS.values()}) == {}
    filled_in = set(re.findall(r"`\{(\w+)\}`", of_recipe))
    assert differences(filled_in, constants_in(ast.parse(inspect.getsource(filled)))) == {}


def constants_in(tree: ast.AST) -> set[str]:
    """The keys of the dictionaries in some code."""
    keys = (key for one in ast.walk(tree) if isinstance(one, ast.Dict) for key in one.keys)
    return {str(key.value) for key in keys if isinstance(key, ast.Constant)}


def test_every_right_is_explained() -> None:
    told = named_in_first_cells(page("how-to/serve.md").section("Rights"))

    assert differences(told, get_args(Right)) == {}


# files and variables


def test_every_key_of_lastword_toml_is_explained() -> None:
    text = page("reference/configuration.md").section("lastword.toml").partition("### Trust")[0]
    own, _, servers = text.partition("An MCP server has these keys:")
    of_servers = {field.name for field in dataclasses.fields(ServerSetting)} - {"name"}

    assert (
        differences(named_in_first_cells(own), (f.name for f in dataclasses.fields(Config))) == {}
    )
    assert differences(named_in_first_cells(servers), of_servers) == {}


def test_every_key_of_a_file_of_tokens_is_explained() -> None:
    told = named_in_first_cells(page("reference/configuration.md").section("Token files"))
    read = constants_of(SRC / "cli" / "tokens.py", "_KEYS")

    assert differences(told, read) == {}


def constants_of(path: Path, name: str) -> set[str]:
    """The texts in what a module calls by a name."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    [value] = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and any(ast.unparse(one) == name for one in node.targets)
    ]
    return {str(one.value) for one in ast.walk(value) if isinstance(one, ast.Constant)}


def variables_in(source: str) -> set[str]:
    """The variables that a module names which has to do with the environment."""
    tree = ast.parse(source)
    mentioned = {
        getattr(node, "id", None) or getattr(node, "attr", None) or getattr(node, "arg", None)
        for node in ast.walk(tree)
    }
    if not {"environ", "environment"} & mentioned:
        return set()
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    return {text for text in texts if isinstance(text, str) and _VARIABLE.fullmatch(text)}


def test_a_variable_that_is_read_would_be_found() -> None:
    read = 'import os\nx = os.environ.get("LASTWORD_NEW_ONE", "NO")'

    assert variables_in(read) == {"LASTWORD_NEW_ONE"}
    assert variables_in('KIND = "RUN_STARTED"') == set()


def test_every_variable_of_the_environment_is_explained() -> None:
    section = page("reference/configuration.md").section("Environment variables")
    told = {name for name in names(section) if _VARIABLE.fullmatch(name)}
    files = SRC.rglob("*.py")
    there = {one for file in files for one in variables_in(file.read_text(encoding="utf-8"))}

    assert differences(told, there) == {}


# errors, facts, events


def test_every_error_is_explained() -> None:
    told = named_in_first_cells(page("reference/errors.md").text)
    there = {
        name
        for name, one in vars(lastword.errors).items()
        if inspect.isclass(one) and one.__module__ == "lastword.errors"
        if issubclass(one, BaseException)  # and not the ids that are named in one
    }

    assert differences(told, there) == {}
    tree = page("reference/errors.md").blocks[0].text
    assert differences(re.findall(r"[A-Z]\w+", tree.replace("BaseException", "")), there) == {}


def test_every_fact_is_explained_where_it_belongs() -> None:
    told = page("reference/events.md")
    stored = get_args(Entry)

    in_log = named_in_first_cells(told.section("Facts in the log"))
    passing = named_in_first_cells(told.section("Facts that only pass"))
    assert differences(in_log, map(kind, stored)) == {}
    assert differences(passing, (kind(one) for one in FACTS if one not in stored)) == {}


def kind(fact: type) -> str:
    """What events with such a fact are called."""
    return kind_of(cast("Fact", object.__new__(fact)))


def test_every_outcome_and_status_is_explained() -> None:
    told = set(names(page("reference/events.md").section("Outcomes and statuses")))

    assert differences(told, {*map(str, Outcome), *map(str, Status)}) == {}


def test_every_change_and_field_of_the_event_stream_is_explained() -> None:
    stream = page("reference/events.md").section("The event stream")
    changes = {one.__struct_config__.tag for one in get_args(AnyChange)}
    fields = {"kind", *(field.name for field in msgspec.structs.fields(Snapshot))}

    assert differences(named_in_first_cells(stream), changes | fields) == {}
