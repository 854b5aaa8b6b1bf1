"""The method of a table that deletes files which it no longer needs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Literal, cast

from deltaic.handle import Handle
from deltaic.maintenance.vacuum import Vacuum, vacuum_from_rust
from deltaic.values.arguments import flag, place, text
from deltaic.values.capsule import ArrowArrayExportable, ArrowStreamExportable, checked_data
from deltaic.values.commit_options import CommitOptions, to_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from deltaic import _rust

__all__ = ["TableVacuum"]


class TableVacuum(Handle):
    """The method of `Table` that deletes files which the table no longer needs."""

    __slots__ = ()

    def vacuum(
        self,
        retention: timedelta | None = None,
        mode: Literal["full", "lite"] = "full",
        inventory: ArrowStreamExportable | ArrowArrayExportable | None = None,
        *,
        dry_run: bool = False,
        force: bool = False,
        clones: Sequence[str | os.PathLike[str] | Handle] = (),
        **options: Unpack[CommitOptions],
    ) -> Vacuum:
        """Deletes files that the newest version does not need and that are older than the retention.

        Data files and deletion vectors remain if the newest version names them, or removed them within the
        retention. Change data files expire too. Files younger than the retention may belong to running
        writers and remain, as do the log, hidden folders (names that begin with ``_`` or ``.``, except those
        of change data and partitions), other tables in folders of this one, and everything outside of the
        table's folder. Older versions whose files are deleted can no longer be read.

        The deletion is recorded by the commits ``VACUUM START`` and ``VACUUM END``.

        Args:
            retention: How long files are retained; the table's ``delta.deletedFileRetentionDuration`` (one
                week) when None.
            mode: ``"full"`` lists the table. ``"lite"`` reads only the log: it deletes the files that commits
                since the last vacuum removed, and none that no commit names.
            inventory: A list of the table's files instead of a listing, with the columns ``path``,
                ``length``, ``isDir`` and ``modificationTime`` (in milliseconds), such as from a store's
                inventory report.
            dry_run: Whether to return only what would be deleted.
            force: Whether a retention shorter than the table's is allowed: only if nothing else writes the
                table, and no older version is read.
            clones: Tables, or their locations, whose logs name files of this table, as those of shallow
                clones do: the files that they need remain.
            options: How the commits are made, and `progress`, which reports ``"files"`` (listed) and
                ``"deletions"``: see `CommitOptions`.

        Raises:
            ValueError: The retention is negative, or shorter than the table's without `force`; or the
                inventory or another argument is invalid.
            UnsupportedFeature: The table is catalog-managed, or has a feature that is not implemented.
            CorruptLog: It cannot be determined which files are needed; nothing is deleted.
            VersionNotFound: Mode ``"lite"``: a commit since the last vacuum no longer exists.
            TableNotFound: There is no table here, or at the location of a clone.
            StorageError: A deletion failed; the error's context has the number of ``deleted`` files. Another
                vacuum deletes the rest.
            CommitConflict: Other writers kept committing, or changed the protocol.

        >>> import deltaic, pyarrow
        >>> rafts = pyarrow.table({"id": [1, 2, 3]})
        >>> table = deltaic.Table.create("rafts", rafts.schema)
        >>> commits = [table.overwrite(rafts) for _ in range(2)]
        >>> table.vacuum()
        <deltaic.Vacuum 0 files deleted, retention 7 days>
        >>> table.history(limit=1)[0].operation
        'VACUUM END'
        """
        if options.get("app_transaction") is not None:
            raise ValueError("vacuum() cannot record an app_transaction: it can be repeated safely")
        given = to_options("vacuum", **options)
        request: dict[str, object] = {
            "retention_ms": _to_millis(retention),
            "mode": text("mode", mode),
            "inventory": None if inventory is None else checked_data(inventory),
            "force": flag("force", force),
            "dry_run": flag("dry_run", dry_run),
        }
        given_clones = self._to_clones(clones)
        vacuumed = self._rust.vacuum(self._refreshed(), request=request, clones=given_clones, options=given)
        return vacuum_from_rust(vacuumed, is_dry_run=dry_run)

    @staticmethod
    def _to_clones(clones: object) -> list[_rust.Table | str]:
        if isinstance(clones, (str, os.PathLike, Handle)) or not isinstance(clones, Sequence):
            raise TypeError("clones must be a list of tables or locations: write clones=[…]")
        given = cast("Sequence[Handle | str]", clones)
        return [one._rust if isinstance(one, Handle) else place("clones", one) for one in given]  # noqa: SLF001 - a handle too


def _to_millis(retention: object) -> int | None:
    if retention is None:
        return None
    if not isinstance(retention, timedelta):
        raise TypeError(
            "retention must be a datetime.timedelta, such as timedelta(days=7), "
            f"not {type(retention).__name__}"
        )
    return retention // timedelta(milliseconds=1)
