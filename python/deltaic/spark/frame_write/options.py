"""The options of writing a Delta table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from deltaic.commit_options import CommitOptions, to_options
from deltaic.spark.option_names import WRITE_OPTIONS, check_store_options
from deltaic.spark.option_values import as_count, as_flag, as_text, as_version

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

_NOT_YET = {
    "replaceon": "delete the rows and append others in one deltaic.Table(path).transaction()",
    "replaceusing": "delete the rows and append others in one deltaic.Table(path).transaction()",
    "datachange": "compact files with deltaic.Table(path).optimize(), which changes no row",
}


@dataclass(frozen=True)
class WriteOptions:
    """Validated options of a write.

    It can be pickled, including the storage options, so a pickle is as secret as they are; its repr is not.
    """

    merges_schema: bool = False
    replaces_schema: bool = False
    replace_where: str | None = None
    is_dynamic: bool = False
    """Whether an overwrite replaces only the partitions that the new rows are in."""
    user_metadata: str | None = None
    app_transaction: tuple[str, int] | None = None
    most_rows: int | None = None
    """The maximum number of rows of a file."""
    rebalances: bool = False
    codec: str | None = None
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
            if lower == "datachange" and as_flag(name, value):
                continue
            if lower in _NOT_YET:
                raise ValueError(f"option {name!r} is not implemented: {_NOT_YET[lower]}")
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
        found = cls(
            merges_schema=as_flag("mergeSchema", given.get("mergeSchema", False)),
            replaces_schema=as_flag("overwriteSchema", given.get("overwriteSchema", False)),
            replace_where=as_text("replaceWhere", given.get("replaceWhere")),
            is_dynamic=_is_dynamic(given.get("partitionOverwriteMode", "static")),
            user_metadata=as_text("userMetadata", given.get("userMetadata")),
            app_transaction=None if app_id is None else (str(app_id), as_version("txnVersion", version)),
            most_rows=as_count("maxRecordsPerFile", given.get("maxRecordsPerFile", 0)) or None,
            rebalances=as_flag("optimizeWrite", given.get("optimizeWrite", False)),
            codec=as_text("compression", given.get("compression")),
            properties=properties,
            storage_options=store,
        )
        if found.replace_where is not None and found.is_dynamic:
            raise ValueError(
                "replaceWhere and partitionOverwriteMode 'dynamic' exclude each other: each selects the rows "
                "to replace"
            )
        return found

    def ensure_fit(self, mode: str) -> None:
        """Verifies that the options apply to a mode.

        Raises:
            ValueError: One of them applies to an overwrite only.
        """
        if mode == "overwrite":
            if self.replaces_schema and (self.replace_where is not None or self.is_dynamic):
                other = "replaceWhere" if self.replace_where is not None else "partitionOverwriteMode"
                raise ValueError(
                    f"overwriteSchema replaces all rows, so it excludes {other}: mergeSchema adds columns"
                )
            return
        of_overwrite = (
            ("overwriteSchema", self.replaces_schema),
            ("replaceWhere", self.replace_where is not None),
            ("partitionOverwriteMode", self.is_dynamic),
        )
        for name, is_set in of_overwrite:
            if is_set:
                raise ValueError(f"option {name!r} applies to mode 'overwrite', not to {mode!r}")

    def commit_options(self) -> dict[str, object]:
        """Returns the options of the commit, as the core takes them."""
        options: CommitOptions = {}
        if self.user_metadata is not None:
            options["commit_info"] = {"userMetadata": self.user_metadata}
        if self.app_transaction is not None:
            options["app_transaction"] = self.app_transaction
        return to_options("write", **options)


def _is_dynamic(value: object) -> bool:
    if str(value).lower() not in ("static", "dynamic"):
        raise ValueError(f"partitionOverwriteMode must be 'static' or 'dynamic', not {value!r}")
    return str(value).lower() == "dynamic"
