"""Mistakes in what holds a framework's code to its run."""

from __future__ import annotations

from tests.mutations.changes import always, dropped, gives, instead, never, without
from tests.mutations.mutation import Mutation

CALLS = "tests/engines/test_kit_calls.py"
HISTORY = "tests/engines/test_kit_history.py"
THREADS = "tests/engines/test_kit_threads.py"

ENGINES = (
    Mutation(
        "a thread of a run's code is nobody's",
        "engines.kit.threads:HeldThreads.submit",
        never("_LOOKUPS"),
        f"{THREADS}::test_no_thread_begins_after_the_stop[by_to_thread]",
    ),
    Mutation(
        "an executor that an app sets afterwards undoes the fence",
        "engines.kit.threads:hold_threads",
        instead("ours is not None and now is ours", "ours is not None"),
        f"{THREADS}::test_outside_of_runs_an_app_s_own_executor_is_asked_whenever_it_was_set[by_to_thread]",
    ),
    Mutation(
        "the executor that a loop had is forgotten at its close",
        "engines.kit.threads:HeldThreads.submit",
        never("_before"),
        f"{THREADS}::test_outside_of_runs_an_app_s_own_executor_is_asked_whenever_it_was_set[by_the_loop]",
    ),
    Mutation(
        "a run's calls are kept, and its threads are not held",
        "engines.kit.calls:Calls.__init__",
        dropped("hold_threads"),
        "tests/engines/test_kit_threads.py::test_whoever_keeps_a_run_s_calls_holds_its_threads",
    ),
    Mutation(
        "a thread of a tool of an agent in a plain engine is nobody's",
        "engines.kit.reaching:making",
        dropped("hold_threads"),
        "tests/engines/test_pydantic_ai_threads.py::test_a_thread_of_an_agent_in_a_plain_engine_is_named_until_it_ends",
    ),
    Mutation(
        "a call inside a tool is taken for the model's own",
        "engines.kit.calls:inside",
        instead('"inner"', '""'),
        f"{CALLS}::test_an_agent_inside_a_tool_is_in_the_ledger_wherever_it_runs[on the loop]",
    ),
    Mutation(
        "nobody is asked before a call inside a tool",
        "engines.kit.calls:_begun",
        dropped("ready"),
        f"{CALLS}::test_a_call_inside_a_tool_is_asked_for_like_any_other",
    ),
    Mutation(
        "a tool's own refusal is taken for one before it",
        "engines.kit.calls:Calls.make",
        never("allowed"),
        f"{CALLS}::test_a_call_that_was_not_allowed_is_told_from_one_that_the_tool_refused[own]",
    ),
    Mutation(
        "two calls of a history have one id",
        "engines.kit.history:Ids._name",
        without("_taken"),
        f"{HISTORY}::test_an_id_that_a_provider_gave_twice_stands_for_one_thing[chat]",
    ),
    Mutation(
        "an id that a provider gave is too long for another",
        "engines.kit.history:Ids._name",
        without("_LONGEST_ID"),
        f"{HISTORY}::test_a_long_id_is_replaced",
    ),
    Mutation(
        "another's thinking is given back",
        "engines.kit.wire:kept",
        without("engine"),
        f"{HISTORY}::test_what_a_provider_gave_is_given_back_to_it_alone[anthropic]",
    ),
    Mutation(
        "two items of a response have one id",
        "engines.kit.responses:_unseen",
        without("seen"),
        f"{HISTORY}::test_an_id_that_a_provider_gave_twice_stands_for_one_thing[responses]",
    ),
    Mutation(
        "lastword's own words look like the person's",
        "engines.kit.history:told",
        always("role"),
        f"{HISTORY}::test_a_message_without_words_says_so_and_lastword_speaks_in_brackets[chat]",
    ),
    Mutation(
        "a file is sent that no provider takes",
        "engines.kit.files:read_by_all",
        gives(True),
        f"{HISTORY}::test_a_picture_is_sent_and_what_cannot_be_is_named[responses]",
    ),
)
