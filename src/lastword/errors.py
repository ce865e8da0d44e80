"""Everything lastword raises on purpose.

LastwordError
├── Refused              a message was not accepted; nothing was started for it
│   ├── Busy             the session is busy and its policy is "refuse"
│   ├── QueueFull        the session's queue has reached its limit
│   ├── RuntimeClosed    the runtime has been closed
│   ├── TooDeep          too many runs, each the child of another
│   └── Undurable        the store did not take it
├── StaleRun             a stop named a run that is neither active nor waiting
├── StaleTurn            a turn was to be asked anew that is not the last any more
├── NotAllowed           the caller has no right to stop this
├── NotWaiting           the message is not waiting any more, or never was
├── UnknownSession       there is no such session
├── TicketClosed         the ticket was closed before its outcome was known
├── SlowWatcher          a watcher fell too far behind the feed and was dropped
├── ProcessError         something that has to do with processes could not be done
│   ├── SpawnFailed      a program could not be started
│   ├── NoSuchJob        nothing in the session has this id
│   └── WorkerDied       the process of an isolated tool, or of a cell, ended before it had
├── CellError            a cell could not do what it was asked; it is as it was
│   ├── AlreadyRunning   the frontier is being resumed, or was, and no newer one is there
│   ├── StaleGeneration  the frontier is not the current one any more
│   ├── FutureGeneration the cell has not reached such a frontier
│   ├── WrongCalls       the results are not for calls that the frontier waits on
│   ├── NotDelivered     the results did not reach the cell; its frontier is as it was
│   ├── NotPausable      the cell goes on by itself, and nobody else may answer its calls
│   ├── ObserverBusy     somebody else is being shown the cell's output
│   ├── UnreadableDump   what was kept of a paused cell is damaged, or of another version
│   ├── UnknownCell      the session has no such cell
│   └── CellGone         the cell has ended
├── AnswerRefused        an answer to a question was not taken, and nothing was done
│   ├── UnknownQuestion    there is no such question
│   ├── AlreadyAnswered    somebody else was first
│   ├── QuestionWithdrawn  its run was stopped, replaced or has ended
│   └── StaleAnswer        it is to what was asked at another generation
├── ExtraMissing         what was asked for needs an extra that is not installed
├── EngineFailed         an engine could not answer, and says why
├── NotAvailable         an isolated run cannot do this yet (a `NotImplementedError` as well)
├── ImpossibleMove       a machine was told something that cannot have happened
└── StoreError           a store could not do what it was asked
    ├── StaleWrite       the write belongs to an older generation than the store's
    └── OwnedElsewhere   another process has the session now (a `Refused` as well)
Superseded               (BaseException) the calling run no longer holds its session
"""

from __future__ import annotations

from collections.abc import Callable


class Named(str):
    """An id in the words of an error, which somebody may know by another name."""

    __slots__ = ()


class LastwordError(Exception):
    """Base of the errors a caller may want to handle. Its words are one text, in pieces."""

    def __str__(self) -> str:
        return self.told(str)

    def told(self, name: Callable[[str], str]) -> str:
        """Its words, with each id that is named in them as `name` has it."""
        return "".join(name(one) if isinstance(one, Named) else str(one) for one in self.args)


class Refused(LastwordError):
    """A message was not accepted, and nothing was started for it."""


class Busy(Refused):
    """The session is busy, and its policy for new messages is "refuse"."""


class QueueFull(Refused):
    """The session's queue has reached its limit."""


class RuntimeClosed(Refused):
    """The runtime has been closed; open another one."""


class TooDeep(Refused):
    """A child run would be too many levels below the person's session, so it was not started."""


class Undurable(Refused):
    """The store did not take the message, so it was not accepted."""


class StaleRun(LastwordError):
    """A stop named a run that is neither active nor waiting. Nothing was touched."""

    def __init__(self, run: str, active: str | None) -> None:
        now = ("run ", Named(active), " is") if active else ("no run is",)
        which = "run ", Named(run), " is neither active nor waiting ("
        super().__init__(*which, *now, " active), so nothing was stopped")
        self.run = run
        self.active = active


