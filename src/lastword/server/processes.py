"""The processes of a session: those that run, and what is done to one by its id.

To read one takes the right to read; to write to it, signal or end it takes that to stop its run.
"""

from __future__ import annotations

from lastword.core.receipt import ProcessNews
from lastword.core.scene import Span
from lastword.runtime.jobs import MOST, Job, signal_named
from lastword.server import process_wire
from lastword.server.desk import ApiRequest, Reply, made, reply
from lastword.server.problems import Trouble
from lastword.server.records import MOST as ANY
from lastword.surfaces.processes import given, named, sent, too_late


async def listed(asked: ApiRequest) -> Reply:
    """Those that run, and the last of those that have ended."""
    session = await asked.known()
    jobs, spans = {job.id: job for job in session.processes}, [*session.spans]
    here = {span.news.job for span in spans}
    spans += [_of_an_agent_below(job) for id_, job in jobs.items() if id_ not in here]
    written = {id_: job.output for id_, job in jobs.items()}
    told = [asked.shapes.process(span, written.get(span.news.job, "")) for span in spans]
    return await made(process_wire.ProcessesOut(told))


async def output(asked: ApiRequest) -> Reply:
    """What it wrote, from an offset on."""
    begin, limit = (
        asked.number("offset", 0, most=ANY),
        asked.number("limit", MOST, least=1, most=MOST),
    )
    job = named(await asked.known(), asked.part("process"))
    piece = job.read(begin, limit)
    what = job.id, piece.text, piece.begin, piece.end, piece.total, piece.code
    return await made(process_wire.OutputOut(*what, job.ending if piece.code is not None else ""))


async def write(asked: ApiRequest) -> Reply:
    """Have it read something."""
    told, job = await asked.body(process_wire.InputIn), await _to_act_on(asked)
    try:
        read = await job.write(told.text.encode(errors="surrogateescape"), last=told.end)
    except (ValueError, BrokenPipeError) as error:
        raise Trouble("not-running", str(error)) from error
    return reply(process_wire.Given(read, given(job, read)))


async def signal(asked: ApiRequest) -> Reply:
    """Send it a signal."""
    told, job = await asked.body(process_wire.SignalIn), await _to_act_on(asked)
    try:
        number = signal_named(told.signal)
    except ValueError as error:
        raise Trouble("bad-request", str(error)) from error
    if not await job.signal(number):
        raise Trouble("not-running", too_late(job))
    return reply(process_wire.Given(True, sent(job, number)))


async def end(asked: ApiRequest) -> Reply:
    """End it, with all that it started."""
    job = await _to_act_on(asked)
    if not job.alive:
        raise Trouble("not-found", too_late(job))
    await job.end()
    return (
        await listed(asked) if "read" in asked.who.rights else reply(process_wire.ProcessesOut([]))
    )


def _of_an_agent_below(job: Job) -> Span:
    """It is told of there, and can be acted on here."""
    news = ProcessNews(job.run, job.pid, job.command, "started", kept=job.kept, job=job.id)
    return Span(news, job.started_at)


async def _to_act_on(asked: ApiRequest) -> Job:
    """Whatever is done to it takes what a stop of its run takes, at least."""
    who = asked.who
    if "stop" not in who.rights:
        raise Trouble("forbidden", f"{who.name} has no right to stop here; nothing was done")
    return named(await asked.known(), asked.part("process"), by=who.name)
