"""Mistakes in what goes on under an id: jobs, news, input."""

from __future__ import annotations

from tests.mutations.changes import dropped, gives, without
from tests.mutations.mutation import Mutation

JOBS = "tests/agent/test_shell_jobs.py"
STOPPED = f"{JOBS}::test_a_run_that_was_stopped_does_nothing_to_what_it_had_going"
LATER = f"{JOBS}::test_a_later_process_tells_the_model_of_what_has_ended_with_the_one_before"

GOING_ON = (
    Mutation(
        "a stopped run reads what goes on",
        "runtime.jobs:Job._may_be_read",
        dropped("must_hold"),
        STOPPED,
    ),
    Mutation(
        "a pipe that a run writes to is given more room",
        "processes.input:Input._write",
        without("the_owner"),
        f"{JOBS}::test_what_was_written_and_not_read_when_the_run_was_stopped_is_never_read",
    ),
    Mutation(
        "of the end of what goes on nobody is told",
        "runtime.jobs:Job.has_ended",
        gives(None),
        LATER,
    ),
    Mutation(
        "what outlives its run is not noted",
        "runtime.announcer:Announcer.goes_on",
        gives(None),
        LATER,
    ),
    Mutation(
        "what has ended stays noted", "runtime.announcer:Announcer.ended", dropped("pop"), LATER
    ),
)
