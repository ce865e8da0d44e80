"""Mistakes in what holds an openai-agents agent to its run."""

from __future__ import annotations

from tests.mutations.changes import always, dropped, gives, instead, never, without
from tests.mutations.mutation import Mutation

OWN = "tests/engines/test_openai_agents.py"
HANDOFFS = "tests/engines/test_agents_handoffs.py"
HELD = "tests/engines/test_agents_held.py"
PLACES = "tests/engines/test_agents_places.py"
WITHIN = "tests/engines/test_agents_within.py"
APPROVALS = "tests/engines/test_agents_approvals.py"
ACTIONS = "tests/engines/test_agents_actions.py"

AGENTS = (
    Mutation(
        "an agent as a tool speaks for the session",
        "engines.openai_agents.runners:_whose",
        without("starts"),
        f"{WITHIN}::test_its_calls_are_in_the_log_and_not_in_what_the_session_s_model_is_shown[as_a_tool-chat]",
    ),
    Mutation(
        "a team's own runner is taken for a nested one",
        "engines.openai_agents.runners:_whose",
        always("RunSession"),
        f"{WITHIN}::test_a_team_s_own_runner_has_the_log_as_its_session[chat]",
    ),
    Mutation(
        "a function's call begins before its arguments are read",
        "engines.openai_agents.innermost:guarded",
        never("_FUNCTION"),
        f"{OWN}::test_a_call_that_cannot_be_made_is_not_started_and_the_model_is_told[async-wrong-chat]",
    ),
    Mutation(
        "a server of a team's own is asked without a check",
        "engines.openai_agents.tools:_mcp",
        never("sends_by_itself"),
        f"{PLACES}::test_a_server_of_the_team_s_own_is_asked_only_while_the_run_may_act[True]",
    ),
    Mutation(
        "what an answer asks for is written down as it is made",
        "engines.openai_agents.heard:ModelAnswer.take",
        dropped("asks"),
        f"{PLACES}::test_what_one_answer_asks_for_is_written_down_before_the_first_of_it_is_made",
    ),
    Mutation(
        "a shell's executor is called past the ledger",
        "engines.openai_agents.actions:_by",
        always("run_inside"),
        f"{ACTIONS}::test_it_begins_no_more_behind_a_hook_or_a_policy_once_the_run_is_stopped[a_shell]",
    ),
    Mutation(
        "a tool that raised is said to have given something",
        "engines.openai_agents.driving:Driven.make",
        without("ended"),
        f"{OWN}::test_a_tool_that_raises_and_one_that_is_not_allowed_are_told_to_the_model[chat]",
    ),
    Mutation(
        "a handoff is forgotten with the run that made it",
        "engines.openai_agents.handoffs:who_answers",
        never("done"),
        f"{HANDOFFS}::test_it_is_the_same_after_a_stop_a_restart_and_a_summary[chat]",
    ),
    Mutation(
        "a summary forgets who answers",
        "engines.openai_agents.handoffs:_spoke",
        gives(""),
        f"{HANDOFFS}::test_it_is_the_same_after_a_stop_a_restart_and_a_summary[chat]",
    ),
    Mutation(
        "what joined a run is shown as the newest in each request",
        "engines.openai_agents.steering:_behind",
        never("after"),
        f"{OWN}::test_what_joins_a_run_stays_where_it_came_in_each_later_request[responses]",
    ),
    Mutation(
        "reasoning is given back that its provider cannot read",
        "engines.openai_agents.heard:ModelAnswer._begins",
        without("encrypted_content"),
        f"{OWN}::test_reasoning_that_cannot_be_given_back_takes_no_ids_with_it",
    ),
    Mutation(
        "what nobody allowed is allowed",
        "engines.openai_agents.approvals:_denied",
        gives(""),
        f"{APPROVALS}::test_what_is_allowed_is_made_once_and_what_is_not_is_not_started[nobody-chat]",
    ),
    Mutation(
        "a framework whose names take something else is held all the same",
        "engines.openai_agents.seams:HeldName.found",
        never("missing"),
        f"{HELD}::test_a_framework_that_moved_a_name_makes_no_engine[changed-request]",
    ),
    Mutation(
        "what is said is traced to others unasked",
        "engines.openai_agents.engine:OpenAIAgents.__init__",
        instead("not tracing", "False"),
        f"{HELD}::test_nothing_is_traced_to_anybody_unless_it_is_asked_for[False]",
    ),
)
