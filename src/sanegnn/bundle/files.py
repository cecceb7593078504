"""A folder of files under one manifest, written as a whole and read only when it is whole.

    model/
        manifest.json       format, version, SHA-256 and size of every file, and of all of this together
        ...                 the files

The checksums tell damage and slips of the hand; they are no signature against a forger.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sanegnn.errors import BadModel
from sanegnn.journal import disk, sync_folder

FORMAT, VERSION, MANIFEST = "sanegnn model", 1, "manifest.json"


def as_json(table: Mapping[str, Any]) -> bytes:
    """The bytes of a table as JSON, the same for the same table."""
    return (json.dumps(table, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()


def write(folder: Path, files: Mapping[str, bytes], program: str) -> None:
    """Put the files into `folder` as a whole; what was there before is replaced."""
    with disk(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        passing = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}.", suffix=".tmp"))
        try:
            for name, content in {**files, MANIFEST: as_json(_manifest(files, program))}.items():
                _write(passing / name, content)
            passing.chmod(0o755)
            _replace(passing, folder)
        except BaseException:
            shutil.rmtree(passing, ignore_errors=True)
            raise
        sync_folder(folder.parent)


def _write(path: Path, content: bytes) -> None:
    """One file, on the disk when this returns."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _replace(passing: Path, folder: Path) -> None:
    """Give the new folder its name; an old one of that name goes away after it has lost its own."""
    if not folder.exists():
        passing.rename(folder)
        return
    old = Path(f"{passing}.old.tmp")
    folder.rename(old)
    passing.rename(folder)
    shutil.rmtree(old)


def _manifest(files: Mapping[str, bytes], program: str) -> dict[str, Any]:
    told = {
        name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in files.items()
    }
    table = {"format": FORMAT, "version": VERSION, "program": program, "files": told}
    return {**table, "checksum": _checksum(table)}


def _checksum(table: Mapping[str, Any]) -> str:
    """SHA-256 of a manifest without its checksum, keys in order."""
    kept = {key: value for key, value in table.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def read(folder: Path) -> dict[str, bytes]:
    """The files of a folder, each as it was written."""
    manifest = _read_manifest(folder)
    return {name: _read_file(folder, name, told) for name, told in manifest["files"].items()}


def _read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest, if this program may read on."""
    path = folder / MANIFEST
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadModel(
            f"{folder} is no model: it has no {MANIFEST}; give the folder runs/<name>/model"
        ) from None
    except (OSError, ValueError) as error:
        raise BadModel(f"{path} cannot be read ({error}); take the model from its run again") from error
    if not isinstance(table, dict) or table.get("format") != FORMAT:
        raise BadModel(f"{path} is not the manifest of a {FORMAT}")
    version = table.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise BadModel(
            f"{folder} was written by sanegnn {table.get('program')} in version {version} of its format, but "
            f"this program reads versions up to {VERSION}: install a newer sanegnn"
        )
    if table.get("checksum") != _checksum(table):
        raise BadModel(f"{path} was changed after it was written; take the model from its run again")
    return table


def _read_file(folder: Path, name: str, told: Mapping[str, Any]) -> bytes:
    path = folder / name
    if os.sep in name or name in ("", "..", "."):
        raise BadModel(f"the manifest of {folder} names {name!r}, which is no file of the folder")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadModel(
            f"{path} cannot be read ({error.strerror or error}); take the model from its run again"
        ) from error
    if len(content) != told["bytes"]:
        raise BadModel(
            f"{path} has {len(content):,} bytes instead of {told['bytes']:,}: it is not whole; "
            "take the model from its run again"
        )
    if hashlib.sha256(content).hexdigest() != told["sha256"]:
        raise BadModel(f"{path} was changed after it was written; take the model from its run again")
    return content
