"""Mistakes in what lets a run act: hold, fence and ledger."""

from __future__ import annotations

import ast

from tests.mutations.changes import (
    always,
    compared,
    dropped,
    forgotten,
    gives,
    instead,
    negated,
    never,
    unlocked,
    without,
)
from tests.mutations.mutation import Mutation

DELIVERED = "tests/promise/test_delivered.py"
ACTS = "tests/promise/test_acting.py"
ASKING = "tests/promise/test_asking.py"
BEFORE_THE_LOOP_KNOWS = "tests/runtime/test_before_the_loop_knows.py"
CARRIED_OUT = "tests/promise/test_carried_out.py"
CHILDREN = "tests/promise/test_children.py"
DOUBTS = "tests/promise/test_doubts.py"
FENCE = "tests/promise/test_fence.py"
GATE = "tests/promise/test_gate.py"
ISOLATED_TOOLS = "tests/promise/test_isolated_tools.py"
PROCESSES_SEAM = "tests/promise/test_processes_seam.py"
RETURNED = "tests/promise/test_threads_that_returned.py"
STREAMING = "tests/promise/test_streaming.py"
THREADS_IN_STEP = "tests/runtime/test_threads_in_step.py"

ACTING = (
    Mutation(
        "an effect begins although the hold is gone",
        "runtime.hold:Hold._now",
        never("void"),
        f"{FENCE}::test_what_was_checked_before_and_would_run_after_is_dropped_at_the_sink",
    ),
    Mutation(
        "an effect that was given up begins",
        "runtime.hold:Hold._now",
        without("void"),
        f"{GATE}::test_a_call_given_up_by_the_engine_itself_is_settled_truthfully[4]",
    ),
    Mutation(
        "a run that was stopped acts through another's hold",
        "runtime.hold:Hold.begin",
        instead("another(self)", "None"),
        f"{ASKING}::test_a_stopped_child_does_not_speak_through_its_parent",
    ),
    Mutation(
        "a delivery that was cancelled is not doubtful",
        "runtime.hold:Hold.failed",
        dropped("append", nth=0),
        f"{DELIVERED}::test_a_delivery_that_was_cancelled_at_the_deadline_stays_named",
    ),
    Mutation(
        "a delivery that failed late is not told to the model",
        "runtime.hold:Hold.failed",
        dropped("append", nth=-1),
        f"{DELIVERED}::test_what_failed_when_the_run_had_been_stopped_is_told_to_the_model",
    ),
    Mutation(
        "a piece that was shown is not known to have been",
        "runtime.hold:Hold._begin",
        never("piece"),
        f"{FENCE}::test_a_reply_in_parts_is_cut_between_parts_and_the_log_agrees[0]",
    ),
    Mutation(
        "an effect of one step is not checked",
        "runtime.hold:Hold.acting",
        never("begin"),
        f"{ASKING}::test_what_a_run_asks_for_once_it_has_lost_its_session_is_not_done[delete-stopped]",
    ),
    Mutation(
        "an effect that begins is not counted as under way",
        "runtime.hold:Hold._begin",
        forgotten("_under_way"),
        f"{GATE}::test_a_tool_that_holds_its_thread_delays_no_stop_and_its_result_is_discarded",
    ),
    Mutation(
        "an effect does not know that it began",
        "runtime.hold:Hold._begin",
        forgotten("begun"),
        f"{GATE}::test_of_five_calls_in_order_a_stop_during_the_second_leaves_three_not_started",
    ),
    Mutation(
        "an effect begins beside the lock",
        "runtime.hold:Hold._now",
        unlocked,
        f"{THREADS_IN_STEP}::test_a_call_that_is_told_as_not_started_never_runs",
    ),
    Mutation(
        "an effect that begins puts nothing in the feed",
        "runtime.hold:Hold._begin",
        never("fact"),
        f"{FENCE}::test_nothing_of_a_streaming_run_is_heard_after_the_fence[True]",
    ),
    Mutation(
        "an effect is given up beside the lock",
        "runtime.hold:Hold.give_up",
        unlocked,
        f"{THREADS_IN_STEP}::test_a_call_that_is_told_as_not_started_never_runs",
    ),
    Mutation(
        "an effect that has begun is given up",
        "runtime.hold:Hold.give_up",
        gives(True),
        f"{GATE}::test_a_call_given_up_by_the_engine_itself_is_settled_truthfully[2]",
    ),
    Mutation(
        "an effect that has ended is still under way",
        "runtime.hold:Hold.finish",
        always("left"),
        f"{FENCE}::test_nothing_of_a_streaming_run_is_heard_after_the_fence[True]",
    ),
    Mutation(
        "nobody is woken when an effect ends",
        "runtime.hold:Hold.finish",
        never("waiter"),
        f"{GATE}::test_a_tool_that_holds_its_thread_delays_no_stop_and_its_result_is_discarded",
    ),
    Mutation(
        "an effect ends beside the lock",
        "runtime.hold:Hold.finish",
        unlocked,
        f"{THREADS_IN_STEP}::test_whoever_waits_for_an_effect_is_woken_when_it_ends",
    ),
    Mutation(
        "whoever waits for effects looks beside the lock",
        "runtime.hold:Hold.ended",
        unlocked,
        f"{THREADS_IN_STEP}::test_whoever_waits_for_an_effect_is_woken_when_it_ends",
    ),
    Mutation(
        "the wrong kinds of effects are waited for",
        "runtime.hold:Hold.ended",
        compared("kinds", ast.NotIn),
        f"{GATE}::test_a_tool_that_holds_its_thread_delays_no_stop_and_its_result_is_discarded",
    ),
    Mutation(
        "what a run says is let out beside the lock",
        "runtime.hold:Hold._publish",
        unlocked,
        f"{THREADS_IN_STEP}::test_text_that_was_let_out_is_known_to_a_stop_and_nothing_comes_after",
    ),
    Mutation(
        "what a fenced run says is let out",
        "runtime.hold:Hold._let_through",
        never("current"),
        f"{FENCE}::test_nothing_of_a_streaming_run_is_heard_after_the_fence[False]",
    ),
    Mutation(
        "a child whose parent was stopped may act",
        "runtime.hold:Hold.current",
        without("_parent"),
        f"{CHILDREN}::test_a_stop_that_the_loop_has_not_heard_of_yet_has_fenced_the_children",
    ),
    Mutation(
        "a fenced run that asks is not refused",
        "runtime.hold:Hold.must_hold",
        never("current"),
        f"{FENCE}::test_cancel_handlers_and_finally_blocks_are_not_heard_and_are_counted",
    ),
    Mutation(
        "what was refused is not counted",
        "runtime.hold:Hold._refuse",
        forgotten("_dropped"),
        f"{FENCE}::test_nothing_of_a_streaming_run_is_heard_after_the_fence[True]",
    ),
    Mutation(
        "a delivery is not checked as it leaves",
        "runtime.fence:Fence._deliver.leave",
        never("begin"),
        f"{FENCE}::test_nothing_of_a_streaming_run_is_heard_after_the_fence[True]",
    ),
    Mutation(
        "a delivery does not wait for the one before",
        "runtime.fence:Fence.send",
        dropped("acquire"),
        f"{FENCE}::test_nothing_of_a_streaming_run_is_heard_after_the_fence[True]",
    ),
    Mutation(
        "a paced sink does not rest",
        "runtime.fence:Fence._rest",
        never("_pace"),
        f"{FENCE}::test_a_paced_send_that_sleeps_through_a_stop_is_not_made_on_waking",
    ),
    Mutation(
        "a paced sink forgets when it spoke",
        "runtime.fence:Fence._rest",
        forgotten("_last"),
        f"{FENCE}::test_a_paced_send_that_sleeps_through_a_stop_is_not_made_on_waking",
    ),
    Mutation(
        "a delivery that has ended is still under way",
        "runtime.fence:_until_its_end",
        dropped("finish"),
        f"{FENCE}::test_nothing_of_a_streaming_run_is_heard_after_the_fence[True]",
    ),
    Mutation(
        "a thread that has ended is still under way",
        "runtime.fence:_in_thread",
        dropped("finish", nth=-1),
        f"{GATE}::test_a_tool_that_holds_its_thread_delays_no_stop_and_its_result_is_discarded",
    ),
    Mutation(
        "what blocks is called on the event loop, and what does not in a thread",
        "runtime.fence:call",
        negated("threads"),
        f"{GATE}::test_a_tool_that_holds_its_thread_delays_no_stop_and_its_result_is_discarded",
    ),
    Mutation(
        "a call begins before it is durable",
        "runtime.ledger:Ledger.ready",
        dropped("committed"),
        f"{GATE}::test_what_is_to_be_called_is_durable_before_the_tools_first_line",
    ),
    Mutation(
        "a call does not wait for the processes of the run before",
        "runtime.ledger:Ledger.ready",
        dropped("clear"),
        f"{PROCESSES_SEAM}::test_a_new_run_waits_for_old_processes_no_longer_than_their_stop_may_take",
    ),
    Mutation(
        "nobody is asked before a tool",
        "runtime.ledger:Ledger.ready",
        never("_before"),
        f"{GATE}::test_a_stop_during_a_hook_before_a_tool_keeps_the_tool_from_running",
    ),
    Mutation(
        "a result is used by a fenced run",
        "runtime.ledger:Ledger.make",
        dropped("must_hold"),
        f"{GATE}::test_a_tool_deaf_to_cancellation_hands_its_late_result_to_nobody",
    ),
    Mutation(
        "a call is not checked in",
        "runtime.ledger:Ledger.check_in",
        never("begin"),
        f"{GATE}::test_of_five_calls_in_order_a_stop_during_the_second_leaves_three_not_started",
    ),
    Mutation(
        "an isolated call is not checked in",
        "runtime.call:Call.first_line",
        dropped("check_in"),
        f"{ISOLATED_TOOLS}::test_an_isolated_tool_that_holds_the_interpreter_is_ended",
    ),
    Mutation(
        "a call that began is told as not started",
        "runtime.ledger:Ledger._settled",
        never("begun"),
        f"{GATE}::test_of_five_calls_in_order_a_stop_during_the_second_leaves_three_not_started",
    ),
    Mutation(
        "a call that never began may have executed",
        "runtime.ledger:Ledger._settled",
        always("begun"),
        f"{GATE}::test_of_five_calls_in_order_a_stop_during_the_second_leaves_three_not_started",
    ),
    Mutation(
        "a call that was settled is settled again",
        "runtime.ledger:Ledger.settle",
        instead(
            "[made for made in self._calls if made.status is Status.INTENDED]", "list(self._calls)"
        ),
        f"{GATE}::test_of_five_calls_in_order_a_stop_during_the_second_leaves_three_not_started",
    ),
    Mutation(
        "a cancelled call that may have executed is told as not started",
        "runtime.ledger:Ledger._run",
        always("given_up"),
        f"{GATE}::test_a_call_given_up_by_the_engine_itself_is_settled_truthfully[2]",
    ),
    Mutation(
        "a tool that raised is told as not started",
        "runtime.ledger:Ledger._run",
        never("called"),
        f"{GATE}::test_a_tool_that_raises_was_completed_with_an_error",
    ),
    Mutation(
        "a fenced run has the last word on its calls",
        "runtime.ledger:Ledger._close",
        without("current"),
        f"{BEFORE_THE_LOOP_KNOWS}::test_a_tool_that_returns_then_may_have_executed",
    ),
    Mutation(
        "a result is not written down",
        "runtime.ledger:Ledger._close",
        dropped("add"),
        f"{GATE}::test_of_five_calls_in_order_a_stop_during_the_second_leaves_three_not_started",
    ),
    Mutation(
        "a call of a fenced run is intended",
        "runtime.ledger:Ledger.intend",
        always("granted"),
        f"{BEFORE_THE_LOOP_KNOWS}::test_a_call_that_is_asked_for_then_is_nowhere_written_down",
    ),
    Mutation(
        "an idempotent call has no key",
        "runtime.ledger:Ledger.intend",
        never("nature"),
        f"{DOUBTS}::test_a_call_that_raised_is_repeated_under_its_key",
    ),
    Mutation(
        "a framework's own act is not checked",
        "runtime.executor:Act.under_way",
        never("begin"),
        f"{ACTS}::test_an_act_is_begun_before_the_stop_or_not_at_all[write]",
    ),
    Mutation(
        "a framework's write is not waited for",
        "runtime.active_run:ActiveRun.unconfirmed",
        instead('e.kind == "write"', 'e.kind == "act"'),
        f"{ACTS}::test_a_stop_waits_for_an_act_that_does_not_listen_and_then_names_it[write]",
    ),
    Mutation(
        "a framework's act that was refused is not told",
        "runtime.executor:Act.under_way",
        dropped("drop"),
        f"{ACTS}::test_what_was_refused_is_in_the_receipt",
    ),
    Mutation(
        "a call is carried out elsewhere before it is durable",
        "runtime.ledger:Ledger.begin",
        never("made"),
        f"{CARRIED_OUT}::test_a_call_is_durable_before_it_is_carried_out_elsewhere",
    ),
    Mutation(
        "a call that is carried out elsewhere is not known to have begun",
        "runtime.ledger:Ledger.begin",
        dropped("check_in"),
        f"{CARRIED_OUT}::test_of_calls_made_elsewhere_a_stop_says_what_is_known",
    ),
    Mutation(
        "a stop waits for what it cannot see",
        "runtime.ledger:Ledger.begin",
        dropped("finish"),
        f"{CARRIED_OUT}::test_of_calls_made_elsewhere_a_stop_says_what_is_known",
    ),
    Mutation(
        "a thread that returned after the stop is told as completed",
        "runtime.hold:Hold.finish",
        without("current"),
        f"{RETURNED}::test_a_thread_that_returns_after_the_stop_may_have_executed",
    ),
    Mutation(
        "a thread that had returned may have executed",
        "runtime.ledger:Ledger._settled",
        never("told"),
        f"{RETURNED}::test_what_had_ended_before_the_stop_is_completed_and_what_had_not_is_in_doubt[gives]",
    ),
    Mutation(
        "a call that begins again is told as ended",
        "runtime.hold:Hold._begin",
        forgotten("ended"),
        f"{RETURNED}::test_a_call_that_goes_on_after_a_part_of_it_may_have_executed",
    ),
    Mutation(
        "what is streamed leaves before what was streamed before it",
        "runtime.streaming:Streaming._leave",
        never("before"),
        f"{STREAMING}::test_what_comes_meanwhile_leaves_as_one_and_none_before_it_is_stored[False]",
    ),
    Mutation(
        "what could not be stored is not told to who goes on",
        "runtime.streaming:Streaming._raise",
        never("error"),
        f"{STREAMING}::test_what_could_not_be_stored_is_not_shown_and_its_run_is_told[2]",
    ),
    Mutation(
        "words are said with thoughts",
        "runtime.streaming:Streaming.take",
        instead("type(said) is not type(self._waiting[0])", "False"),
        f"{STREAMING}::test_whatever_else_a_run_does_waits_for_what_it_streamed_before",
    ),
    Mutation(
        "a call does not wait for what was streamed before it",
        "runtime.active_run:ActiveRun.all_said",
        never("streams"),
        f"{STREAMING}::test_whatever_else_a_run_does_waits_for_what_it_streamed_before",
    ),
)
