"""E41, E45. The CLI of the Claude Agent SDK: what it is given, and what becomes of that."""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import claude_agent_sdk
import pytest
from claude_agent_sdk import ClaudeAgentOptions
from claude_agent_sdk._internal.transport import subprocess_cli

from lastword import FeedEvent, Outcome, Runtime, Status
from lastword.core.entries import Result
from lastword.engines.claude import ClaudeAgent, seams
from lastword.engines.claude.environment import for_cli
from lastword.engines.claude.home import CliHome
from lastword.engines.kit import FrameworkMoved
from tests.promise.stories import check_log
from tests.scenarios import ROOT


def homes(place: Path) -> list[Path]:
    return [*place.iterdir()]


@pytest.mark.scenario("E45")
def test_the_cli_is_given_what_it_needs_and_what_the_options_say() -> None:
    inherited = {
        "PATH": "/bin",
        "https_proxy": "http://proxy",
        "ANTHROPIC_API_KEY": "k",
        "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "100",
        "CLAUDECODE": "1",
        "CLAUDE_CODE_SESSION_ID": "another's",
        "CLAUDE_CODE_MESSAGING_TOKEN": "another's",
        "OPENAI_API_KEY": "another's",
        "AWS_SECRET_ACCESS_KEY": "another's",
        "LASTWORD_TOKEN": "lastword's",
        "DATABASE_URL": "the team's",
    }
    options = ClaudeAgentOptions(env={"DISABLE_TELEMETRY": "0", "CLAUDE_CONFIG_DIR": "/theirs"})

    given = for_cli(inherited, options, "/home", "/work")
    with_bedrock = {**inherited, "CLAUDE_CODE_USE_BEDROCK": "1"}

    kept = ["PATH", "https_proxy", "ANTHROPIC_API_KEY", "CLAUDE_CODE_MAX_OUTPUT_TOKENS"]
    assert [name for name in inherited if name in given] == kept
    assert given["DISABLE_TELEMETRY"] == "0"
    assert given["CLAUDE_CONFIG_DIR"] == given["CLAUDE_CODE_TMPDIR"] == "/home"
    assert given["CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"] == "1"
    assert "AWS_SECRET_ACCESS_KEY" in for_cli(with_bedrock, options, "/home", "/work")


@pytest.mark.scenario("E45")
def test_a_name_that_the_sdk_has_moved_is_a_clear_error_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def build(self: Any, more: str) -> list[str]:
        return []

    monkeypatch.setattr(subprocess_cli.SubprocessCLITransport, "_build_command", build)
    monkeypatch.delattr(claude_agent_sdk, "project_key_for_directory")
    seams.look.cache_clear()
    with pytest.raises(FrameworkMoved) as failed:
        ClaudeAgent(ClaudeAgentOptions())
    monkeypatch.undo()
    seams.look.cache_clear()
    ClaudeAgent(ClaudeAgentOptions())

    said = str(failed.value)
    assert "_build_command takes self, more and not self" in said
    assert "there is no project_key_for_directory" in said
    assert "is of another make than claude-agent-sdk 0.2.184, mcp 2.3.0" in said


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"resume": "x"}, "the options say resume: the session's log is the conversation"),
        ({"continue_conversation": True}, "the options say continue_conversation"),
        ({"user": "nobody"}, "the CLI of another user could not be ended"),
    ],
)
def test_options_that_would_take_it_out_of_the_run_s_hands_are_refused(
    given: dict[str, Any], why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        ClaudeAgent(ClaudeAgentOptions(**given))


async def test_a_cli_that_is_not_there_is_told_in_a_line_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    engine = ClaudeAgent(ClaudeAgentOptions(cli_path="/nowhere/claude"))
    async with Runtime(engine) as r:
        ticket = await r.session("s").send("hello")
        assert await ticket.outcome() == Outcome.FAILED

    assert "the Claude CLI could not be started" in ticket.error
    assert "\n" not in ticket.error
    assert homes(tmp_path) == []


@pytest.mark.scenario("E42")
@pytest.mark.parametrize("how", ["done", "failed"])
async def test_a_cli_that_makes_calls_without_asking_is_ended_and_they_may_have_executed(
    how: str, tmp_path: Path
) -> None:
    program = tmp_path / "claude"
    told = " --failed" if how == "failed" else ""
    source = ROOT / "tests" / "engines" / "claude_not_asking.py"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} {source}{told}\n")
    program.chmod(0o700)
    engine = ClaudeAgent(ClaudeAgentOptions(cli_path=program, cwd=tmp_path))
    heard: list[FeedEvent] = []

    async with Runtime(engine, sink=heard.append) as r:
        session = r.session("s")
        ticket = await session.send("hello")
        assert await ticket.outcome() == Outcome.FAILED
        results = [entry for entry in await session.log() if isinstance(entry, Result)]
        await check_log(session)

    assert "the Claude CLI called Bash without asking before" in ticket.error
    assert "\n" not in ticket.error
    assert [one.status for one in results] == [Status.MAY_HAVE_EXECUTED] * 2
    assert [one.content for one in results] == ["done", ""]
    assert "All done." not in str(heard)


def test_what_a_killed_program_left_is_removed_by_the_next_and_what_is_used_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left, new = tmp_path / "lastword-claude-left", tmp_path / "lastword-claude-new"
    for path in (left, new):
        path.mkdir()
        (path / "secret").touch()
    used = CliHome({})
    for path in (left, used.path):
        os.utime(path, (0, 0))

    CliHome({}).remove()

    assert not left.exists()
    assert new.exists()  # it may be about to be locked
    assert used.path.exists()
    used.remove()
    assert not used.path.exists()


def test_the_cli_has_what_the_person_has_for_every_session(tmp_path: Path) -> None:
    (tmp_path / "skills" / "one").mkdir(parents=True)
    (tmp_path / "CLAUDE.md").write_text("Be kind.")
    (tmp_path / "projects").mkdir()
    signed_in = {"claudeAiOauth": {"accessToken": "a", "refreshToken": "r"}}
    (tmp_path / ".credentials.json").write_text(json.dumps(signed_in))

    home = CliHome({"CLAUDE_CONFIG_DIR": str(tmp_path)})

    assert (home.path / "CLAUDE.md").read_text() == "Be kind."
    assert (home.path / "skills" / "one").is_dir()
    assert not (home.path / "projects").exists()
    assert "refreshToken" not in (home.path / ".credentials.json").read_text()
    assert home.path.stat().st_mode & 0o077 == 0
    home.remove()
    assert (tmp_path / "skills" / "one").is_dir()
