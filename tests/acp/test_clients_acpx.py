"""A client that we did not write, acpx, and what it makes of us."""

from pathlib import Path

import pytest

from tests.acp.acpx_client import acpx, needs_acpx
from tests.promise.workshop import until

pytestmark = needs_acpx


async def test_a_prompt_of_acpx_s_is_answered(tmp_path: Path) -> None:
    async with acpx(tmp_path) as client:
        done = await client.run("exec", "count to 3")

        assert done.text == "1 2 3"
        assert done.stop_reasons() == ["end_turn"]
        assert done.faults() == []
        assert done.process.returncode == 0


@pytest.mark.scenario("S1")
async def test_a_cancel_from_another_acpx_ends_the_answer_and_the_next_prompt_is_answered(
    tmp_path: Path,
) -> None:
    async with acpx(tmp_path) as client:
        await client.run("sessions", "new")
        story = await client.begin("prompt", "tell me a story")
        await until(lambda: "lighthouse" in story.text)
        cancel = await client.run("cancel")
        await story.process.wait()
        after = await client.run("prompt", "count to 3")

        assert cancel.messages[-1]["cancelled"] is True
        assert story.stop_reasons() == ["cancelled"]
        assert story.messages[-1]["result"]["_meta"]["lastword"]["quiet"]  # and that was the last
        assert story.process.returncode == 0
        assert after.text == "1 2 3"
        assert story.faults() == after.faults() == []


@pytest.mark.parametrize(
    ("policy", "made"),
    [
        (["--approve-all"], True),
        (["--deny-all"], False),
        (["--permission-policy", '{"autoDeny": ["execute"], "defaultAction": "approve"}'], False),
    ],
    ids=["approve", "deny", "a policy"],
)
async def test_what_acpx_may_allow_is_what_is_done(
    tmp_path: Path, policy: list[str], made: bool
) -> None:
    async with acpx(tmp_path) as client:
        done = await client.run(*policy, "exec", "run touch made")

        assert (tmp_path / "made").exists() is made
        assert (done.process.returncode == 0) is made  # it says that something was denied
        assert done.stop_reasons() == ["end_turn"]
        assert done.faults() == []
