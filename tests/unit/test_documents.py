"""Files by others: any invalid content gives one clear error and never a traceback."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.documents import MOST_LEVELS, parsed_json, parsed_toml, read_json, read_toml, shown, toml_value
from discreet.errors import DomainError, ReleaseError


@pytest.mark.parametrize("levels", [MOST_LEVELS + 1, 900, 5_000, 200_000])
def test_deep_nesting_is_one_clear_error(levels):
    for text, parse in [
        ("[" * levels + "]" * levels, parsed_json),
        ('{"a":' * levels + "1" + "}" * levels, parsed_json),
        ("a = " + "[" * levels + "]" * levels, parsed_toml),
    ]:
        with pytest.raises(DomainError, match="cannot read the file x: it is nested by more than 32 levels"):
            parse(text, "the file x")


def test_dotted_tables_are_counted_as_levels():
    with pytest.raises(DomainError, match="nested"):
        parsed_toml("[" + ".".join("a" * 2000) + "]\nb = 1", "x")


def test_pairs_of_surrogates_are_characters():
    assert parsed_json(r'["\ud83d\ude00"]', "x") == parsed_json(rb'["\ud83d\ude00"]', "x") == ["\U0001f600"]


def test_as_many_levels_as_are_allowed_are_read():
    assert parsed_json("[" * MOST_LEVELS + "]" * MOST_LEVELS, "x")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "a": 2}', "a name occurs twice"),
        ("[NaN]", "NaN is not a number"),
        (r'["\ud800"]', "a text that is not valid Unicode"),
        (r'{"\uDFFF": 1}', "a text that is not valid Unicode"),
        ("[-Infinity]", "-Infinity is not a number"),
        ("[" + "1" * 5000 + "]", "thousands of digits"),
        ("{", "cannot read x"),
        ("", "cannot read x"),
        (b"\xff\xfe\x00", "cannot read x"),
    ],
)
def test_json_is_read_strictly(text, message):
    with pytest.raises(ReleaseError, match=message):
        parsed_json(text, "x", ReleaseError)


@pytest.mark.parametrize("read", [read_toml, read_json])
def test_a_file_that_cannot_be_read_is_named(tmp_path, read):
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    for path, message in [(tmp_path / "none", "No such file"), (tmp_path, "directory"), (tmp_path / "bytes", "UTF-8")]:
        with pytest.raises(DomainError, match=f"cannot read the thing {path}: .*{message}"):
            read(path, "the thing")
    with pytest.raises(DomainError, match="null"):
        read("a\0b", "the thing")


values = st.one_of(st.text(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.booleans())


@settings(max_examples=200, deadline=None)
@given(st.lists(values))
def test_what_is_written_as_toml_is_read_again(content):
    content = [value for value in content if not (isinstance(value, str) and not _is_text(value))]
    assert parsed_toml(f"a = {toml_value(content)}", "x")["a"] == content


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def test_a_message_quotes_little_of_a_large_value():
    assert len(shown("x" * 10**6)) < 100
    assert len(shown(json.loads("[" * 500 + "]" * 500))) < 100
    assert len(shown({str(i): list(range(1000)) for i in range(1000)})) < 500
