"""The allocator keeps what is freed, where the C library can be asked to."""

import platform
import subprocess
import sys

import pytest

FAULTS = """
import numpy, resource, sys
if sys.argv[1] == "keep":
    from sanegnn.memory import keep_freed_memory
    keep_freed_memory()
def touch():
    for _ in range(5):
        [numpy.ones(1 << 20) for _ in range(8)]
touch()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
touch()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_freed_arrays_are_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"):
        monkeypatch.delenv(name, raising=False)

    def faults(mode: str) -> int:
        command = [sys.executable, "-c", FAULTS, mode]
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    assert faults("keep") < 500


def test_the_environment_has_the_last_word(monkeypatch: pytest.MonkeyPatch) -> None:
    from sanegnn import memory

    monkeypatch.setenv("MALLOC_MMAP_THRESHOLD_", "131072")
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda _name: pytest.fail("asked all the same"))
    memory.keep_freed_memory()


@pytest.mark.skipif(platform.system() != "Linux", reason="another kernel")
def test_the_memory_of_a_call_is_what_it_had_at_the_most() -> None:
    import numpy

    from sanegnn.memory import gauged

    size = 64 << 20
    for _ in range(2):  # the second call finds the memory of the first one free
        result, peak = gauged(lambda: float(numpy.ones(size // 8).sum()))
        assert result == size / 8
        assert 0.9 * size < peak < 1.5 * size
    assert gauged(lambda: 3)[1] < size / 8


def test_memory_that_cannot_be_measured_is_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    from sanegnn import memory

    def refuse(*_: object, **__: object) -> None:
        raise OSError

    monkeypatch.setattr(memory.Path, "write_text", refuse)
    result, peak = memory.gauged(lambda: 3)
    assert result == 3
    assert peak != peak


def test_threads_sleep_unless_the_environment_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    from sanegnn import memory

    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    memory.let_threads_sleep()
    assert memory.os.environ["OMP_WAIT_POLICY"] == "PASSIVE"
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    memory.let_threads_sleep()
    assert memory.os.environ["OMP_WAIT_POLICY"] == "ACTIVE"
