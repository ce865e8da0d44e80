"""A store by its address, and what is said of an address that is none."""

from pathlib import Path

import pytest

from lastword.errors import StoreError
from lastword.stores.memory import MemoryStore
from lastword.stores.opening import open_store
from lastword.stores.postgres import PostgresStore
from lastword.stores.sqlite import SqliteStore


def test_an_address_names_the_kind_and_the_place() -> None:
    assert isinstance(open_store("memory:"), MemoryStore)
    store = open_store("sqlite:some/where.db")

    assert isinstance(store, SqliteStore)
    assert store.path == Path.cwd() / "some" / "where.db"


@pytest.mark.parametrize("scheme", ["postgres", "postgresql"])
def test_an_address_of_a_database_is_shown_without_its_password(scheme: str) -> None:
    store = open_store(f"{scheme}://me:secret@somewhere:5433/it?sslmode=require")

    assert isinstance(store, PostgresStore)
    assert repr(store) == "<PostgresStore postgresql://me@somewhere:5433/it not open yet>"


def test_without_the_extra_it_is_said_how_to_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(module: str) -> None: ...

    monkeypatch.setattr("lastword.extras.find_spec", nothing)

    with pytest.raises(StoreError, match="needs the extra postgres, which is not installed"):
        open_store("postgresql://x/y")


def test_a_home_directory_is_what_it_is_in_a_shell() -> None:
    store = open_store("sqlite:~/it.db")

    assert isinstance(store, SqliteStore)
    assert store.path == Path("~/it.db").expanduser()


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("", "the addresses known are 'memory:', 'sqlite:PATH' and 'postgresql://HOST/DATABASE'"),
        ("memory", "the addresses known are"),
        ("memory:x", "the addresses known are"),
        ("it.db", "the addresses known are"),
        ("mysql://x", "no store can be opened at 'mysql://x'"),
        ("postgre://me:secret@x/y", "no store can be opened at 'postgre://me@x/y'"),
        ("postgres:it", "names no database; write 'postgresql://HOST/DATABASE'"),
        ("sqlite:", "names no file"),
        ("sqlite: ", "names no file"),
        ("sqlite::memory:", "ends with the process; write 'memory:' for that"),
        ("sqlite:///it.db", "is not how a file is named here; write 'sqlite:PATH'"),
        ("sqlite:a\0b", "zero byte"),
        ("sqlite:~nobody-of-that-name/it.db", "cannot be found"),
    ],
)
def test_an_address_that_is_none_is_refused_with_the_reason(address: str, why: str) -> None:
    with pytest.raises(StoreError, match=why):
        open_store(address)
