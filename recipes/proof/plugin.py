"""The stories of tests/engines, told of one recipe: `RECIPE=crewai pytest -p recipes.proof.plugin`.

Where a recipe is proved, its framework is installed and no other. So its subject takes the place
of all those that the stories are told of elsewhere.
"""

import importlib
import os
import sys
from types import ModuleType

import pytest

from recipes.proof.scripted import Scripted

NAME = os.environ["RECIPE"]
RECIPE = importlib.import_module(f"recipes.proof.{NAME.replace('-', '_')}")

subjects = ModuleType("tests.engines.subjects")
subjects.Scripted = subjects.Subject = Scripted
subjects.SCRIPTED = subjects.SUBJECTS = {NAME: RECIPE.opened}
subjects.subject = lambda kind: subjects.SCRIPTED[kind]()
sys.modules[subjects.__name__] = subjects


def pytest_collection_modifyitems(items):
    """What a recipe does not keep is not tried: it would wait for what never comes."""
    for item in items:
        if why := RECIPE.NOT_KEPT.get(item.originalname):
            item.add_marker(pytest.mark.skip(reason=why))
