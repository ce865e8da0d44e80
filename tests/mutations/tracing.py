"""Mistakes in what is traced and counted: spans that leak, stay open, or break what they tell."""

from __future__ import annotations

from tests.mutations.changes import always, dropped, forgotten, gives, instead, never
from tests.mutations.mutation import Mutation

SPANS = "tests/telemetry/test_spans.py"
WHOSE = "tests/telemetry/test_whose_trace.py"
MODELS = "tests/telemetry/test_models.py"
LOOPS = "tests/telemetry/test_loops.py"
TROUBLED = "tests/telemetry/test_troubled.py"
HTTP = "tests/telemetry/test_http.py"
METRICS = "tests/server/test_metrics.py"
STOPPED = f"{SPANS}::test_a_stop_ends_every_span_and_has_one_with_what_the_receipt_says"
TREE = f"{SPANS}::test_tools_side_by_side_are_below_their_run_and_their_own_spans_below_them"

TRACED = (
    Mutation(
        "a run that lost its session has an open span",
        "runtime.runs:Runs.lose",
        dropped("over"),
        STOPPED,
    ),
    Mutation(
        "a call that a stop has settled has an open span",
        "runtime.ledger:Ledger._settled",
        dropped("call_settled"),
        STOPPED,
    ),
    Mutation(
        "a request that a stop has cut off has an open span",
        "runtime.trace:RunTrace.over",
        dropped("cut_off"),
        f"{MODELS}::test_a_stop_ends_the_span_of_a_request_that_does_not_end_and_none_begins_after",
    ),
    Mutation(
        "a request that a stop has overtaken has an open span",
        "runtime.trace:RunTrace.request",
        never("_over"),
        f"{MODELS}::test_a_request_that_a_stop_from_a_thread_overtakes_is_over_at_once",
    ),
    Mutation(
        "a model is asked in the name of a run that has lost its session",
        "runtime.framework:ForFrameworks.asks_model",
        dropped("must_hold"),
        f"{MODELS}::test_a_stop_ends_the_span_of_a_request_that_does_not_end_and_none_begins_after",
    ),
    Mutation(
        "a request is counted twice",
        "runtime.trace:RunTrace.request_ended",
        always("pop"),
        f"{MODELS}::test_a_stop_ends_the_span_of_a_request_that_does_not_end_and_none_begins_after",
    ),
    Mutation(
        "a loop's answer that breaks off is counted as whole",
        "engines.kit.sdk:SdkEngine._hear",
        dropped("failed"),
        f"{LOOPS}::test_a_loop_s_answer_that_nobody_ends_broke_off",
    ),
    Mutation(
        "what a loop's request cost is not counted",
        "engines.kit.loop:HeardAnswer.end",
        dropped("used"),
        f"{LOOPS}::test_a_loop_s_requests_and_tools_are_below_its_run[chat]",
    ),
    Mutation(
        "nobody knows when the first of a loop's answer came",
        "engines.kit.sdk:events",
        dropped("first"),
        f"{LOOPS}::test_a_loop_s_requests_and_tools_are_below_its_run[chat]",
    ),
    Mutation(
        "a call that was carried out elsewhere does not say what it raised",
        "runtime.ledger:Ledger.end",
        forgotten("raised"),
        f"{SPANS}::test_a_call_that_is_carried_out_elsewhere_has_a_span_until_its_end_is_told",
    ),
    Mutation(
        "a thread's error that the loop has not heard of is not named",
        "runtime.ledger:Ledger._settled",
        forgotten("raised"),
        f"{SPANS}::test_a_thread_that_had_raised_when_the_stop_came_is_told_by_what",
    ),
    Mutation(
        "a run's task is not in its span",
        "runtime.active_run:ActiveRun.enter",
        dropped("enter"),
        TREE,
    ),
    Mutation(
        "a tool is not in its span",
        "runtime.trace:RunTrace.inside",
        instead("self._calls.get(call.id)", "None"),
        TREE,
    ),
    Mutation(
        "what comes after a tool is still in its span",
        "runtime.tracing:Tracing.inside",
        dropped("tell"),
        TREE,
    ),
    Mutation(
        "a stop is in the trace of whoever carries it out",
        "runtime.seat:Inbox._put",
        instead("tracing.here() if tracing else None", "None"),
        f"{SPANS}::test_a_stop_that_another_step_carries_out_is_still_in_its_asker_s_trace",
    ),
    Mutation(
        "a settlement does not know who asked for it",
        "runtime.conversation:Conversation.carry_out",
        instead("move.asked_in", "None"),
        f"{SPANS}::test_a_takeover_is_a_stop_in_the_trace_of_the_message_that_took_over",
    ),
    Mutation(
        "a run without a trace is part of the one that happens to be there",
        "telemetry:_context",
        instead("Context()", "contexts.get_current()"),
        f"{WHOSE}::test_a_message_that_an_earlier_process_left_begins_a_trace_of_its_own",
    ),
    Mutation(
        "a call is in whatever trace it is made in",
        "telemetry:_innermost",
        instead("found.trace_id == of_run.trace_id", "True"),
        f"{WHOSE}::test_a_call_that_is_made_where_another_trace_goes_on_stays_in_its_run",
    ),
    Mutation(
        "what a run without a span of its own does is in a trace of its own",
        "telemetry:_innermost",
        instead("here if found.is_valid and found.trace_id == of_run.trace_id else run", "run"),
        TREE,
    ),
    Mutation(
        "what a tracer raises ends a run",
        "runtime.tracing:Tracing.tell",
        instead("return None", "raise"),
        f"{TROUBLED}::test_a_tracer_that_raises_breaks_nothing_and_is_told_of_once[begin]",
    ),
    Mutation(
        "every failure of a tracer is told",
        "runtime.tracing:Tracing.tell",
        forgotten("_failed"),
        f"{TROUBLED}::test_a_tracer_that_raises_breaks_nothing_and_is_told_of_once[end]",
    ),
    Mutation(
        "whoever ends a span waits for the exporter",
        "telemetry:_Aside.do",
        instead("self._threads.submit(self._work)", "self._work()"),
        f"{TROUBLED}::test_an_exporter_that_never_returns_delays_no_run_and_no_stop",
    ),
    Mutation(
        "what waits for an exporter grows without end",
        "telemetry:_Aside.do",
        never("_MOST"),
        f"{TROUBLED}::test_what_waits_to_be_ended_does_not_grow_without_end",
    ),
    Mutation(
        "a request's own trace is not heard of",
        "telemetry:OpenTelemetry.arrived",
        gives(None),
        f"{HTTP}::test_a_run_and_a_stop_are_part_of_the_traces_of_their_requests",
    ),
    Mutation(
        "a model around a model is two requests",
        "engines.pydantic_ai.requests:_telling",
        instead("_told.set(True)", "_told.set(False)"),
        f"{MODELS}::test_a_model_around_a_model_is_one_request_and_what_falls_back_is_no_error",
    ),
    Mutation(
        "a name from outside makes another series each time",
        "runtime.counters:_among",
        instead("name in known or len(known) < MOST_NAMES", "True"),
        f"{MODELS}::test_however_many_models_and_errors_there_are_only_so_many_are_told_apart",
    ),
    Mutation(
        "a name from outside breaks what Prometheus reads",
        "server.metrics:Metric.lines",
        instead("one.translate(_ESCAPES)", "one"),
        f"{METRICS}::test_what_models_and_tools_did_is_counted_in_a_form_that_a_parser_takes",
    ),
    Mutation(
        "a store that does not answer keeps Prometheus waiting",
        "server.metrics:_stored",
        instead("_PATIENCE", "None"),
        f"{METRICS}::test_a_store_that_does_not_answer_leaves_the_rest_to_be_told[hangs]",
    ),
)
