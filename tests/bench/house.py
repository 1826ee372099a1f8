"""Count the house: lines, files, share of hand-made linguistics, layers, import cycles, names used twice.

    python -m tests.bench.house

The figures of docs/architecture.md are this command's.
"""

import ast
import re
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LINGUISTICS = ("agents/verify/", "agents/nlp/", "agents/offline/")
"""Rooms whose code reads language by rules of our own; their word lists are data and are counted with them."""
FILES_OF_A_ROLE = "agents/roles.py, prompts/<role>.md, prompts/lock.toml, its file in agents/offline/"


def sources() -> list[Path]:
    """List the program's own Python files."""
    return [*sorted((ROOT / "agents").rglob("*.py")), ROOT / "app.py"]


def lines(paths: list[Path]) -> int:
    """Count lines of files."""
    return sum(len(path.read_text("utf-8").splitlines()) for path in paths)


def module(path: Path) -> str:
    """Name the module of a file."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports(path: Path) -> set[str]:
    """Name the modules of ours that a file imports when it is loaded."""
    found: set[str] = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("agents"):
            found |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("agents")}
    return found


def cycles() -> list[list[str]]:
    """Find groups of modules that import one another (strongly connected components, Tarjan 1972)."""
    known = {module(path): path for path in sources()}
    graph = {name: {one for one in imports(path) if one in known and one != name} for name, path in known.items()}
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in graph[name]:
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                found.append(group)

    for name in graph:
        if name not in index:
            visit(name)
    return found


def used_twice() -> tuple[list[str], list[str]]:
    """Find file names and public class names that stand for two things."""
    files: dict[str, list[str]] = defaultdict(list)
    classes: dict[str, list[str]] = defaultdict(list)
    for path in sources():
        if not path.name.startswith("__"):
            files[path.name].append(str(path))
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].append(str(path))
    twice = [name for name, where in files.items() if len(where) > 1]
    return twice, [name for name, where in classes.items() if len(where) > 1]


def main() -> None:
    """Print the table."""
    paths = sources()
    count = lines(paths)
    data = [path for path in (ROOT / "agents").rglob("*.toml") if str(path.relative_to(ROOT)).startswith(LINGUISTICS)]
    linguistics = [path for path in paths if str(path.relative_to(ROOT)).startswith(LINGUISTICS)]
    tests = [path for path in (ROOT / "tests").rglob("*.py") if "vendor" not in path.parts]
    text = {path: path.read_text("utf-8") for path in paths}
    house = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    layers = next(one["layers"] for one in house if one["type"] == "layers")
    files, classes = used_twice()
    broad = re.compile(r"except(?: Exception| BaseException)?\s*:|except (?:Exception|BaseException) as")
    rows = [
        ("Python lines in agents/ and app.py", f"{count:,}"),
        ("files", str(len(paths))),
        ("lines of hand-made linguistics (verify, nlp, offline)", f"{lines(linguistics):,} ({lines(linguistics) / count:.0%})"),
        ("lines of word lists and texts beside them, as data", f"{lines(data):,}"),
        ("linter layers", str(len(layers))),
        ("import cycles", str(len(cycles()))),
        ("lines of tests ÷ lines of source", f"{lines(tests) / count:.2f}"),
        ("file names used twice", f"{len(files)}: {', '.join(sorted(files))}"),
        ("class names used twice", f"{len(classes)}: {', '.join(sorted(classes))}"),
        ("`Any`", str(sum(len(re.findall(r"\bAny\b", one)) for one in text.values()))),
        ("regular expressions", str(sum(len(re.findall(r"\bre\.(?:compile|match|search|sub|findall|fullmatch|split|finditer)\(", one)) for one in text.values()))),
        ("broad excepts", str(sum(len(broad.findall(one)) for one in text.values()))),
        ("files over 400 lines", str(sum(1 for one in text.values() if len(one.splitlines()) > 400))),
        ("files for a new role", f"4 ({FILES_OF_A_ROLE})"),
    ]  # fmt: skip
    for name, value in rows:
        print(f"| {name} | {value} |")


if __name__ == "__main__":
    main()