class StaleTurn(LastwordError):
    """A turn was to be asked anew, and is not the last that the model is shown. Nothing was done"""


class NotAllowed(LastwordError):
    """The caller has no right to stop what it asked to stop. Nothing was touched."""


class NotWaiting(LastwordError):
    """The message is not in the queue: its turn has come, it has ended, or it never was."""

    def __init__(self, message: str) -> None:
        super().__init__(
            f"message {message} is not waiting (its turn has come, or it has ended, or it was "
            "never accepted here), so the queue was not changed"
        )
        self.message = message


class UnknownSession(LastwordError):
    """There is no session of that name."""


class TicketClosed(LastwordError):
    """The ticket was closed before its outcome was known."""


class SlowWatcher(LastwordError):
    """A watcher fell so far behind that the feed no longer holds what it needs next."""

    def __init__(self, session: str, wanted: int, oldest: int) -> None:
        super().__init__(
            f"the feed of session {session} no longer holds event {wanted} (the oldest is "
            f"{oldest}); this watcher was dropped, the run was not slowed"
        )
        self.wanted = wanted
        self.oldest = oldest


class ProcessError(LastwordError):
    """Something that has to do with processes could not be done."""


class SpawnFailed(ProcessError):
    """A program could not be started. Nothing of it runs."""

    def __init__(self, why: str, errno: int = 0) -> None:
        super().__init__(why)
        self.errno = errno


class NoSuchJob(ProcessError):
    """Nothing in the session has this id: it never had, or what had it is long gone."""


class WorkerDied(ProcessError):
    """The process of an isolated tool, or of a cell, ended before the tool or the cell had."""


class CellError(LastwordError):
    """A cell could not do what it was asked. Nothing was done, and it is as it was."""


class AlreadyRunning(CellError):
    """The frontier is being resumed, or was, and the cell has not reached a newer one."""

    def __init__(self, cell: str, generation: int) -> None:
        now = f"frontier {generation} of cell {cell} is resumed already, or is being resumed"
        first = f"cell {cell} runs, and has reached no frontier yet"
        super().__init__(
            f"{now if generation else first}, so this resume was not applied; observe the cell to "
            "see where it stands"
        )
        self.generation = generation


class StaleGeneration(CellError):
    """A resume named a frontier that is not the current one any more."""

    def __init__(self, cell: str, asked: int, current: int) -> None:
        super().__init__(
            f"cell {cell} is past frontier {asked}, the current one is {current}, so this resume "
            "was not applied; observe the cell and answer what it waits on now"
        )
        self.asked = asked
        self.current = current


class FutureGeneration(CellError):
    """A resume named a frontier that the cell has not reached."""

    def __init__(self, cell: str, asked: int, current: int) -> None:
        now = f"the current one is {current}" if current else "it has reached none yet"
        super().__init__(
            f"cell {cell} has not reached frontier {asked} ({now}), so this resume was not applied"
        )
        self.asked = asked
        self.current = current


class WrongCalls(CellError):
    """A resume brought results for calls that the frontier does not wait on, or twice, or none."""

    def __init__(
        self, cell: str, generation: int, wrong: tuple[str, ...], pending: tuple[str, ...]
    ) -> None:
        waits = f"it waits on {', '.join(pending)}"
        why = (
            f"{', '.join(wrong)} came twice or is not what frontier {generation} waits on; {waits}"
            if wrong
            else f"there is no result for any call of frontier {generation}; {waits}"
        )
        super().__init__(f"cell {cell} was not resumed, and no result was applied: {why}")
        self.wrong = wrong
        self.pending = pending


class NotDelivered(CellError):
    """A resume did not reach the cell's program. The frontier is not consumed."""

    def __init__(self, cell: str, generation: int, why: str) -> None:
        super().__init__(
            f"cell {cell} was not resumed, and still stands at frontier {generation}: {why}; "
            "resume it again"
        )
        self.generation = generation


