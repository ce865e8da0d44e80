"""W66. What a run that was kept asks is open until it is answered, also to who is late."""

import asyncio

import pytest

from lastword import Run, Runtime
from lastword.agent.permission import Questions
from lastword.surfaces.following import Following, whole
from tests.promise.workshop import until


async def pay(amount: int) -> str:
    return f"paid {amount}"


async def child(run: Run) -> None:
    await run.call(pay, 7)
    await run.call(pay, 8)
    await asyncio.Event().wait()


async def parent(run: Run) -> None:
    if run.message.text == "go":
        await run.child("pay", engine=child, keep=True)
    await asyncio.Event().wait()


@pytest.mark.scenario("W66", part="surfaces")
@pytest.mark.parametrize("how", ["stop", "takeover"])
async def test_who_is_late_for_a_kept_run_s_question_is_asked_it_all_the_same(how: str) -> None:
    questions = Questions()
    async with Runtime(parent, before_tool=questions.as_before_tool()) as runtime:
        session = runtime.session("s")
        late, first_event = Following(session, await whole(session)), session.last_event
        await session.send("go")
        await until(lambda: len(session.questions) == 1)
        await (session.stop() if how == "stop" else session.send("something new"))

        for _ in late.at_once():
            pass
        [first] = late.picture.questions.values()
        assert [first] == list(session.questions)
        async for event in session.feed.follow(first_event):
            if event.kind == "asked":  # else nobody is told, and this has no end
                break

        questions.answer(first.id, True, first.generation)
        await until(lambda: bool(session.questions) and session.questions[0].id != first.id)
        for _ in late.at_once():
            pass
        anew = Following(session, await whole(session))
        assert list(late.picture.questions.values()) == list(session.questions)
        assert late.picture.questions == anew.picture.questions
        assert late.picture.waits == anew.picture.waits
