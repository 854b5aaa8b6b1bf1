"""The method of a table that makes a shallow clone of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Literal, overload

from deltaic.commit import Commit
from deltaic.commit import announced as announced_commit
from deltaic.handle import Handle, open_location
from deltaic.values.arguments import flag, place, text
from deltaic.values.arguments import options as text_options
from deltaic.values.commit_options import CommitOptions, to_options
from deltaic.values.times import to_millis
from deltaic.values.versions import to_version
from deltaic.writing.clone import ClonePreview, clone_preview_from_rust
from deltaic.writing.ignored_properties import warn_of_ignored

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from deltaic import _rust

__all__ = ["TableClone"]


class TableClone(Handle):
    """The method of `Table` that makes a shallow clone."""

    __slots__ = ()

    @overload
    def clone(
        self,
        target: str | os.PathLike[str] | Handle,
        version: int | None = None,
        timestamp: str | datetime | None = None,
        *,
        if_exists: Literal["error", "replace"] = "error",
        properties: Mapping[str, str] | None = None,
        storage_options: Mapping[str, str] | None = None,
        dry_run: Literal[False] = False,
        **options: Unpack[CommitOptions],
    ) -> Commit: ...

    @overload
    def clone(
        self,
        target: str | os.PathLike[str] | Handle,
        version: int | None = None,
        timestamp: str | datetime | None = None,
        *,
        if_exists: Literal["error", "replace"] = "error",
        properties: Mapping[str, str] | None = None,
        storage_options: Mapping[str, str] | None = None,
        dry_run: Literal[True],
        **options: Unpack[CommitOptions],
    ) -> ClonePreview: ...

    @overload
    def clone(
        self,
        target: str | os.PathLike[str] | Handle,
        version: int | None = None,
        timestamp: str | datetime | None = None,
        *,
        if_exists: Literal["error", "replace"] = "error",
        properties: Mapping[str, str] | None = None,
        storage_options: Mapping[str, str] | None = None,
        dry_run: bool,
        **options: Unpack[CommitOptions],
    ) -> Commit | ClonePreview: ...

    def clone(
        self,
        target: str | os.PathLike[str] | Handle,
        version: int | None = None,
        timestamp: str | datetime | None = None,
        *,
        if_exists: Literal["error", "replace"] = "error",
        properties: Mapping[str, str] | None = None,
        storage_options: Mapping[str, str] | None = None,
        dry_run: bool = False,
        **options: Unpack[CommitOptions],
    ) -> Commit | ClonePreview:
        """Makes a shallow clone: a new table with the rows of this one, whose log refers to the same files.

        No data file is read or copied. Schema, partitioning, properties, constraints, protocol and domains
        are those of this table. The id of a new table and row ids are new; name, description and
        application transactions are not copied. Later changes of either table do not affect the other.

        The clone needs the files of this table: name it as one of the ``clones`` of `Table.vacuum`, and pass
        this table's location as one of the ``allowed_roots`` to read it.

        Args:
            target: The location of the clone, on the store of this table.
            version: The version to clone; the newest by default.
            timestamp: Selects the newest version committed at or before this time, as for `Table.snapshot`.
            if_exists: ``"error"``, or ``"replace"`` to replace an existing table: its files are removed in
                the same commit, its history and its features remain.
            properties: Properties of the clone, besides those of this table.
            storage_options: Settings of the store for the target; those of this table by default.
            dry_run: Whether to return only what would be done.
            options: How the commit is made: see `CommitOptions`.

        Returns:
            The commit of the clone, with Spark's metrics for CLONE.

        Raises:
            TableExists: The target is a table, and `if_exists` is ``"error"``.
            VersionNotFound: The log does not hold the version or time; the message gives the range.
            CorruptData: A version or time is given, and files of that version are gone.
            UnsupportedFeature: The target is on another store, this table is in memory or catalog-managed, or
                a feature is not implemented.
            SchemaMismatch: The files do not have what a property requires, or the replaced table is
                append-only.
            CommitConflict: Another writer created or changed the target concurrently.
            CommitUnknown: The store gave no definitive response to the commit request.
            StorageError: A store cannot be accessed.
            ValueError: Both `version` and `timestamp` are given, the target is this table, or a property or
                another argument is invalid.

        >>> import deltaic, pyarrow
        >>> kayaks = pyarrow.table({"id": [1, 2, 3]})
        >>> table = deltaic.Table.create("kayaks", kayaks.schema)
        >>> commit = table.append(kayaks)
        >>> commit = table.clone("kayaks_test")
        >>> commit.version, commit.operation, commit.metrics["sourceNumOfFiles"]
        (0, 'CLONE', 1)
        >>> clone = deltaic.Table("kayaks_test", allowed_roots=["kayaks"])
        >>> commit = clone.delete("id = 2")
        >>> table.snapshot().num_rows, clone.snapshot().num_rows
        (3, 2)
        """
        if version is not None and timestamp is not None:
            raise ValueError("give version or timestamp, not both")
        given = to_options("clone", **options)
        dry = flag("dry_run", dry_run)
        request: dict[str, object] = {
            "properties": text_options("properties", properties),
            "if_exists": text("if_exists", if_exists),
            # Files of the newest version exist, unless the table is damaged.
            "verify_files": version is not None or timestamp is not None,
        }
        rust = _to_target(target, storage_options)
        if version is not None:
            known = self._rust.snapshot(version=to_version(version))
        elif timestamp is not None:
            known = self._rust.snapshot(timestamp_ms=to_millis(timestamp))
        else:
            known = self._refreshed()
        if dry:
            return clone_preview_from_rust(
                known.version, self._rust.preview_clone(known, rust, request=request)
            )
        commit = self._rust.shallow_clone(known, rust, request=request, options=given)
        warn_of_ignored((properties or {}).items(), stacklevel=2)
        return announced_commit(commit, stacklevel=3)


def _to_target(
    target: str | os.PathLike[str] | Handle, storage_options: Mapping[str, str] | None
) -> _rust.Table | str:
    if isinstance(target, Handle):
        if storage_options is not None:
            raise ValueError("omit storage_options: the target is a table, which has its own")
        return target._rust  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - a handle too
    uri = place("target", target)
    return uri if storage_options is None else open_location(uri, storage_options)
