from typing import final

@final
class Schema:
    """A table's schema, by logical names (protocol: Schema Serialization Format)."""

    @property
    def names(self) -> list[str]: ...
    def to_json(self) -> str:
        """Returns the table's own schemaString."""

    def __arrow_c_schema__(self) -> object:
        """Returns a PyCapsule of an ArrowSchema."""

    def __str__(self) -> str:
        """Returns the tree, one line per column."""

    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
