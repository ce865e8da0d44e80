"""Mistakes in what is stored, and in what a stop sees off: journal, stop, owned."""

from __future__ import annotations

from tests.mutations.changes import always, dropped, forgotten, gives, never, unlocked
from tests.mutations.mutation import Mutation

ANSWERED = "tests/promise/test_answered.py"
BEFORE_THE_LOOP_KNOWS = "tests/runtime/test_before_the_loop_knows.py"
CHILDREN = "tests/promise/test_children.py"
DURABLE = "tests/promise/test_durable.py"
KEPT = "tests/promise/test_kept.py"
PROCESSES = "tests/promise/test_processes.py"
PROCESSES_SEAM = "tests/promise/test_processes_seam.py"
RESTART = "tests/promise/test_restart.py"
STOPPING = "tests/promise/test_stopping.py"
STORE_FAULTS = "tests/promise/test_store_faults.py"
TAKEN = "tests/promise/test_taken.py"
VIEW = "tests/runtime/test_view.py"

KEEPING = (
    Mutation(
        "there is never anything to commit",
        "runtime.journal:Journal._news",
        gives(False),
        f"{DURABLE}::test_a_sender_who_leaves_takes_nothing_along",
    ),
    Mutation(
        "a commit that waits is started again",
        "runtime.journal:Journal.commit",
        always("_news"),
        f"{DURABLE}::test_a_disk_that_is_full_takes_nothing_and_loses_nothing",
    ),
    Mutation(
        "commits overtake one another",
        "runtime.journal:Journal._commit",
        unlocked,
        f"{BEFORE_THE_LOOP_KNOWS}::test_one_write_of_a_session_is_under_way_at_a_time",
    ),
    Mutation(
        "what a failed commit left is lost",
        "runtime.journal:Journal._commit",
        forgotten("_pending"),
        f"{STORE_FAULTS}::test_each_call_of_a_store_may_fail_and_nothing_is_lost_or_done_twice",
    ),
    Mutation(
        "a message that was not stored is not refused",
        "runtime.journal:Journal._commit",
        dropped("_refuse"),
        f"{DURABLE}::test_a_database_that_another_program_locks_takes_nothing_until_it_is_free",
    ),
    Mutation(
        "a session that was lost is written on",
        "runtime.journal:Journal._commit",
        never("OwnedElsewhere"),
        f"{TAKEN}::test_a_stop_of_a_session_that_was_taken_promises_nothing",
    ),
    Mutation(
        "a lost session is not told as lost",
        "runtime.journal:Journal.lose",
        dropped("_lost"),
        f"{TAKEN}::test_a_run_that_writes_nothing_ends_when_its_session_was_taken",
    ),
    Mutation(
        "a stop cancels nothing",
        "runtime.stop:Settlement.begin",
        dropped("cancel"),
        f"{STOPPING}::test_the_receipt_says_what_was_ended_dropped_skipped_and_left",
    ),
    Mutation(
        "a stop leaves the children going",
        "runtime.stop:Settlement.begin",
        dropped("end"),
        f"{CHILDREN}::test_a_stop_that_the_loop_has_not_heard_of_yet_has_fenced_the_children",
    ),
    Mutation(
        "a stop does not see through what it began",
        "runtime.stop:Settlement.begin",
        dropped("start"),
        f"{STOPPING}::test_the_receipt_says_what_was_ended_dropped_skipped_and_left",
    ),
    Mutation(
        "a run that swallows a cancel is not cancelled again",
        "runtime.stop:Settlement._wait",
        dropped("cancel"),
        f"{STOPPING}::test_a_polite_ending_has_a_second_before_it_is_cancelled_again[1.5-2]",
    ),
    Mutation(
        "a stop does not wait for what an earlier one left",
        "runtime.stop:Settlement._settle",
        never("_previous"),
        f"{STOPPING}::test_a_stop_after_a_new_message_is_a_new_stop_that_names_what_still_dies",
    ),
    Mutation(
        "a receipt is not told",
        "runtime.stop:Settlement._tell",
        dropped("publish"),
        f"{TAKEN}::test_a_run_that_writes_nothing_ends_when_its_session_was_taken",
    ),
    Mutation(
        "a receipt is not in the log",
        "runtime.stop:Settlement._account",
        never("_silent"),
        f"{ANSWERED}::test_a_receipt_that_says_durable_is_in_the_log_when_it_is_answered[stop]",
    ),
    Mutation(
        "nobody hears that all has ended",
        "runtime.stop:Settlement._finish",
        dropped("settled"),
        f"{CHILDREN}::test_a_stop_fences_three_levels_of_children_in_one_instant",
    ),
    Mutation(
        "a stop that asks itself waits for itself",
        "runtime.stop:Settlement.includes",
        gives(False),
        f"{STOPPING}::test_a_run_that_stops_itself_is_answered_at_the_fence",
    ),
    Mutation(
        "a lost session is told as quiet",
        "runtime.stop:Settlement.receipt",
        never("lost", nth=0),
        f"{TAKEN}::test_a_run_that_writes_nothing_ends_when_its_session_was_taken",
    ),
    Mutation(
        "a process starts although the hold is gone",
        "runtime.owned:Owned._begin",
        never("begin"),
        f"{BEFORE_THE_LOOP_KNOWS}::test_a_process_that_is_asked_for_before_and_would_start_then_does_not",
    ),
    Mutation(
        "a fenced run asks for a process and is not refused",
        "runtime.owned:Owned._may_begin",
        never("granted"),
        f"{PROCESSES}::test_nothing_is_started_once_the_run_has_lost_its_session",
    ),
    Mutation(
        "a process does not wait for those of the run before",
        "runtime.owned:Owned._may_begin",
        dropped("clear"),
        f"{PROCESSES_SEAM}::test_the_first_process_of_a_new_run_waits_for_those_of_the_old",
    ),
    Mutation(
        "a warden that opens after the stop is not ended",
        "runtime.active_run:ActiveRun.end_processes",
        forgotten("closed"),
        f"{PROCESSES_SEAM}::test_a_warden_that_arrives_after_the_stop_is_ended",
    ),
    Mutation(
        "the longest grace is forgotten",
        "runtime.owned:Owned._warden",
        forgotten("_grace"),
        f"{PROCESSES}::test_a_process_that_obeys_is_not_waited_for_any_longer_than_it_takes",
    ),
    Mutation(
        "a process that is kept belongs to the run too",
        "runtime.owned:Owned.spawn",
        dropped("remove"),
        f"{PROCESSES}::test_the_receipt_lists_processes_by_what_became_of_them",
    ),
    Mutation(
        "a process that is kept is not listed",
        "runtime.owned:Owned.spawn",
        dropped("append"),
        f"{PROCESSES}::test_the_receipt_lists_processes_by_what_became_of_them",
    ),
    Mutation(
        "a kept process that has ended is listed",
        "runtime.owned:_forget",
        dropped("remove"),
        f"{KEPT}::test_a_kept_process_outlives_the_stop_and_is_listed",
    ),
    Mutation(
        "a stalled loop keeps processes alive",
        "runtime.owned:Owned.end_from_any_thread",
        dropped("stop_from_any_thread"),
        f"{PROCESSES_SEAM}::test_stop_soon_ends_the_processes_of_children_on_a_stalled_loop_too",
    ),
    Mutation(
        "nobody waits for processes",
        "runtime.owned:Owned.gone",
        gives(None),
        f"{PROCESSES}::test_a_process_that_will_not_end_is_gone_by_the_deadline[sealed]",
    ),
    Mutation(
        "a process is not told of",
        "runtime.owned:Owned._start",
        dropped("tell"),
        f"{VIEW}::test_a_process_is_told_of_from_its_start_to_its_end",
    ),
)
