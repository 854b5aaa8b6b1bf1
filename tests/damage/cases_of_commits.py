"""Damaged commits: bytes, JSON and numbers."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import deltaic
from tests.protocol import handmade_log as log

from . import broken
from .case import Survivor, commit_case, line_case
from .check_damage import both

ADD = log.add("c", values={"day": None})
INFO = b'{"commitInfo":{}}\n'
DEEP = '{"add":' + '{"a":' * 200 + "1" + "}" * 201


def line_of(action: log.Action, **changed: Any) -> str:
    """Returns the JSON of an action; a field given as bytes is inserted verbatim."""
    [(kind, body)] = action.items()
    fields = (
        f'"{name}":{value.decode() if isinstance(value, bytes) else json.dumps(value)}'
        for name, value in {**body, **changed}.items()
    )
    return f'{{"{kind}":{{' + ",".join(fields) + "}}"


def add_of(**changed: Any) -> str:
    return line_of(ADD, **changed)


def metadata_of(**changed: Any) -> str:
    return line_of(log.metadata(), **changed)


def size(snapshot: deltaic.Snapshot) -> int:
    sizes = dict(zip(*snapshot.files().to_arrow().select(["path", "size"]).to_pydict().values(), strict=True))
    return int(sizes["c"])


def with_many(root: Path) -> None:
    values = {"day": None, **{f"k{number}": str(number) for number in range(1_000_000)}}
    broken.line(add_of(partitionValues=values))(root)


COMMIT_BODY = [
    commit_case("a truncated commit", broken.torn, line=1),
    commit_case(
        "a million partition values",
        with_many,
        "more than 65536 partition values",
        line=2,
        field="add.partitionValues",
    ),
    commit_case(
        "a commit truncated within a character", broken.body(b'{"commitInfo":{"t":"\xc3'), "UTF-8", line=1
    ),
    commit_case("NUL bytes at the end of a commit", broken.with_nul_bytes, line=2),
    commit_case("a line of NUL bytes in a commit", broken.body(INFO + b"\0" * 8 + b"\n" + INFO), line=2),
    commit_case("a commit of NUL bytes", broken.body(b"\0" * 100), line=1),
    commit_case("a commit that is not UTF-8", broken.not_utf8, "UTF-8", line=1),
    commit_case("an overlong character", broken.body(b'{"commitInfo":{"t":"\xc0\x80"}}\n'), "UTF-8", line=1),
    commit_case(
        "half a character pair", broken.body(b'{"commitInfo":{"t":"\xed\xa0\x80"}}\n'), "UTF-8", line=1
    ),
    commit_case(
        "invalid UTF-8 in an unknown action",
        broken.body(INFO + b'{"new":{"t":"\xff"}}\n'),
        "UTF-8",
        line=2,
    ),
    commit_case("UTF-16 with its mark", broken.body('{"commitInfo":{}}\n'.encode("utf-16")), line=1),
    commit_case("UTF-8 with a byte-order mark", broken.body(b"\xef\xbb\xbf" + INFO), line=1),
    commit_case("an empty commit", broken.body(b""), "empty"),
    commit_case("an empty commit at the end", broken.body(b"", version=2), "empty", version=2),
    commit_case("a commit of blank lines", broken.body(b"\n\r\n \n"), "empty"),
    commit_case("a commit that is not JSON", broken.body(b"PAR1\n"), line=1),
    commit_case("a compressed commit", broken.body(gzip.compress(INFO, mtime=0)), line=1),
    commit_case("a commit that is a list", broken.body(b"[1]\n"), "object", line=1),
    commit_case("a commit that is a JSON string", broken.body(b'"add"\n'), "object", line=1),
    commit_case("a commit that is null", broken.body(b"null\n"), "object", line=1),
    commit_case("lines separated by CR only", broken.body(INFO.strip() + b"\r" + INFO), line=1),
    line_case("two actions on a line", '{"txn":{"appId":"a","version":1}}{"commitInfo":{}}'),
    line_case("two actions in an object", '{"txn":{"appId":"a","version":1},"commitInfo":{}}', "two actions"),
    line_case("a comment", '{"commitInfo":{}} // by hand'),
    line_case("a comma at the end", '{"commitInfo":{},}'),
    line_case("single quotes", "{'commitInfo':{}}"),
    line_case("an action over two lines", '{"commitInfo":\n{}}', field="commitInfo"),
    Survivor("lines that end in CRLF", broken.body(INFO.replace(b"\n", b"\r\n")), files=1, rows=2),
    Survivor("no newline at the end", broken.body(INFO.strip()), files=1, rows=2),
    Survivor("blank lines and spaces", broken.body(b"\n \t\n " + INFO + b"\t\r\n"), files=1, rows=2),
]

ACTIONS = [
    line_case("an action that is null", '{"add":null}', "null"),
    line_case("an action that is a string", '{"add":"a.parquet"}', "object", field="add"),
    line_case("an action that is a number", '{"remove":1}', "object", field="remove"),
    line_case("an action that is a list of its fields", '{"txn":["a",1,null]}', "object", field="txn"),
    line_case("a line that is a list of actions", "[" + ",".join(["null"] * 10) + "]", "object"),
    line_case("an add without a path", '{"add":{"size":1}}', "path", field="add"),
    line_case("a remove without dataChange", '{"remove":{"path":"c"}}', "dataChange", field="remove"),
    line_case("a path that is null", add_of(path=None), field="add.path"),
    line_case("partition values that are null", add_of(partitionValues=None), field="add.partitionValues"),
    line_case("partition values that are a list", add_of(partitionValues=[]), field="add.partitionValues"),
    line_case(
        "a partition value that is a number",
        add_of(partitionValues={"day": 1}),
        field="add.partitionValues.day",
    ),
    line_case("half a character pair in a path", add_of(path=b'"\\ud800"'), field="add.path"),
    line_case("a txn without a version", '{"txn":{"appId":"a"}}', "version", field="txn"),
    line_case(
        "a domain whose configuration is an object",
        '{"domainMetadata":{"domain":"d","configuration":{},"removed":false}}',
        field="domainMetadata.configuration",
    ),
    line_case(
        "a domain whose removed field is a string",
        '{"domainMetadata":{"domain":"d","configuration":"","removed":"no"}}',
        field="domainMetadata.removed",
    ),
    commit_case("two metaData", broken.more(log.metadata(), log.metadata()), "metaData", line=3),
    commit_case("two protocol", broken.more(log.protocol(), log.protocol()), "protocol", line=3),
    commit_case("two txn of an application", broken.more(log.txn("a", 1), log.txn("a", 2)), "txn (a)"),
    commit_case("a domain twice", broken.more(log.domain("d"), log.domain("d")), "domainMetadata (d)"),
    commit_case("add and remove of a file", broken.more(ADD, log.remove("c")), "one logical file"),
    commit_case("a file twice", broken.more(ADD, ADD), "one logical file"),
    commit_case("a file removed twice", broken.more(log.remove("c"), log.remove("c")), "one logical file"),
    Survivor("an object without an action", broken.line("{}")),
    Survivor("an unknown action", broken.line('{"fromTheFuture":{"path":"x"}}')),
    Survivor("an unknown action that is null", broken.line('{"fromTheFuture":null}')),
    Survivor("an action in another case", broken.line('{"Add":{"path":1}}')),
    Survivor("an unknown field of an action", broken.line('{"txn":{"appId":"a","version":1,"new":[{}]}}')),
    Survivor("commitInfo that is a string", broken.line('{"commitInfo":"by hand"}')),
    Survivor("half a character pair in commitInfo", broken.line('{"commitInfo":{"t":"\\ud800"}}')),
    Survivor(
        "an action that only checkpoints may contain", broken.line('{"checkpointMetadata":{"version":1}}')
    ),
    Survivor(
        "a sidecar in a commit",
        broken.line('{"sidecar":{"path":"../../x","sizeInBytes":1,"modificationTime":1}}'),
    ),
    Survivor("an invalid change data file", broken.line('{"cdc":{}}')),
]

JSON = [
    line_case("a key twice", '{"txn":{"appId":"a","version":1,"version":2}}', "version", field="txn"),
    line_case("an action twice in an object", '{"commitInfo":{},"commitInfo":{}}', "commitInfo"),
    line_case(
        "a partition value twice",
        add_of(partitionValues=b'{"day":null,"day":null}'),
        "day",
        field="add.partitionValues",
    ),
    line_case("a property twice", metadata_of(configuration=b'{"a":"1","a":"2"}'), "a"),
    line_case(
        "a format's option twice",
        metadata_of(format=b'{"provider":"parquet","options":{"a":"1","a":"2"}}'),
        "a",
    ),
    line_case("a tag twice", add_of(tags=b'{"a":"1","a":"2"}'), "a"),
    line_case("a key twice in an unknown field", add_of(new=b'{"a":1,"a":2}'), "a"),
    line_case("deep JSON in an unknown action", '{"new":' + "[" * 1_000 + "]" * 1_000 + "}"),
    line_case("deep JSON in an unknown field", add_of(new=b"[" * 1_000 + b"]" * 1_000)),
    line_case("deep JSON", DEEP, field="add"),
    line_case("extremely nested brackets", "[" * 1_000_000),
    line_case("extremely nested braces", '{"x":' * 200_000),
    line_case("a control character in a text", '{"commitInfo":{"t":"\x01"}}', field="commitInfo"),
    line_case("an invalid escape", '{"commitInfo":{"t":"\\x41"}}', field="commitInfo"),
    line_case("a truncated escape", '{"commitInfo":{"t":"\\u00"}}', field="commitInfo"),
    line_case(
        "a truncated line longer than any buffer", add_of(path="x" * 3_000_000)[:-3], field="add.dataChange"
    ),
    Survivor(
        "a hundred thousand fields",
        broken.line(json.dumps({"commitInfo": dict.fromkeys(map(str, range(100_000)))})),
    ),
    Survivor("a text of escapes", broken.line('{"commitInfo":{"t":"' + "\\u0041" * 300_000 + '"}}')),
    Survivor(
        "a path of escapes", broken.line(add_of(path=b'"' + b"\\u0041" * 100_000 + b'"')), files=3, rows=None
    ),
    Survivor("a number of 100,000 digits", broken.line('{"commitInfo":{"n":' + "9" * 100_000 + "}}")),
    Survivor("numbers beyond the range of a float", broken.line('{"commitInfo":{"n":[1e999,-1E-99999999]}}')),
]

WHOLE = "integer that is none: "
NOT_WHOLE = {
    "a fraction of zero": b"1.0",
    "an exponent": b"1e3",
    "a text": b'"1"',
    "a leading zero": b"01",
    "minus zero": b"-0",
    "a plus": b"+1",
    "hexadecimal": b"0x1",
    "a boolean": b"true",
    "a list": b"[1]",
    "beyond 64 bits": b"9223372036854775808",
    "a googol": b"1" + b"0" * 100,
    "an infinity": b"Infinity",
    "NaN": b"NaN",
    "null": b"null",
}
INTEGERS = {
    "add.size": lambda text: add_of(size=text),
    "add.modificationTime": lambda text: add_of(modificationTime=text),
    "txn.version": lambda text: '{"txn":{"appId":"a","version":' + text.decode() + "}}",
    "protocol.minReaderVersion": lambda text: (
        '{"protocol":{"minReaderVersion":' + text.decode() + ',"minWriterVersion":2}}'
    ),
    "remove.deletionTimestamp": lambda text: (
        '{"remove":{"path":"c","dataChange":true,"deletionTimestamp":' + text.decode() + "}}"
    ),
}

NUMBERS = [
    *(
        # A hexadecimal number fails after its zero was read as a number, so that no field is named.
        line_case(f"{field}: {name}", line(text), **({} if name == "hexadecimal" else {"field": field}))
        for field, line in INTEGERS.items()
        for name, text in NOT_WHOLE.items()
        # The deletion timestamp is optional.
        if (field, name) != ("remove.deletionTimestamp", "null")
    ),
    line_case(
        "a negative size of a remove",
        '{"remove":{"path":"c","dataChange":true,"size":-1}}',
        "-1",
        field="remove.size",
    ),
    line_case("a negative size", add_of(size=-1), "-1", field="add.size"),
    line_case("the least size", add_of(size=-(2**63)), field="add.size"),
    line_case("dataChange as a number", add_of(dataChange=1), field="add.dataChange"),
    Survivor(
        "the largest size",
        broken.line(add_of(size=2**63 - 1)),
        files=3,
        rows=None,
        holds=lambda s: size(s) == 2**63 - 1,
    ),
    Survivor(
        "a size without an exact float",
        broken.line(add_of(size=2**53 + 1)),
        files=3,
        rows=None,
        holds=lambda s: size(s) == 2**53 + 1,
    ),
    Survivor(
        "the smallest possible time", broken.line(add_of(modificationTime=-(2**63))), files=3, rows=None
    ),
    Survivor(
        "transactions with the smallest and the largest version",
        both(broken.more(log.txn("a", 2**63 - 1)), broken.more(log.txn("b", -(2**63)))),
        holds=lambda s: s.app_transactions == {"a": 2**63 - 1, "b": -(2**63)},
    ),
]
