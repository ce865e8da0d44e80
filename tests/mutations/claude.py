"""Mistakes in what holds the Claude Agent SDK's CLI to its run."""

from __future__ import annotations

from tests.mutations.changes import dropped, instead, never
from tests.mutations.mutation import Mutation

TALK = "tests/engines/test_claude.py"
TOOLS = "tests/engines/test_claude_tools.py"
PERMISSION = "tests/engines/test_claude_permission.py"
ASKED = f"{PERMISSION}::test_while_somebody_is_asked_a_call_has_not_begun"

CLAUDE = (
    Mutation(
        "the CLI goes on where a hook of ours fails",
        "engines.claude.hooks:Hooks.around",
        instead('"block"', '"continue"'),
        f"{PERMISSION}::test_rules_that_fail_are_a_no",
    ),
    Mutation(
        "a call has begun while the CLI asks for permission",
        "engines.claude.calls:Door.think",
        never("begun"),
        f"{ASKED}[can_use_tool]",
    ),
    Mutation(
        "what the CLI's rules deny is said to have completed",
        "engines.claude.calls:CliCalls.result",
        instead('not meta.get("non_execution_kind")', "True"),
        f"{PERMISSION}::test_what_the_cli_makes_and_what_it_denies_is_told_apart",
    ),
    Mutation(
        "what the CLI made without asking is said not to have started",
        "engines.claude.calls:CliCalls.result",
        never("_was_made"),
        f"{TALK}::test_a_cli_that_makes_calls_without_asking_is_ended_and_they_may_have_executed[done]",
    ),
    Mutation(
        "what else the CLI made without asking is said not to have started",
        "engines.claude.calls:CliCalls._lose_sight",
        dropped("lose_sight", 1),
        f"{TALK}::test_a_cli_that_makes_calls_without_asking_is_ended_and_they_may_have_executed[done]",
    ),
    Mutation(
        "a call of an agent inside the CLI is taken for the model's own",
        "engines.claude.calls:CliCalls.asked",
        instead('"inner"', '""'),
        f"{TOOLS}::test_an_agent_inside_the_cli_is_held_and_its_calls_are_in_receipts[answered]",
    ),
    Mutation(
        "the CLI's files stay where it was killed",
        "engines.claude.home:CliHome.remove_after",
        dropped("when_ended"),
        f"{TOOLS}::test_the_cli_s_files_are_gone_when_it_is[killed]",
    ),
    Mutation(
        "words are put into the model's mouth after a stop",
        "engines.claude.transcript:CliTalk.goes_on",
        instead('"user"', '"nobody"'),
        f"{TOOLS}::test_all_that_the_cli_started_is_gone_with_the_stop_and_is_named",
    ),
    Mutation(
        "the CLI has every key of its host",
        "engines.claude.environment:needed",
        instead("_NEEDED.fullmatch(name)", "True"),
        f"{TALK}::test_the_cli_is_given_what_it_needs_and_what_the_options_say",
    ),
    Mutation(
        "a name that the SDK has moved is not looked at",
        "engines.claude.seams:look",
        never("gone"),
        f"{TALK}::test_a_name_that_the_sdk_has_moved_is_a_clear_error_at_once",
    ),
    Mutation(
        "a directory that somebody uses is tidied up",
        "engines.claude.home:_remove_unused",
        dropped("flock"),
        f"{TALK}::test_what_a_killed_program_left_is_removed_by_the_next_and_what_is_used_is_not",
    ),
)
