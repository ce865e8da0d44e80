"""Ways to break the machine, each of which the explorer has to find.

A mutation is a module of core, a text that occurs in it exactly once, and the text that takes its
place. Each stands for a mistake that somebody could make, and names it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutation:
    """One mistake."""

    name: str
    old: str
    new: str
    module: str = "session"
    found: str = "every policy"  # the exploration that has to find it, named as in `bounds.py`


MUTATIONS = (
    Mutation(
        "a start does not move the generation",
        "self._advance()\n        self.active, self.started = turn",
        "self.active, self.started = turn",
    ),
    Mutation(
        "losing the session does not move the generation",
        "self._advance()\n        self.active, self.started = None",
        "self.active, self.started = None",
    ),
    Mutation(
        "an idle stop moves the generation",
        "return []  # an idle",
        "return self._advance() or []  # an idle",
    ),
    Mutation(
        "an idle stop hushes what comes next",
        "            return []  # an idle stop must not touch the next message",
        "            self.hushed = True\n            return []",
    ),
    Mutation(
        "a stop leaves its run in place",
        "self._vacate()\n            self.fenced",
        "self._advance()\n            self.fenced",
    ),
    Mutation(
        "a stop forgets the steering",
        "*self.steering, *turns(self.waiting)))\n        kept",
        "*turns(self.waiting)))\n        kept",
    ),
    Mutation(
        "a stop drops the steering silently",
        "for turn in ended:",
        "for turn in (t for t in ended if t not in self.steering):",
    ),
    Mutation(
        "a stop forgets the queue",
        "*self.steering, *turns(self.waiting)))\n        kept",
        "*self.steering))\n        kept",
    ),
    Mutation("a stop spares what waits for a person", " and (keep or not self.waiting)", ""),
    Mutation(
        "a stop that keeps the queue does not hold it",
        "Waiting(w.turn, held=True) if w.turn in kept",
        "Waiting(w.turn) if w.turn in kept",
        found="every reason",
    ),
    Mutation(
        "a shutdown keeps the queue", " and reason is Reason.STOPPED", "", found="every reason"
    ),
    Mutation(
        "the paused are not named",
        "*(Pause(turn) for turn in kept), *self._handoff()]",
        "*self._handoff()]",
        found="every reason",
    ),
    Mutation(
        "a stop does not hush the timers",
        "self.hushed, self.speaking = True,",
        "_, self.speaking = True,",
    ),
    Mutation(
        "a stop does not clear who speaks",
        "self.hushed, self.speaking = True,",
        "self.hushed, _ = True,",
    ),
    Mutation(
        "a shutdown hushes the timers",
        "if reason is Reason.STOPPED:",
        "if reason:",
        found="every reason",
    ),
    Mutation(
        "a stop that finds nothing active does not move the generation",
        "if self.active is None or self.active in ended:",
        "if self.active in ended:",
    ),
    Mutation(
        "the next turn ignores that it is held",
        "free = [w for w in self.waiting if not w.held]",
        "free = list(self.waiting)",
    ),
    Mutation(
        "the next turn starts over the active one",
        "self.active is not None or not free",
        "not free",
    ),
    Mutation("the next turn does not wait for its window", " or free[0].due is not None", ""),
    Mutation(
        "the last of the queue starts first",
        "free = [w for w in self.waiting",
        "free = [w for w in self.waiting[::-1]",
    ),
    Mutation("a turn starts before it is stored", " or self.storing & ids(self.active)", ""),
    Mutation(
        "a run takes steering that is not stored",
        "tuple(takewhile(lambda turn: not self.storing & ids(turn), self.steering))",
        "self.steering",
    ),
    Mutation(
        "a run takes steering past one that is not stored", "takewhile(lambda", "filter(lambda"
    ),
    Mutation("steering is taken and forgotten", "self.active = merged((self.active, *taken))", ""),
    Mutation("steering is joined twice", "self.steering = self.steering[len(taken) :]", ""),
    Mutation("a takeover forgets the queue", "(*self.steering, *queue)))", "self.steering))"),
    Mutation(
        "a takeover drops what was to be kept",
        "if not (w.held or follow))",
        "if not w.held)",
        found="every reason",
    ),
    Mutation(
        "a takeover drops what waits for the person",
        "if not (w.held or follow))",
        "if w.held or not follow)",
        found="four messages",
    ),
    Mutation(
        "a takeover leaves a window open",
        "replace(w, due=None) for w in self.waiting)  # it follows at once",
        "w for w in self.waiting)",
        found="the clock",
    ),
    Mutation(
        "a takeover ends nothing",
        'in {"takeover", "rollback"} and self.busy',
        'in {"rollback"} and self.busy',
    ),
    Mutation("a rollback is a plain takeover", 'policy == "rollback", event', "False, event"),
    Mutation("a timer takes over", 'theirs and event.message.origin == "person"', "theirs"),
    Mutation(
        "a person's word does not release what waits", "if message in self.speaking:", "if False:"
    ),
    Mutation(
        "a queued word does not release what waits",
        '"person" and self.hushed:\n',
        '"person" and self.hushed and not waits:\n',
    ),
    Mutation(
        "a timer's word releases what waits",
        'event.message.origin == "person" and self.hushed',
        "self.hushed",
    ),
    Mutation(
        "the hush is lifted before the word is stored",
        "self.speaking |= {event.message.id}",
        "self._release()",
    ),
    Mutation(
        "a release does not end the hush",
        "self.hushed, self.speaking = False,",
        "_, self.speaking = False,",
    ),
    Mutation("a release leaves what waits held", "replace(w, held=False)", "w"),
    Mutation(
        "a resume starts nothing",
        "        self._release()\n        return self._handoff()",
        "        self._release()\n        return []",
    ),
    Mutation(
        "the end of a run is followed by nothing",
        "started=True), *self._handoff()]\n",
        "started=True)]\n",
    ),
    Mutation(
        "steering that came too late waits behind the queue",
        "(Waiting(merged(self.steering)), *self.waiting)",
        "(*self.waiting, Waiting(merged(self.steering)))",
    ),
    Mutation(
        "only the first of the late steering is the next turn",
        "Waiting(merged(self.steering))",
        "Waiting(self.steering[0])",
    ),
    Mutation(
        "a failed store leaves its steering behind",
        "_vacate()\n                self._steering_is_next()",
        "_vacate()",
    ),
    Mutation(
        "a failed store leaves the message in the queue",
        "        self.waiting = queue_without(self.waiting, message)\n        if self.active and",
        "        if self.active and",
    ),
    Mutation(
        "a failed store is followed by nothing",
        "                self._steering_is_next()\n"
        "        return [*self._ready(), *self._handoff()]",
        "                self._steering_is_next()\n        return self._ready()",
    ),
    Mutation(
        "a stored message does not start",
        "            self._release()\n        return [*self._ready(), *self._handoff()]",
        "            self._release()\n        return self._handoff()",
    ),
    Mutation(
        "a stored word is followed by nothing",
        "            self._release()\n        return [*self._ready(), *self._handoff()]",
        "            self._release()\n        return self._ready()",
        found="four messages",
    ),
    Mutation("the dying are not remembered", "            self.dying |= {self.active.run}\n", ""),
    Mutation("the dying die for ever", "            self.dying -= {run}\n", ""),
    Mutation("what held the session is forgotten", "held, held))", "held))"),
    Mutation(
        "a run is cancelled that never started",
        "in ended and self.started:",
        "in ended and self.active:",
    ),
    Mutation(
        "a stop by run id ends the queue too",
        "*self._stoppable(by, self.steering))",
        "*self._stoppable(by, (*self.steering, *turns(self.waiting))))",
    ),
    Mutation(
        "a stop by run id is the end of the queue",
        "[*self._cancel(reason, ended), *self._handoff()]",
        "self._cancel(reason, ended)",
    ),
    Mutation(
        "a stop by run id leaves the withdrawn turn in the queue",
        "self.waiting = tuple(w for w in self.waiting if w.turn is not turn)",
        "",
    ),
    Mutation(
        "a stale stop is taken for an idle one",
        "raise StaleRun(run, self.active.run if self.active else None)",
        "return []",
    ),
    Mutation(
        "a stop needs no right",
        "theirs = self._must_be_allowed(by, (*",
        "theirs = self._stoppable(by, (*",
        found="rights",
    ),
    Mutation(
        "a stop without rights ends what others began",
        "theirs = self._must_be_allowed(by",
        "theirs = self._must_be_allowed(None",
        found="rights",
    ),
    Mutation("nobody owns a turn", " or whose == by", "", found="rights"),
    Mutation("everybody owns a turn", " or whose == by", " or True", found="rights"),
    Mutation(
        "the stoppers have no right",
        "allowed is None or by in allowed",
        "allowed is None",
        found="rights",
    ),
    Mutation(
        "a stop by run id needs no right",
        "self._must_be_allowed(by, (self.active,))",
        "",
        found="rights",
    ),
    Mutation(
        "a stop by run id ends others' steering",
        "*self._stoppable(by, self.steering))",
        "*self.steering)",
        found="rights",
    ),
    Mutation(
        "others' steering is lost with its run",
        "tuple(turn for turn in self.steering if turn not in ended)",
        "()",
        found="rights",
    ),
    Mutation(
        "a stop moves the generation under somebody else's run",
        "        return orders\n\n    def _stoppable",
        "        else:\n            self._advance()\n        return orders\n\n    def _stoppable",
        found="rights",
    ),
    Mutation(
        "a stop beside somebody else's run hushes",
        "            if reason is Reason.STOPPED:\n",
        "        if reason is Reason.STOPPED:\n",
        found="rights",
    ),
    Mutation(
        "a stop holds what others queued",
        "if w.turn in kept else w",
        "if keep else w",
        found="rights",
    ),
    Mutation(
        "what a stop left of others is followed by nothing",
        " for turn in kept), *self._handoff()]",
        " for turn in kept)]",
        found="rights",
    ),
    Mutation(
        "rights are asked for after the deed",
        "                self._must_be_allowed(by, (turn,))\n"
        "                self.steering = tuple(t for t in self.steering if t is not turn)\n",
        "                self.steering = tuple(t for t in self.steering if t is not turn)\n"
        "                self._must_be_allowed(by, (turn,))\n",
        found="rights",
    ),
    Mutation(
        "a takeover needs no right",
        "theirs and event.message.origin",
        "event.message.origin",
        found="rights",
    ),
    Mutation(
        "a takeover drops what others queued",
        "*self._stoppable(by, (*self.steering, *queue)))",
        "*self._stoppable(by, self.steering), *queue)",
        found="rights",
    ),
    Mutation(
        "anyone may edit",
        "self._must_be_allowed(by, (Turn(turn.run, (message,)),))",
        "",
        found="rights",
    ),
    Mutation(
        "a full queue takes one more",
        "self.waiting) >= self",
        "self.waiting) > self",
        found="the limit",
    ),
    Mutation(
        "steering takes no place",
        "for turn in (*steering, *turns(queue)))",
        "for turn in turns(queue))",
        module="queue",
        found="the limit",
    ),
    Mutation(
        "refuse is deaf to a queue that waits", '"refuse" and self.busy', '"refuse" and self.active'
    ),
    Mutation("the same message is accepted twice", "message.id in self.storing or find", "find"),
    Mutation("the window never hears the clock", "w.due <= at", "w.due < at", module="queue"),
    Mutation(
        "a closed window is followed by nothing",
        "reached(self.waiting, at)\n        return self._handoff()",
        "reached(self.waiting, at)\n        return []",
    ),
    Mutation(
        "a window has no longest time",
        "min(at + quiet, window.since + longest)",
        "at + quiet",
        "queue",
        found="the clock",
    ),
    Mutation(
        "a window forgets when it opened",
        "Waiting(turn, since=at)",
        "Waiting(turn)",
        "queue",
        found="the clock",
    ),
    Mutation(
        "messages change places when turns are merged",
        "for turn in several for m",
        "for turn in reversed(several) for m",
        "queue",
    ),
    Mutation(
        "a turn without messages stays in the queue",
        "for turn in rest if turn.messages)",
        "for turn in rest)",
        "queue",
    ),
    Mutation(
        "an edit changes every message of its turn",
        "new if m.id == new.id else m for m in t.messages",
        "replace(m, text=new.text) for m in t.messages",
        "queue",
        found="the queue",
    ),
)
