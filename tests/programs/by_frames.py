"""Runs appends and overwrites as writes of DataFrames, by both ways; other verbs by deltaic."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pyarrow as pa

import deltaic
import deltaic.spark as ds
from deltaic.exceptions import InvalidPredicate, UnsupportedExpression

from . import by_deltaic
from .by_spark import frame_of
from .footers import columns_of
from .values import VARIANT
from .verbs import Append, Outcome, Overwrite, RowVerb

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# The part of a name that a new column of a mapped table gets.
_DRAWN = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True)
class Frames:
    """Writes by a session, and again by the data source of this name to a copy of the table."""

    spark: SparkSession
    source: str

    def run(self, table: deltaic.Table, verb: RowVerb, schema: pa.Schema) -> Outcome:
        """Runs a verb; appends and overwrites that Spark has are writes of frames.

        Raises:
            ValueError, DeltaicError: The rows are refused.
        """
        if not isinstance(verb, Append | Overwrite) or not _is_of_spark(table, verb, schema):
            return by_deltaic.run(table, verb, schema)
        root = _root_of(table)
        frame = self._frame(by_deltaic.data_of(verb, schema))
        copy = root.with_name(f"{root.name} by the source")
        shutil.copytree(root, copy)
        try:
            try:
                return self._written(table, frame, verb, copy)
            except InvalidPredicate as error:
                if "means something else" not in error.message:
                    raise
                with self._as_in_the_core():
                    return self._written(table, frame, verb, copy)
        finally:
            shutil.rmtree(copy)

    def _written(
        self, table: deltaic.Table, frame: DataFrame, verb: Append | Overwrite, copy: Path
    ) -> Outcome:
        before = table.snapshot().version
        mode = "append" if isinstance(verb, Append) else "overwrite"
        options, by = _options(verb)
        writer = ds.write(frame).mode(mode).options(**options).partitionBy(*by)
        commits: list[deltaic.Commit | None] = []
        refused = _raised(lambda: commits.append(writer.save(table.uri)))
        if not by:  # which a data source does not get
            by_source = frame.write.format(self.source).mode(mode).options(**options)
            error = _raised(lambda: by_source.save(str(copy)))
            # The data source does not know the session's settings; its tasks get other identity values.
            if not _has_identity(table) and UnsupportedExpression.__name__ not in str(error):
                assert (error is None) == (refused is None), (error, refused)
                assert _described(copy, before) == _described(_root_of(table), before)
        if refused is not None:
            raise refused if isinstance(refused, deltaic.DeltaicError) else ValueError(str(refused)[:500])
        [commit] = commits
        assert commit is not None
        is_new = not commit.skipped and commit.version > before
        return Outcome(commit.version if is_new else None, dict(commit.metrics))

    def _frame(self, rows: pa.Table) -> DataFrame:
        from pyspark.sql.pandas.types import from_arrow_schema

        fields = from_arrow_schema(rows.schema, prefer_timestamp_ntz=True).fields
        return frame_of(self.spark, rows, fields)

    @contextmanager
    def _as_in_the_core(self) -> Iterator[None]:
        settings = {"spark.sql.session.timeZone": "UTC", "spark.sql.ansi.enabled": "true"}
        before = {name: str(self.spark.conf.get(name)) for name in settings}
        for name, value in settings.items():
            self.spark.conf.set(name, value)
        try:
            yield
        finally:
            for name, value in before.items():
                self.spark.conf.set(name, value)


def _is_of_spark(table: deltaic.Table, verb: Append | Overwrite, schema: pa.Schema) -> bool:
    """Whether a frame can have the rows, and means by them what the verb means."""
    partition_by = table.snapshot().partition_columns
    if isinstance(verb, Overwrite) and verb.replaces is not None:
        schema, partition_by = verb.replaces.schema, verb.replaces.partition_by
    if isinstance(verb, Append) and verb.raises_at_end:
        return False
    if any(field.type == VARIANT for field in schema) or not verb.columns:
        return False
    # Empty text in a partition column is NULL in Spark.
    has_empty = any(row.get(name) in ("", b"") for row in verb.rows for name in partition_by)
    return not has_empty or (isinstance(verb, Append) and verb.empty_is_null)


def _options(verb: Append | Overwrite) -> tuple[dict[str, Any], list[str]]:
    if isinstance(verb, Append):
        return ({} if verb.added is None else {"mergeSchema": "true"}), []
    if verb.replaces is not None:
        return {"overwriteSchema": "true"}, verb.replaces.partition_by
    if verb.is_dynamic:
        return {"partitionOverwriteMode": "dynamic"}, []
    return ({} if verb.where is None else {"replaceWhere": str(verb.where)}), []


def _has_identity(table: deltaic.Table) -> bool:
    return "delta.identity.start" in table.schema.to_json()


def _root_of(table: deltaic.Table) -> Path:
    return Path(table.uri.removeprefix("file:"))


def _raised(call: Callable[[], object]) -> Exception | None:
    try:
        call()
    except Exception as error:  # noqa: BLE001 - of Spark, too
        return error
    return None


def _described(root: Path, before: int) -> list[str]:
    """Returns the files that the version after another adds: values, statistics, and columns of footers."""
    if deltaic.Table(root).snapshot().version == before:
        return []
    log = (root / "_delta_log" / f"{before + 1:020}.json").read_text().splitlines()
    found: list[str] = []
    for add in (json.loads(line).get("add") for line in log):
        if add is None or add["dataChange"] is False:
            continue
        stats = json.loads(add.get("stats") or "{}")
        footer = columns_of(root / unquote(add["path"]))
        found.append(_DRAWN.sub("drawn", f"{add['partitionValues']} {stats} {footer}"))
    return sorted(found)
