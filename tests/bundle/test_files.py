"""The folder of a model: whole or refused."""

import hashlib
import json

import pytest

from sanegnn.bundle import files
from sanegnn.errors import BadModel

CONTENT = {"a.json": b"{}\n", "net-0.safetensors": bytes(range(256)) * 20}


@pytest.fixture
def folder(tmp_path):
    files.write(tmp_path / "model", CONTENT, "0.1")
    return tmp_path / "model"


def test_what_is_written_is_read(folder):
    assert files.read(folder) == CONTENT
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_an_old_model_is_replaced_as_a_whole(folder):
    files.write(folder, {"b": b"new"}, "0.1")
    assert files.read(folder) == {"b": b"new"}
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_a_write_that_fails_leaves_the_old_one(folder, monkeypatch):
    monkeypatch.setattr(files, "_replace", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        files.write(folder, {"b": b"new"}, "0.1")
    assert files.read(folder) == CONTENT
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


@pytest.mark.parametrize("name", CONTENT)
@pytest.mark.parametrize("place", [0, -1])
def test_a_changed_byte_is_refused(folder, name, place):
    content = bytearray((folder / name).read_bytes())
    content[place] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(BadModel, match=rf"{name} was changed after it was written"):
        files.read(folder)


def test_a_truncated_or_lost_file_is_refused(folder):
    (folder / "net-0.safetensors").write_bytes(CONTENT["net-0.safetensors"][:100])
    with pytest.raises(BadModel, match="has 100 bytes instead of 5,120: it is not whole"):
        files.read(folder)
    (folder / "net-0.safetensors").unlink()
    with pytest.raises(BadModel, match=r"net-0.safetensors cannot be read \(No such file"):
        files.read(folder)


def changed(folder, **changes):
    path = folder / files.MANIFEST
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_changed_manifest_is_refused(folder):
    told = json.loads((folder / files.MANIFEST).read_text())["files"]
    (folder / "a.json").write_bytes(b"[]\n")
    told["a.json"]["sha256"] = hashlib.sha256(b"[]\n").hexdigest()
    changed(folder, files=told)
    with pytest.raises(BadModel, match=r"manifest.json was changed"):
        files.read(folder)


def test_a_newer_format_is_refused_before_anything_else(folder):
    changed(folder, version=2, program="9.9")
    with pytest.raises(BadModel, match=r"written by sanegnn 9.9 in version 2 .* install a newer sanegnn"):
        files.read(folder)


def test_what_is_no_model_is_refused(folder):
    with pytest.raises(BadModel, match="is no model: it has no manifest"):
        files.read(folder.parent)
    (folder / files.MANIFEST).write_text("{")
    with pytest.raises(BadModel, match="cannot be read"):
        files.read(folder)
    (folder / files.MANIFEST).write_text("[]")
    with pytest.raises(BadModel, match="is not the manifest"):
        files.read(folder)


def test_a_name_that_leaves_the_folder_is_refused(folder):
    table = json.loads((folder / files.MANIFEST).read_text())
    table["files"]["../x"] = table["files"].pop("a.json")
    table["checksum"] = files._checksum(table)
    (folder / files.MANIFEST).write_text(json.dumps(table))
    with pytest.raises(BadModel, match=r"'../x', which is no file of the folder"):
        files.read(folder)
