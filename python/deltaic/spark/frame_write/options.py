"""The options of writing a Delta table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from deltaic.spark.frame_write.replaced import Replaced
from deltaic.spark.option_names import WRITE_OPTIONS, check_store_options
from deltaic.spark.option_values import as_count, as_flag, as_text, as_version
from deltaic.values.commit_options import CommitOptions, to_options

__all__ = ["MODES", "WriteOptions"]

MODES = {
    "append": "append",
    "overwrite": "overwrite",
    "error": "error",
    "errorifexists": "error",
    "default": "error",
    "ignore": "ignore",
}
"""The modes of a write by their names in Spark, in lower case."""


@dataclass(frozen=True)
class WriteOptions:
    """Validated options of a write.

    It can be pickled, including the storage options, so a pickle is as secret as they are; its repr is not.
    """

    merges_schema: bool = False
    replaces_schema: bool = False
    replaced: Replaced = field(default_factory=Replaced)
    """The rows that an overwrite replaces."""
    user_metadata: str | None = None
    app_transaction: tuple[str, int] | None = None
    most_rows: int | None = None
    """The maximum number of rows of a file."""
    rebalances: bool = False
    codec: str | None = None
    changes_data: bool = True
    """False if the new rows are those that the overwrite replaces, in other files."""
    properties: Mapping[str, str] = field(default_factory=dict[str, str])
    storage_options: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    @classmethod
    def parse(cls, path: str, options: Mapping[str, object]) -> WriteOptions:
        """Parses options by name, case-insensitively; an option that is None is not set.

        Raises:
            ValueError: An option is not known (the message gives the closest name), has an invalid value, or
                contradicts another.

        Example:
            >>> WriteOptions.parse("data/events", {"mergeSchema": "true"}).merges_schema
            True
        """
        known = {name.lower(): name for name in WRITE_OPTIONS}
        given: dict[str, Any] = {}
        properties: dict[str, str] = {}
        store: dict[str, str] = {}
        for name, value in options.items():
            lower = name.lower()
            if value is None:
                continue
            if lower == "path" and str(value) != path:
                raise ValueError(f"two paths are given, {path!r} and the option {str(value)!r}: give one")
            if lower in known:
                given[known[lower]] = value
            elif lower.startswith("delta."):
                properties[name] = str(value)
            else:
                store[name] = str(value)
        check_store_options("a write", path, store, WRITE_OPTIONS)
        app_id, version = given.get("txnAppId"), given.get("txnVersion")
        if (app_id is None) != (version is None):
            raise ValueError("txnAppId and txnVersion identify a write together: pass both or neither")
        return cls(
            merges_schema=as_flag("mergeSchema", given.get("mergeSchema", False)),
            replaces_schema=as_flag("overwriteSchema", given.get("overwriteSchema", False)),
            replaced=Replaced.parse(given),
            user_metadata=as_text("userMetadata", given.get("userMetadata")),
            app_transaction=None if app_id is None else (str(app_id), as_version("txnVersion", version)),
            most_rows=as_count("maxRecordsPerFile", given.get("maxRecordsPerFile", 0)) or None,
            rebalances=as_flag("optimizeWrite", given.get("optimizeWrite", False)),
            codec=as_text("compression", given.get("compression")),
            changes_data=as_flag("dataChange", given.get("dataChange", True)),
            properties=properties,
            storage_options=store,
        )

    def ensure_fit(self, mode: str) -> None:
        """Verifies that the options apply to a mode.

        Raises:
            ValueError: One of them applies to an overwrite only.
        """
        selecting = self.replaced.options()
        if mode == "overwrite":
            if selecting and self.replaces_schema:
                raise ValueError(
                    f"overwriteSchema replaces all rows, so it excludes {selecting[0]}: "
                    "mergeSchema adds columns"
                )
            if not self.changes_data:
                self._ensure_same_rows()
            return
        others = {"overwriteSchema": self.replaces_schema, "dataChange": not self.changes_data}
        of_overwrite = selecting + [name for name, is_set in others.items() if is_set]
        if of_overwrite:
            name = of_overwrite[0].split()[0]
            raise ValueError(f"option {name!r} applies to mode 'overwrite', not to {mode!r}")

    def _ensure_same_rows(self) -> None:
        """Verifies that no other option changes the rows or the table."""
        if self.replaced.matches_rows:
            [option] = self.replaced.options()
            raise ValueError(
                f"dataChange excludes {option}: the rows that match are not those of whole files"
            )
        for option, is_set in (
            ("mergeSchema", self.merges_schema),
            ("overwriteSchema", self.replaces_schema),
        ):
            if is_set:
                raise ValueError(f"dataChange excludes {option}: a change of the schema changes the rows")

    @property
    def needs_table(self) -> bool:
        """Whether there must be a table, whose rows are replaced."""
        return self.replaced.matches_rows or not self.changes_data

    def commit_options(self) -> dict[str, object]:
        """Returns the options of the commit, as the core takes them."""
        options: CommitOptions = {}
        if self.user_metadata is not None:
            options["commit_info"] = {"userMetadata": self.user_metadata}
        if self.app_transaction is not None:
            options["app_transaction"] = self.app_transaction
        return to_options("write", **options)
