"""A directory that was looked up is begun in, whatever has taken its place since, or none is."""

from pathlib import Path

import pytest

from lastword.errors import SpawnFailed
from lastword.processes import Level, command
from lastword.processes.command import Folder
from tests.processes.helping import a_warden
from tests.processes.strict import AT_EACH


@pytest.mark.scenario("P33", part="processes")
@AT_EACH
@pytest.mark.parametrize("other", ["link", "directory", "file"])
async def test_a_folder_that_was_looked_up_is_begun_in_or_nothing_is_started(
    level: Level, other: str, tmp_path: Path
) -> None:
    place = tmp_path / "one"
    place.mkdir()
    status = place.stat()
    folder = Folder(str(place), status.st_dev, status.st_ino)
    async with a_warden(level) as warden:
        here = await (await warden.spawn(command("pwd", cwd=folder))).communicate()
        assert here.output == f"{place}\n"

        place.rename(tmp_path / "two")
        if other == "link":
            place.symlink_to("/")
        elif other == "directory":
            place.mkdir()
        else:
            place.touch()
        why = "Not a directory" if other == "file" else "is another directory by now than"
        with pytest.raises(SpawnFailed, match=why):
            await warden.spawn(command("touch", tmp_path / "made", cwd=folder))

        assert not (tmp_path / "made").exists()
        after = await (await warden.spawn(command("pwd", cwd=tmp_path))).communicate()
        assert after.output == f"{tmp_path}\n"
