"""The victim of tests.engines, of a recipe: python -m recipes.proof.victim KIND DATABASE."""

import runpy

import recipes.proof.plugin  # noqa: F401 - its subject takes the place of the others

runpy.run_module("tests.engines.victim", run_name="__main__")
