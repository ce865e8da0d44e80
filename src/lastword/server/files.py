"""What the answers of a session changed in files: to be read, taken back, and brought back.

To take something back is to do something in the person's folders, and a diff shows what is in them,
whatever the rules keep from an agent. So both take the right to approve.
"""

from __future__ import annotations

from lastword.agent.undo.taking_back import TakenBack
from lastword.agent.undo.undo import ChangedFile, NothingToUndo, changed, redo, undo
from lastword.server import file_wire
from lastword.server.desk import ApiRequest, Reply, made, reply
from lastword.server.problems import Trouble
from lastword.surfaces.changes import outcome


async def listed(asked: ApiRequest) -> Reply:
    """What an answer has changed: the one that is named, or the last that has changed something."""
    session, run = await asked.known(), asked.request.query_params.get("run")
    try:
        told = await changed(session, None if run is None else asked.shapes.inside(run))
    except NothingToUndo as error:
        raise Trouble("not-found", str(error)) from error
    files = [_file(one) for one in told.files]
    run = asked.shapes.out(told.run)
    return await made(file_wire.FilesOut(run, told.taken_back, files, list(told.notes)))


async def take_back(asked: ApiRequest) -> Reply:
    """Have files be as they were before an answer."""
    told, session = await asked.body(file_wire.UndoIn), await asked.known()
    run = None if told.run is None else asked.shapes.inside(told.run)
    if told.anyway and not told.paths:
        raise Trouble("bad-request", "anyway takes paths; nothing was taken back")
    try:
        done = await undo(session, run, told.paths, anyway=told.anyway)
    except NothingToUndo as error:
        raise Trouble("nothing-to-undo", str(error)) from error
    return reply(_undone(done, "Taken back"))


async def bring_back(asked: ApiRequest) -> Reply:
    """Undo the last undo."""
    session = await asked.known()
    try:
        done = await redo(session)
    except NothingToUndo as error:
        raise Trouble("nothing-to-undo", str(error)) from error
    return reply(_undone(done, "Brought back"))


def _undone(done: TakenBack, did: str) -> file_wire.UndoneOut:
    left = [file_wire.LeftFile(path, why) for path, why in done.left]
    return file_wire.UndoneOut(list(done.done), left, outcome(done, did, ""))


def _file(one: ChangedFile) -> file_wire.ChangedFileOut:
    change = one.change
    if change is None:
        return file_wire.ChangedFileOut(one.path, one.became, one.doubt, 0, 0, [], 0)
    lines = [file_wire.DiffLine(mark, text) for mark, text in change.lines]
    return file_wire.ChangedFileOut(
        one.path, one.became, one.doubt, change.come, change.gone, lines, change.left_out
    )
