"""Mistakes in what waits for a person: who is told of it, and when an answer is taken."""

from __future__ import annotations

from tests.mutations.changes import dropped, instead, unlocked
from tests.mutations.mutation import Mutation

ALLOWED = "tests/agent/test_allowed.py"
ASKS = "tests/agent/test_asks.py"
CALLS = "tests/agent/test_permission_calls.py"
THREADS_IN_STEP = "tests/runtime/test_threads_in_step.py"
TOLD_AGAIN = "tests/surfaces/test_told_again.py"

WAITING = (
    Mutation(
        "an answer is taken while a stop is made",
        "runtime.asks:Asks.answer",
        unlocked,
        f"{THREADS_IN_STEP}::test_an_answer_is_taken_before_a_stop_or_refused",
    ),
    Mutation(
        "what was asked outlives the end of its run",
        "runtime.conversation:Conversation._end",
        dropped("ended"),
        f"{ALLOWED}::test_that_a_call_waited_is_in_the_log_also_if_a_stop_withdrew_the_question",
    ),
    Mutation(
        "who talks with a run above is not asked",
        "runtime.asks:Asks._tell",
        dropped("publish"),
        f"{ASKS}::test_what_a_run_below_asks_is_shown_and_on_record_in_every_session_above",
    ),
    Mutation(
        "a question below ends with its own run alone",
        "runtime.asks:Asks._open",
        instead("tuple(one.hold.run for one in run.chain[1:])", "()"),
        f"{ASKS}::test_what_a_run_below_asks_ends_with_the_run_above_before_that_has_ended",
    ),
    Mutation(
        "an answer that waits is not known after a restart",
        "runtime.messages:Messages.found",
        dropped("said"),
        f"{ASKS}::test_an_answer_that_waits_is_found_after_kill_9_and_no_second_one_is_taken",
    ),
    Mutation(
        "a message that answers a program keeps nobody else from it",
        "runtime.messages:Messages.accepted",
        dropped("said"),
        f"{ASKS}::test_after_kill_9_a_question_is_withdrawn_and_a_program_answered_once",
    ),
    Mutation(
        "a stop leaves what a program waited on open",
        "runtime.session_cells:SessionCells._keep",
        dropped("stands"),
        f"{ASKS}::test_a_stop_takes_back_what_a_program_waits_on_in_its_own_step",
    ),
    Mutation(
        "what was said for good outlives its session",
        "agent.scopes:Always.holding",
        instead("epoch == said", "True"),
        f"{CALLS}::test_what_was_allowed_for_good_ends_with_its_session",
    ),
    Mutation(
        "what was said for good does not hold below",
        "runtime.active_run:ActiveRun.lives",
        instead("self.parent.lives if self.parent else ()", "()"),
        f"{ASKS}::test_what_was_allowed_for_good_holds_for_the_runs_below",
    ),
    Mutation(
        "what a session notes is told only to who comes later",
        "runtime.announcer:Announcer._tell",
        dropped("_publish"),
        f"{TOLD_AGAIN}::test_what_is_noted_is_told_live_as_it_is_after_a_reload",
    ),
)
