"""Ways to break the machine of a session, each of which the explorer has to find.

A mutation is a function and a change in it, in the words of `tests/mutations/changes.py`, so that
what happens elsewhere does not touch it, and one that no longer says what it meant is an error.
Each stands for a mistake that somebody could make, and names it.
"""

from __future__ import annotations

import ast

from tests.mutations.changes import Change, compared, dropped, forgotten, instead, never, without
from tests.mutations.mutation import Mutation


def session(name: str, function: str, change: Change, found: str = "every policy") -> Mutation:
    """A mistake, and the exploration that has to find it, named as in `bounds.py`."""
    return Mutation(name, f"core.session:SessionMachine.{function}", change, found)


def queue(name: str, function: str, change: Change, found: str = "every policy") -> Mutation:
    return Mutation(name, f"core.queue:{function}", change, found)


def rights(name: str, function: str, change: Change, found: str = "rights") -> Mutation:
    return Mutation(name, f"core.rights:Rights.{function}", change, found)


MUTATIONS = (
    session("a start does not move the generation", "_occupy", dropped("_advance")),
    session("losing the session does not move the generation", "_vacate", dropped("_advance")),
    session(
        "an idle stop moves the generation",
        "_stop",
        instead("return orders", "return self._advance() or orders"),
    ),
    session(
        "an idle stop hushes what comes next",
        "_stop",
        instead("return orders", "self.hushed = True\nreturn orders"),
    ),
    session("a stop leaves its run in place", "_cancel", instead("self._vacate", "self._advance")),
    session(
        "a stop forgets the steering",
        "_stop",
        instead("self._here()", "(*self._active(), *turns(self.waiting))"),
    ),
    session(
        "a stop drops the steering silently",
        "_cancel",
        instead(
            "held = turn is self.active",
            "held = turn is self.active\nif turn in self.steering:\n    continue",
        ),
    ),
    session(
        "a stop forgets the queue",
        "_stop",
        instead("self._here()", "(*self._active(), *self.steering)"),
    ),
    session(
        "a stop spares what waits for a person",
        "_stop",
        instead("self.busy or not keep", "self.busy"),
    ),
    session(
        "a stop that keeps the queue does not hold it",
        "_stop",
        instead("Waiting(w.turn, held=True)", "Waiting(w.turn)"),
        "every reason",
    ),
    session("a shutdown keeps the queue", "_stop", without("reason"), "every reason"),
    session(
        "the paused are not named",
        "_stop",
        instead(
            "[*orders, *(Pause(turn) for turn in kept), *self._handoff()]",
            "[*orders, *self._handoff()]",
        ),
        "every reason",
    ),
    session(
        "a stop does not hush the timers",
        "_cancel",
        instead(
            "self.hushed, self.speaking = True, frozenset()", "_, self.speaking = True, frozenset()"
        ),
    ),
    session(
        "a stop does not clear who speaks",
        "_cancel",
        instead(
            "self.hushed, self.speaking = True, frozenset()", "self.hushed, _ = True, frozenset()"
        ),
    ),
    session(
        "a shutdown hushes the timers",
        "_cancel",
        instead("reason is Reason.STOPPED", "reason"),
        "every reason",
    ),
    session(
        "a stop that finds nothing active does not move the generation",
        "_cancel",
        instead("self.active is None or self.active in ended", "self.active in ended"),
    ),
    session(
        "the next turn ignores that it is held",
        "_handoff",
        instead("[w for w in self.waiting if not w.held]", "list(self.waiting)"),
    ),
    session("the next turn starts over the active one", "_handoff", without("active")),
    session("the next turn does not wait for its window", "_handoff", without("due")),
    session(
        "the last of the queue starts first",
        "_handoff",
        instead(
            "[w for w in self.waiting if not w.held]",
            "[w for w in self.waiting[::-1] if not w.held]",
        ),
    ),
    session("a turn starts before it is stored", "_ready", without("storing")),
    session(
        "a run takes steering that is not stored",
        "_take_steering",
        instead(
            "tuple(takewhile(lambda turn: not self.storing & ids(turn), self.steering))",
            "self.steering",
        ),
    ),
    session(
        "a run takes steering past one that is not stored",
        "_take_steering",
        instead("takewhile", "filter"),
    ),
    session("steering is taken and forgotten", "_take_steering", forgotten("active")),
    session("steering is joined twice", "_take_steering", forgotten("steering")),
    session(
        "a takeover forgets the queue",
        "_supersede",
        instead("(*self.steering, *queue)", "self.steering"),
    ),
    session(
        "a takeover drops what was to be kept", "_supersede", without("follow"), "every reason"
    ),
    session(
        "a takeover drops what waits for the person",
        "_supersede",
        instead("not (w.held or follow)", "w.held or not follow"),
        "four messages",
    ),
    session(
        "a takeover leaves a window open",
        "_supersede",
        instead("replace(w, due=None)", "w"),
        "the clock",
    ),
    session(
        "a takeover ends nothing", "_accept", instead('{"takeover", "rollback"}', '{"rollback"}')
    ),
    session("a rollback is a plain takeover", "_accept", instead('policy == "rollback"', "False")),
    session("a timer takes over", "_policy", without("origin")),
    session("a person's word does not release what waits", "_stored", never("speaking")),
    session(
        "a queued word does not release what waits",
        "_accept",
        instead(
            '{one.id for one in turn.messages if one.origin == "person"}',
            '{one.id for one in turn.messages if one.origin == "person" and not waits}',
        ),
    ),
    session(
        "a timer's word releases what waits",
        "_accept",
        instead('{one.id for one in turn.messages if one.origin == "person"}', "ids(turn)"),
    ),
    session(
        "the hush is lifted before the word is stored",
        "_accept",
        instead(
            'self.speaking |= {one.id for one in turn.messages if one.origin == "person"}',
            "self._release()",
        ),
    ),
    session(
        "a release does not end the hush",
        "_release",
        instead(
            "self.hushed, self.speaking = False, frozenset()",
            "_, self.speaking = False, frozenset()",
        ),
    ),
    session("a release leaves what waits held", "_release", instead("replace(w, held=False)", "w")),
    session("a resume starts nothing", "_resume", instead("self._handoff()", "[]")),
    session(
        "the end of a run is followed by nothing",
        "_ended",
        instead(
            "[*again, End(ended, outcome, started=True), *self._handoff()]",
            "[*again, End(ended, outcome, started=True)]",
        ),
    ),
    session(
        "steering that came too late waits behind the queue",
        "_steering_is_next",
        instead(
            "(Waiting(merged(self.steering)), *self.waiting)",
            "(*self.waiting, Waiting(merged(self.steering)))",
        ),
    ),
    session(
        "only the first of the late steering is the next turn",
        "_steering_is_next",
        instead("merged(self.steering)", "self.steering[0]"),
    ),
    session(
        "a failed store leaves its steering behind", "_store_failed", dropped("_steering_is_next")
    ),
    session(
        "a failed store leaves the message in the queue", "_store_failed", forgotten("waiting")
    ),
    session(
        "a failed store is followed by nothing",
        "_store_failed",
        instead("[*self._ready(), *self._handoff()]", "self._ready()"),
    ),
    session(
        "a stored message does not start",
        "_stored",
        instead("[*self._ready(), *self._handoff()]", "self._handoff()"),
    ),
    session(
        "a stored word is followed by nothing",
        "_stored",
        instead("[*self._ready(), *self._handoff()]", "self._ready()"),
        "four messages",
    ),
    session("the dying are not remembered", "_cancel", forgotten("dying")),
    session("the dying die for ever", "_ended", forgotten("dying")),
    session(
        "what held the session is forgotten",
        "_cancel",
        instead(
            "End(turn, reason.outcome, held and self.started, rollback and held, held)",
            "End(turn, reason.outcome, held and self.started, rollback and held)",
        ),
    ),
    session(
        "a run is cancelled that never started",
        "_cancel",
        instead("self.active in ended and self.started", "self.active in ended and self.active"),
    ),
    session(
        "a stop by run id ends the queue too",
        "_stop_run",
        instead(
            "self.rights.stoppable(by, self.steering)",
            "self.rights.stoppable(by, (*self.steering, *turns(self.waiting)))",
        ),
    ),
    session(
        "a stop by run id is the end of the queue",
        "_stop_run",
        instead("[*self._cancel(reason, ended), *self._handoff()]", "self._cancel(reason, ended)"),
    ),
    session(
        "a stop by run id leaves the withdrawn turn in the queue", "_stop_run", forgotten("waiting")
    ),
    session(
        "a stale stop is taken for an idle one",
        "_stop_run",
        instead("raise StaleRun(run, self.active.run if self.active else None)", "return []"),
    ),
    session(
        "a full queue takes one more",
        "_accept",
        instead("there > self.settings.queue_limit", "there > self.settings.queue_limit + 1"),
        "the limit",
    ),
    queue(
        "steering takes no place",
        "places",
        instead("(*steering, *turns(queue))", "turns(queue)"),
        "the limit",
    ),
    session(
        "refuse is deaf to a queue that waits",
        "_accept",
        instead('policy == "refuse" and self.busy', 'policy == "refuse" and self.active'),
    ),
    queue("the same message is accepted twice", "must_be_new", without("storing")),
    queue("the window never hears the clock", "reached", compared("at", ast.Lt)),
    session("a closed window is followed by nothing", "_clock", instead("self._handoff()", "[]")),
    queue(
        "a window has no longest time",
        "collected",
        instead(
            "min(at + settings.quiet_window, window.since + settings.longest_window)",
            "at + settings.quiet_window",
        ),
        "the clock",
    ),
    queue(
        "a window forgets when it opened",
        "collected",
        instead("Waiting(turn, since=at)", "Waiting(turn)"),
        "the clock",
    ),
    queue(
        "messages change places when turns are merged",
        "merged",
        instead(
            "(m for turn in several for m in turn.messages)",
            "(m for turn in reversed(several) for m in turn.messages)",
        ),
    ),
    queue(
        "a turn without messages stays in the queue",
        "_less",
        instead("return ()", "return (replace(turn, messages=()),)"),
    ),
    queue(
        "an edit changes every message of its turn",
        "edited",
        instead("new if m.id == new.id else m", "replace(m, text=new.text)"),
        "the queue",
    ),
)
