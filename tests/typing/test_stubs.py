"""The stubs of the extension match the extension: the same names and parameters, in both directions."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest

import deltaic
from deltaic import _rust

STUBS = Path(deltaic.__file__).parent / "_rust"
RUST_SOURCES = Path(__file__).resolve().parents[2] / "rust" / "python" / "src"
# Members that every class inherits from Python or gets from pyo3.
INHERITED = set(dir(object)) | {"__module__"}


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


CLASSES = {
    node.name: (path.name, node)
    for path in sorted(STUBS.glob("*.pyi"))
    for node in parsed(path).body
    if isinstance(node, ast.ClassDef)
}
FUNCTIONS = {
    f"{name}.{member.name}": member
    for name, (_, node) in CLASSES.items()
    for member in node.body
    if isinstance(member, ast.FunctionDef)
}


def is_property(function: ast.FunctionDef) -> bool:
    return any(
        isinstance(decorator, ast.Name) and decorator.id == "property"
        for decorator in function.decorator_list
    )


def public(names: set[str]) -> set[str]:
    """Returns the public names: of the special ones only those that `object` does not have."""
    special = {name for name in names if name.startswith("__") and name not in INHERITED}
    return {name for name in names if not name.startswith("_")} | special


def test_the_extension_and_its_stubs_export_the_same() -> None:
    exported = {
        alias.asname
        for node in parsed(STUBS / "__init__.pyi").body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert exported == set(CLASSES)
    there = {name for name, value in vars(_rust).items() if inspect.isclass(value)}
    assert there == set(CLASSES)
    assert isinstance(_rust.__version__, str)


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_has_the_members_of_its_stub(name: str) -> None:
    in_stub = {member.name for member in CLASSES[name][1].body if isinstance(member, ast.FunctionDef)}
    in_extension = set(vars(getattr(_rust, name)))
    assert public(in_stub) == public(in_extension)
    # Inherited members are in the stub only if the extension overrides them.
    assert (in_stub & INHERITED) <= in_extension


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_member_is_what_its_stub_states(name: str) -> None:
    function = FUNCTIONS[name]
    class_name, member_name = name.split(".")
    member = inspect.getattr_static(getattr(_rust, class_name), member_name)
    if is_property(function):
        assert inspect.isgetsetdescriptor(member), "a property in the stub only"
        return
    if member_name in ("__eq__", "__hash__", "__iter__", "__next__"):
        assert callable(member)
        return
    subject: Any = (
        getattr(_rust, class_name)
        if member_name == "__new__"
        else getattr(getattr(_rust, class_name), member_name)
    )
    real = inspect.signature(subject)
    assert shape_of_signature(real) == shape_of_stub(function)


def shape_of_signature(signature: inspect.Signature) -> list[tuple[str, bool, bool]]:
    """Returns name, whether it is keyword-only, and whether it is optional; without the instance."""
    return [
        (parameter.name, parameter.kind is parameter.KEYWORD_ONLY, parameter.default is not parameter.empty)
        for parameter in signature.parameters.values()
        if parameter.name not in ("self", "cls")
    ]


def shape_of_stub(function: ast.FunctionDef) -> list[tuple[str, bool, bool]]:
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    required = len(positional) - len(arguments.defaults)
    shape = [(argument.arg, False, place >= required) for place, argument in enumerate(positional)]
    shape += [
        (argument.arg, True, default is not None)
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    return [parameter for parameter in shape if parameter[0] not in ("self", "cls")]


@pytest.mark.parametrize("name", CLASSES)
def test_a_stub_states_what_it_is_about(name: str) -> None:
    assert ast.get_docstring(CLASSES[name][1])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_and_units_are_documented(name: str) -> None:
    """Every method except special ones has a docstring; a property may be clear from its name."""
    function = FUNCTIONS[name]
    if not is_property(function) and not function.name.startswith("__"):
        assert ast.get_docstring(function), name


@pytest.mark.skipif(not RUST_SOURCES.is_dir(), reason="the Rust sources are not beside the tests")
def test_there_is_one_stub_for_each_rust_file_of_classes() -> None:
    with_classes = [path for path in RUST_SOURCES.rglob("*.rs") if "#[pyclass" in path.read_text()]
    texts = {path.stem: path.read_text() for path in with_classes}
    assert len(texts) == len(with_classes), "two files have one name"
    stubs = {path.stem for path in STUBS.glob("*.pyi")} - {"__init__"}
    assert stubs == set(texts)
    for path, node in CLASSES.values():
        assert f"struct {node.name}" in texts[Path(path).stem]
