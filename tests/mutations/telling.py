"""Mistakes in what leaves for who watches: streams over HTTP, lines to an editor."""

from __future__ import annotations

from tests.mutations.changes import always, dropped, forgotten, never, without
from tests.mutations.mutation import Mutation

EVENTS = "tests/server/test_events.py"
OUTBOX = "tests/acp/test_outbox.py"
OUTBOX_ROOM = "tests/acp/test_outbox_room.py"
WATCHERS = "tests/server/test_watchers.py"

TELLING = (
    Mutation(
        "what a stop has fenced leaves all the same",
        "server.hub:Hub._made",
        never("fenced"),
        f"{EVENTS}::test_who_comes_back_with_an_id_gets_exactly_what_followed_it",
    ),
    Mutation(
        "what was missed is not told",
        "server.hub:Hub._record",
        always("told"),
        f"{EVENTS}::test_who_comes_back_with_an_id_gets_exactly_what_followed_it",
    ),
    Mutation(
        "an id of another life is taken for one of this",
        "server.hub:Hub.number_of",
        without("epoch"),
        f"{EVENTS}::test_an_id_that_the_server_does_not_know_is_answered_with_a_snapshot",
    ),
    Mutation(
        "what was fenced is told as if it were happening",
        "server.hub:Hub._take",
        never("is_live"),
        f"{EVENTS}::test_who_comes_back_with_an_id_gets_exactly_what_followed_it",
    ),
    Mutation(
        "a picture that has grown long is shown whole to who comes",
        "server.hub:Hub.picture",
        never("alone"),
        f"{EVENTS}::test_a_snapshot_is_bounded_and_the_rest_is_in_the_log",
    ),
    Mutation(
        "a stream that nobody reads is never ended",
        "server.streams:Watcher.beat",
        never("stalled"),
        f"{WATCHERS}::test_a_server_that_does_not_tell_of_its_sockets_lets_go_of_who_takes_nothing",
    ),
    Mutation(
        "a stream shows no sign of life",
        "server.streams:Watcher.beat",
        forgotten("_due"),
        f"{EVENTS}::test_a_stream_on_which_nothing_happens_shows_that_it_lives",
    ),
    Mutation(
        "a slow watcher holds up the others",
        "server.streams:Watcher.tell",
        never("_paused"),
        f"{WATCHERS}::test_a_slow_watcher_is_dropped_and_no_run_waits_for_it",
    ),
    Mutation(
        "a stream that is over is left open",
        "server.streams:Watcher._news",
        never("over"),
        f"{EVENTS}::test_the_ids_of_a_deleted_session_are_not_taken_for_those_of_its_successor",
    ),
    Mutation(
        "a deleted session is watched on",
        "server.streams:Streams.hub",
        always("hub"),
        f"{EVENTS}::test_whoever_comes_at_any_moment_sees_what_the_log_says",
    ),
    Mutation(
        "what a fenced run said leaves",
        "acp.outbox:Outbox._next",
        always("still"),
        f"{OUTBOX}::test_what_waits_when_a_run_loses_its_session_never_leaves_and_no_line_is_broken",
    ),
    Mutation(
        "what is dropped takes room for ever",
        "acp.outbox:Outbox._next",
        forgotten("_size"),
        f"{OUTBOX_ROOM}::test_what_was_dropped_takes_no_room",
    ),
    Mutation(
        "a reader that has gone is written to",
        "acp.outbox:Outbox._flush",
        dropped("_give_up"),
        f"{OUTBOX}::test_a_reader_that_has_gone_is_noticed_as_something_is_written",
    ),
    Mutation(
        "what waits for room is never sent",
        "acp.outbox:Outbox._flush",
        dropped("add_writer"),
        f"{OUTBOX_ROOM}::test_who_speaks_waits_until_who_reads_has_read",
    ),
    Mutation(
        "what has left takes room for ever",
        "acp.outbox:Outbox._flush",
        forgotten("_size"),
        f"{OUTBOX_ROOM}::test_who_speaks_waits_until_who_reads_has_read",
    ),
    Mutation(
        "whoever waits for room is not told of it",
        "acp.outbox:Outbox._flush",
        dropped("set"),
        f"{OUTBOX_ROOM}::test_who_speaks_waits_until_who_reads_has_read",
    ),
    Mutation(
        "who speaks never waits for the reader",
        "acp.outbox:Outbox.send",
        never("_FULL"),
        f"{OUTBOX_ROOM}::test_who_speaks_waits_until_who_reads_has_read",
    ),
    Mutation(
        "nobody is told that the reader has gone",
        "acp.outbox:Outbox._give_up",
        dropped("on_gone"),
        f"{OUTBOX}::test_a_reader_that_has_gone_is_noticed_though_nothing_is_written",
    ),
    Mutation(
        "the descriptor is given back changed",
        "acp.outbox:Outbox.close",
        dropped("set_blocking"),
        f"{OUTBOX_ROOM}::test_when_it_is_over_the_descriptor_is_as_it_was_given",
    ),
    Mutation(
        "a writer stays registered",
        "acp.outbox:Outbox._unwatch",
        dropped("remove_writer"),
        f"{OUTBOX_ROOM}::test_when_it_is_over_the_descriptor_is_as_it_was_given",
    ),
    Mutation(
        "the end waits for nothing to leave",
        "acp.outbox:Outbox.empty",
        never("_size"),
        f"{OUTBOX_ROOM}::test_the_end_waits_until_all_has_left",
    ),
    Mutation(
        "answers wait as early as words",
        "acp.outbox:Outbox.some_room",
        always("_OVERFULL"),
        f"{OUTBOX_ROOM}::test_an_answer_has_room_where_words_have_to_wait",
    ),
    Mutation(
        "a reader that has gone is not noticed while nothing is written",
        "acp.outbox:Outbox.__init__",
        dropped("add_reader"),
        f"{OUTBOX}::test_a_reader_that_has_gone_is_noticed_though_nothing_is_written",
    ),
)
