"""Mistakes in whose something is: a turn, and a program that outlives its run."""

from __future__ import annotations

from tests.mutations.changes import dropped, gives, instead
from tests.mutations.mutation import Mutation

BACKLOG = "tests/promise/test_backlog.py"
SHELF = "tests/runtime/test_shelf.py"
PROGRAM = "tests/cells/test_whose_program.py"

WHOSE = (
    Mutation(
        "a stop freezes whatever stands",
        "runtime.seat:Move.freezes",
        gives(True),
        f"{PROGRAM}::test_a_stop_freezes_what_is_theirs_and_its_receipt_names_that_alone",
    ),
    Mutation(
        "a program that comes between a fence and the loop outlives its run's stop",
        "runtime.seat:Move.freezes",
        instead("cell.run == run and reason.freezes", "False"),
        f"{SHELF}::test_a_cell_that_comes_between_a_fence_and_the_loop_is_frozen_with_its_run",
    ),
    Mutation(
        "the machine is not told of a program that begins",
        "runtime.session_cells:SessionCells.put",
        dropped("_changed"),
        f"{PROGRAM}::test_who_may_stop_what_others_asked_for_freezes_everything",
    ),
    Mutation(
        "the machine is not told of the programs that were found",
        "runtime.session_cells:SessionCells.found",
        dropped("_changed"),
        f"{PROGRAM}::test_whose_a_program_is_outlives_the_process",
    ),
    Mutation(
        "the machine is not told of a program that has ended",
        "runtime.session_cells:SessionCells.leave",
        dropped("_changed"),
        f"{PROGRAM}::test_a_stranger_s_stop_of_an_idle_session_is_refused_and_her_program_stands",
    ),
    Mutation(
        "the machine is not told for whom a program works now",
        "cells.cell_run:CellRun._work_for",
        dropped("put"),
        f"{PROGRAM}::test_whoever_answers_a_program_has_it_work_for_them",
    ),
    Mutation(
        "a program stays theirs who began it, whoever's run it works for",
        "cells.cell_run:CellRun._work_for",
        instead("replace(self._about, run=run.id, by=run.by)", "replace(self._about, run=run.id)"),
        f"{PROGRAM}::test_whoever_answers_a_program_has_it_work_for_them",
    ),
    Mutation(
        "a turn is whose its first message is, if that is a timer's, too",
        "core.model:Turn.by",
        instead("self.leading.by", "self.messages[0].by"),
        f"{BACKLOG}::test_a_backlog_that_a_timer_leads_is_the_first_person_s",
    ),
    Mutation(
        "who joins a timer's run makes it theirs",
        "core.model:Turn.leading",
        instead("self.messages[:max(len(self.messages) - len(self.also), 1)]", "self.messages"),
        f"{BACKLOG}::test_who_steers_a_timer_s_run_does_not_make_it_theirs",
    ),
)
