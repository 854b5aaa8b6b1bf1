"""delta-spark transactions through its own classes: begun, kept open during another commit, and committed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError

from .pairs import ALL, Operation, Setting, add, delete_by_vector

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_DELTA = "org.apache.spark.sql.delta"


class DeltaSpark:
    """The classes of delta-spark in a session's JVM."""

    def __init__(self, spark: SparkSession) -> None:
        self._session: Any = spark._jsparkSession
        self._jvm: Any = spark._jvm
        self._actions = self._object(f"{_DELTA}.actions.Action")
        self._operation = self._object(f"{_DELTA}.DeltaOperations$ManualUpdate")

    def begin(self, root: Path, operation: Operation, setting: Setting) -> Open:
        """Begins a transaction and performs the operation's reads, without a commit."""
        log = self._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(self._session, str(root))
        transaction = log.startTransaction()
        for predicate in operation.reads:
            if predicate == ALL:
                transaction.readWholeTable()
                transaction.filterFiles()
            else:
                parsed = self._session.sessionState().sqlParser().parseExpression(predicate)
                transaction.filterFiles(self._seq([parsed]), False)
        for app in (operation.app_read, operation.app and operation.app[0]):
            if app:
                transaction.txnVersion(app)
        return Open(self, transaction, operation, setting)

    def forget(self) -> None:
        """Clears delta-spark's cache of tables."""
        self._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()

    def commit(self, open_: Open) -> int:
        """Commits; returns the version."""
        transaction, operation = open_.transaction, open_.operation
        actions: list[dict[str, object]] = []
        if operation.properties or operation.column:
            transaction.updateMetadata(self._metadata(transaction.metadata(), operation), False)
        if operation.app:
            actions.append({"txn": {"appId": operation.app[0], "version": operation.app[1]}})
        if operation.domain:
            domain = {"domain": operation.domain, "configuration": "{}", "removed": False}
            actions.append({"domainMetadata": domain})
        for path in operation.removes:
            remove = {"path": path, "deletionTimestamp": 1, "dataChange": operation.data_change}
            actions.append({"remove": remove})
        for number, partition in enumerate(operation.adds):
            path = f"{id(open_)}-{number}.parquet"
            actions.append({"add": add(path, partition, data_change=operation.data_change)})
        for path, row in operation.deletes.items():
            actions += delete_by_vector(path, row, open_.setting)
        built = [self._actions.fromJson(json.dumps(action)) for action in actions]
        return int(transaction.commit(self._seq(built), self._operation))

    def _metadata(self, metadata: Any, operation: Operation) -> Any:
        told = json.loads(metadata.json())["metaData"]
        told["configuration"] |= operation.properties
        if operation.column:
            schema = json.loads(told["schemaString"])
            column = {"name": operation.column, "type": "long", "nullable": True, "metadata": {}}
            schema["fields"].append(column)
            told["schemaString"] = json.dumps(schema)
        return self._actions.fromJson(json.dumps({"metaData": told}))

    def _seq(self, values: Iterable[Any]) -> Any:
        held = self._jvm.java.util.ArrayList()
        for value in values:
            held.add(value)
        return self._jvm.PythonUtils.toSeq(held)

    def _object(self, name: str) -> Any:
        # The jars were added with the session, so only the thread's class loader knows them.
        loader = self._jvm.java.lang.Thread.currentThread().getContextClassLoader()
        return loader.loadClass(f"{name}$").getField("MODULE$").get(None)


class Open:
    """An open transaction."""

    def __init__(self, delta: DeltaSpark, transaction: Any, operation: Operation, setting: Setting) -> None:
        self._delta = delta
        self.transaction = transaction
        self.operation = operation
        self.setting = setting

    def commit(self) -> str:
        """Returns the result: `committed`, or the name of the conflict."""
        try:
            self._delta.commit(self)
        except Py4JJavaError as error:
            return error.java_exception.getClass().getSimpleName()
        return "committed"
