"""An engine whose runs live in processes of their own.

The run's words, calls and requests come over a line, and each is begun here, behind the run's own
hold, as if its engine were here too; its process only does the work. A stop shuts its page in the
instant in which the generation moves, asks the process to leave, and has the warden end it with
all that it started: so nothing of it, a thread or a daemon of its own included, outlives the stop.
"""

from __future__ import annotations

from collections.abc import Mapping

from lastword.engines.isolated.desk import Desk
from lastword.engines.isolated.kept import KeptWorkers
from lastword.engines.isolated.line import Nonsense
from lastword.engines.isolated.pool import Pool
from lastword.engines.isolated.requests import Offers, Service
from lastword.engines.isolated.worker import INSIDE, RunWorker
from lastword.errors import LastwordError, ProcessError, WorkerDied
from lastword.processes import Processes, ProcessLimits
from lastword.processes.nursery import Home, Nursery
from lastword.processes.served import as_here
from lastword.runtime.adopting import Adopted
from lastword.runtime.checks import must_be_count, must_be_text
from lastword.runtime.fence import is_async
from lastword.runtime.run import Engine, Run

_TRIES = 3
_LONGEST = 200  # letters of a name that a run's process says


class Isolated:
    """`Runtime(Isolated("shop.agent:engine"))`: each run of it in a process of its own.

    The name is `module:engine` or, for what has to be made in each process (a client with open
    connections, a database, a thread), `module:make`, a function without parameters that gives the
    engine. `warm` processes are ready ahead; `most` runs go at a time, and one more waits for its
    turn, in which it can be stopped. A process does `reuse` further runs of the same session, if
    nothing was left in it and nobody has stopped anything since. `limits` are those of each
    process. `services` are async functions of this program, given the run and what its process
    says: there, `await run.request("lookup", "x")` has `lookup(run, "x")` done here.
    """

    def __init__(
        self,
        name: str,
        *,
        warm: int = 2,
        most: int = 200,
        limits: ProcessLimits | None = None,
        reuse: int = 0,
        services: Mapping[str, Service] | None = None,
    ) -> None:
        _must_be_a_name(name)
        must_be_count(warm, "warm", least=0)
        must_be_count(most, "most", least=1)
        must_be_count(reuse, "reuse", least=0)
        for what, service in (services or {}).items():
            must_be_text(what, "a service's name")
            if not is_async(service):
                raise TypeError(f"service {what} must be an async function; it is {service!r}")
        self._name = name
        self._module = name.partition(":")[0]
        self._kept = KeptWorkers(reuse)
        self._offers = Offers(dict(services or {}), self._other)
        self._warm = min(warm, most)
        self._most = most
        self._limits = limits
        self._processes: Processes | None = None
        self._pool: Pool | None = None

    def __repr__(self) -> str:
        return f"Isolated({self._name!r})"

    def open(self, processes: Processes) -> None:
        """For its runtime: have a few ready."""
        if self._pool:
            raise LastwordError(f"{self!r} belongs to another runtime; make another one")
        self._processes = processes
        self._pool = Pool(self._new, self._warm, self._most)
        self._pool.refill()

    def close(self) -> None:
        """For its runtime, which ends what is left with its processes."""
        if self._pool:
            self._pool.close()
            self._kept.close()
        self._pool = self._processes = None

    async def ready(self) -> None:
        """Return when a process has the engine, for the run that comes first. Raises why not."""
        if self._pool is None:
            raise _not_open(self)
        self._pool.give_back(await self._pool.take())

    async def try_out(self) -> None:
        """Start a process, and end it. Raises why it does not have the engine."""
        (await self._new()).kill()

    def reload(self) -> None:
        """Have its module imported again: runs that begin from now on have it as it is now, and
        those that go on keep what they have."""
        if (pool := self._pool) is None:
            raise _not_open(self)
        self._opened().nurseries.renew(self._home)
        self._kept.close()
        pool.renew()

    async def why_slow(self) -> str:
        """Why each process imports all for itself, and so starts slowly; empty if none does."""
        return "" if await self._nursery() else self._opened().nurseries.unfit.get(self._home, "")

    async def __call__(self, run: Run) -> None:
        """For its runtime: a run."""
        await self._answer(run, "")

    def _other(self, name: str) -> Engine:
        """One that is found by this name, for a child of a run of this one."""
        if len(name) > _LONGEST:
            raise ValueError(f"an engine's name has at most {_LONGEST} letters")
        _must_be_a_name(name)

        async def other(run: Run) -> None:
            await self._answer(run, name)

        return other

    async def _answer(self, run: Run, other: str) -> None:
        if (pool := self._pool) is None:
            raise LastwordError(f"{self!r} is no runtime's engine: give it to Runtime(...)")
        for _ in range(_TRIES):
            if await self._answered(run, pool, other):
                return
        raise WorkerDied(f"{_TRIES} processes of this run ended before its engine was reached")

    async def _answered(self, run: Run, pool: Pool, other: str) -> bool:
        """False if its process had ended before a line of the engine was reached: so another one
        may take the run."""
        worker = await pool.take(lambda: None if other else self._kept.of(run))
        adopted = self._adopted(run, worker, pool, other)
        desk = Desk(run, worker.line, worker.send, self._offers, adopted.dropped)
        stays = False
        try:
            may_stay = self._kept.may_stay(run, worker, other)
            await desk.serve(other, may_stay=may_stay)
            stays = may_stay and desk.stays and self._kept.keep(run, worker, adopted)
        except EOFError:
            if desk.begun:
                raise await worker.death() from None
        except Nonsense as error:
            worker.kill()
            why = f"said what no such process says ({error}), so it was ended"
            raise WorkerDied(f"the process of this run {why}") from None
        except BaseException:  # a stop, or what the host could not do for it
            worker.stop(adopted)
            raise
        finally:
            desk.over()
            if not stays:
                worker.done_with()
                adopted.over()
            pool.over()
        return desk.begun

    def _adopted(self, run: Run, worker: RunWorker, pool: Pool, other: str) -> Adopted:
        worker.be_called(other or self._name)
        try:
            adopted = run.adopt(worker.warden, worker.served, worker.page)
        except BaseException:
            if worker.runs:  # it is its session's, and nobody else's
                worker.done_with()
                worker.kill()
                pool.over()
            else:
                pool.give_back(worker)
            raise
        worker.taken = True
        worker.runs += 1
        return adopted

    # how one is started

    async def _new(self) -> RunWorker:
        nursery = await self._nursery()
        try:
            return await self._of(nursery)
        except ProcessError:
            if nursery is None or nursery.alive:
                raise
        return await self._of(await self._nursery())  # it was killed meanwhile

    async def _of(self, nursery: Nursery | None) -> RunWorker:
        warden = await self._opened().warden(nursery)
        worker = RunWorker(warden, self._name)
        try:
            await worker.start(self._limits)
        except BaseException:
            worker.kill()
            raise
        return worker

    async def _nursery(self) -> Nursery | None:
        return await self._opened().nursery(self._home, as_here(), lambda _: _nothing)

    @property
    def _home(self) -> Home:
        return Home((INSIDE, self._module), ("", ""))

    def _opened(self) -> Processes:
        if self._processes is None:
            raise _not_open(self)
        return self._processes


def _must_be_a_name(name: str) -> None:
    must_be_text(name, "an isolated engine's name")
    module, _, attribute = name.partition(":")
    if not all(part.isidentifier() for part in (*module.split("."), *attribute.split("."))):
        raise ValueError(f"an isolated engine is named as 'module:engine'; this is {name!r}")


def _not_open(engine: Isolated) -> LastwordError:
    return LastwordError(f"{engine!r} is not open: it is opened and closed with its runtime")


def _nothing() -> None: ...