class NotPausable(CellError):
    """A continuing cell's calls are made at once; it can be watched, and not be resumed."""

    def __init__(self, cell: str) -> None:
        super().__init__(
            f"cell {cell} goes on by itself as its calls end, so it cannot be resumed; "
            "start a pausable cell to answer its calls"
        )


class ObserverBusy(CellError):
    """Somebody is being shown the cell's output, and it is given to one at a time."""

    def __init__(self, cell: str, observer: str) -> None:
        super().__init__(
            f"cell {cell} is being shown to {observer}, who keeps it; try again when that is over"
        )
        self.observer = observer


class UnreadableDump(CellError):
    """What was kept of a paused cell is damaged, or was kept by another version."""


class UnknownCell(CellError):
    """There is no such cell in the session."""

    def __init__(self, cell: str, session: str) -> None:
        super().__init__("session ", Named(session), f" has no cell {cell}, so nothing was done")


class CellGone(CellError):
    """The cell has ended, so it can be neither resumed nor ended again."""

    def __init__(self, cell: str, outcome: str) -> None:
        super().__init__(f"cell {cell} has ended ({outcome}), so nothing was done; start another")
        self.outcome = outcome


class ExtraMissing(LastwordError):
    """What was asked for needs an extra of lastword that is not installed."""


class EngineFailed(LastwordError):
    """An engine could not answer. A ticket's `error` is what it says, in its own words.

    The model of a later turn is told its `kind` alone, which must quote nobody: what a provider
    says of words that it refuses may have them in it.
    """

    kind = ""


class NotAvailable(LastwordError, NotImplementedError):
    """An isolated run was asked for what it cannot do yet. Nothing was done."""


class ImpossibleMove(LastwordError):
    """A machine was told something that cannot have happened. It has not changed."""


class StoreError(LastwordError):
    """A store could not do what it was asked."""


class StaleWrite(StoreError):
    """A write named a generation that its session has left behind. Nothing was written."""

    def __init__(self, session: str, held: int, current: int) -> None:
        super().__init__(
            f"session {session} is at generation {current}; a write of generation {held} came "
            "too late and was refused"
        )


class OwnedElsewhere(Refused, StoreError):
    """Another process has the session. Nothing was read into this one, and nothing written."""

    def __init__(
        self,
        session: str,
        owner: str,
        process: int = 0,
        host: str = "",
        since: float = 0.0,
        *,
        ending: bool = False,
    ) -> None:
        super().__init__(
            f"session {session} belongs to {owner}; send it there, or try again when that has ended"
        )
        self.session = session
        self.process = process  # of the owner; 0 if it is not known any more
        self.host = host
        self.since = since  # when that process opened the store, in seconds since 1970
        self.ending = ending  # it has died, and the session can be had in a moment


class AnswerRefused(LastwordError):
    """An answer was not taken, and nothing was done."""


class UnknownQuestion(AnswerRefused):
    """There is no such question, or it is long gone."""


class AlreadyAnswered(AnswerRefused):
    """Somebody else was first; the first answer holds."""


class QuestionWithdrawn(AnswerRefused):
    """The run that asked was stopped, replaced or has ended."""


class StaleAnswer(AnswerRefused):
    """The answer names another generation than the question's."""


class Superseded(BaseException):
    """The calling run has been stopped or replaced and may do nothing more.

    Raised by a gate, inside the run. It is a BaseException for the reason
    asyncio.CancelledError is one: `except Exception` in a tool must not be able
    to carry a superseded run onwards. Let it pass.
    """

    def __init__(self, run: str, held: int, current: int, what: str = "this call") -> None:
        super().__init__(
            f"run {run} holds generation {held}, but its session is at {current}; "
            f"it was stopped, replaced or has ended, so {what} was not made"
        )
        self.run = run
