"""Mistakes in what holds a graph of LangGraph's to its run."""

from __future__ import annotations

from tests.mutations.changes import always, dropped, forgotten, gives, instead, never, without
from tests.mutations.mutation import Mutation

HOME = "engines.langgraph"
ASKS = "tests/engines/test_langgraph_asks.py"
NESTED = "tests/engines/test_langgraph_nested.py"
SAYS = "tests/engines/test_langgraph_says.py"
STATE = "tests/engines/test_langgraph_state.py"
TOOLS = "tests/engines/test_langgraph_tools.py"
MOVED = "tests/engines/test_langgraph_moved.py"

GRAPHS = (
    Mutation(
        "a graph's tool begins without a look where its first line is",
        f"{HOME}.tools:_in_step",
        always("_passes_on"),
        f"{TOOLS}::test_a_tool_does_not_begin_after_a_stop_whatever_is_around_it[Before]",
    ),
    Mutation(
        "a graph's tool begins in its thread without a look",
        f"{HOME}.tools:_in_thread",
        always("run_inside"),
        f"{TOOLS}::test_a_tool_does_not_begin_after_a_stop_whatever_is_around_it[BeforeInThread]",
    ),
    Mutation(
        "calls of one answer are not written down as it comes",
        f"{HOME}.heard:HeardMessage.end",
        dropped("ask"),
        f"{TOOLS}::test_what_is_asked_for_in_one_answer_is_written_down_before_the_first_begins[chat]",
    ),
    Mutation(
        "a call that names no id is taken for a node's own",
        f"{HOME}.talk:GraphTalk._like",
        gives(None),
        f"{TOOLS}::test_each_call_is_in_the_ledger_once_however_a_node_makes_it[threaded-by_arguments]",
    ),
    Mutation(
        "a second attempt is no call",
        f"{HOME}.talk:GraphTalk.claim",
        dropped("forget"),
        f"{TOOLS}::test_each_attempt_of_a_retried_tool_is_told_as_it_was",
    ),
    Mutation(
        "what an agent in a tool calls is the model's own",
        f"{HOME}.talk:GraphTalk.left",
        instead("_talk.set(None)", "_talk.set(self)"),
        f"{NESTED}::test_what_an_agent_in_a_tool_calls_is_held_and_named_and_not_the_model_s[awaits]",
    ),
    Mutation(
        "a call that a node answers by itself stays open",
        f"{HOME}.talk:GraphTalk.settle",
        gives(None),
        f"{TOOLS}::test_a_call_that_reaches_no_tool_is_told_as_its_node_answered_it",
    ),
    Mutation(
        "a refused call is an error of the graph's",
        f"{HOME}.tools:_refused",
        instead('ToolMessage(told, tool_call_id=id_, name=tool.name, status="error")', "told"),
        f"{TOOLS}::test_a_call_that_was_not_allowed_is_answered_as_the_framework_answers",
    ),
    Mutation(
        "a tool blocks the event loop",
        f"{HOME}.threads:must_not_block",
        never("is_here"),
        f"{TOOLS}::test_a_tool_that_is_not_awaited_on_the_event_loop_is_an_error_that_says_so",
    ),
    Mutation(
        "a checkpoint is the truth of messages",
        f"{HOME}.engine:LangGraph._given",
        never("checkpointer"),
        f"{STATE}::test_of_messages_the_log_is_the_truth_and_of_other_state_the_checkpoint[Plain]",
    ),
    Mutation(
        "a checkpoint is written by nobody",
        f"{HOME}.savers:_awrite",
        always("_begun"),
        f"{STATE}::test_a_write_that_does_not_end_is_named",
    ),
    Mutation(
        "a write that began is cut in half by what it is made of",
        f"{HOME}.savers:_write",
        without("_begun"),
        f"{STATE}::test_a_write_that_began_is_waited_for_whole_and_no_other_begins",
    ),
    Mutation(
        "a subgraph's own messages are sent as a stop left them",
        f"{HOME}.history:_missing",
        gives(None),
        f"{STATE}::test_where_a_graph_keeps_messages_of_its_own_no_call_is_without_its_result",
    ),
    Mutation(
        "what was done before a question was not",
        f"{HOME}.talk:GraphTalk.make",
        forgotten("executed"),
        f"{ASKS}::test_a_stop_withdraws_the_question_and_nothing_answers_it_later[none]",
    ),
    Mutation(
        "a call that asks is two calls",
        f"{HOME}.talk:GraphTalk._intend",
        forgotten("puts_off"),
        f"{ASKS}::test_each_question_is_answered_once_and_its_call_is_one[pay-none]",
    ),
    Mutation(
        "a call that the person changed is told as it was asked for",
        f"{HOME}.talk:_changed",
        gives(False),
        f"{ASKS}::test_a_call_that_the_person_changed_is_told_as_it_was_made",
    ),
    Mutation(
        "what a model said is said again by a node",
        f"{HOME}.talk:GraphTalk.heard_of",
        gives(False),
        f"{SAYS}::test_what_a_node_answers_by_itself_is_said_and_nothing_is_said_twice",
    ),
    Mutation(
        "what is asked for another purpose is said",
        f"{HOME}.models:_is_silent",
        gives(False),
        f"{SAYS}::test_what_is_asked_for_another_purpose_is_not_said_and_not_in_the_log",
    ),
    Mutation(
        "an answer from a cache is not heard",
        f"{HOME}.models:_told",
        always("told"),
        f"{SAYS}::test_an_answer_from_a_cache_is_said_and_its_calls_are_made",
    ),
    Mutation(
        "what steered a run is forgotten by its next request",
        f"{HOME}.prepared:PreparedRequests.request",
        dropped("append"),
        f"{SAYS}::test_what_steers_stays_where_it_came_in",
    ),
    Mutation(
        "a thinking is not kept for its provider",
        f"{HOME}.heard:HeardMessage._close",
        dropped("seal"),
        f"{SAYS}::test_what_a_provider_wants_back_is_given_back_in_the_next_turn[anthropic]",
    ),
    Mutation(
        "a framework that moved is not noticed",
        f"{HOME}.seams:must_take",
        gives(None),
        f"{MOVED}::test_a_framework_that_moved_is_an_error_when_an_engine_is_made[BaseTool-arun]",
    ),
    Mutation(
        "where a tool's code is has moved, and it is not noticed",
        f"{HOME}.tools:hold_tools",
        dropped("must_take"),
        f"{MOVED}::test_a_framework_that_moved_is_an_error_when_an_engine_is_made[StructuredTool-_arun]",
    ),
)
