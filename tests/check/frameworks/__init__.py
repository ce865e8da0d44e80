"""Agents of frameworks as Python targets, each as a person would write it down.

`Bare` is stopped as its framework says; `InLastword` is the same agent in lastword's engine.
"""
