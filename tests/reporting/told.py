"""A run folder by hand: what a finished `fit` leaves, without training anything."""

import numpy as np

from sanegnn.journal import Journal
from sanegnn.records import Derived, Done, Epoch, Lap, Retrain, Scored, TestOpened, Together, Trial, Verdict
from sanegnn.reporting.evidence import Evidence
from sanegnn.results import Result
from sanegnn.runs import Run
from sanegnn.settings import DataChoice, Search, Selection, Setting, Training
from sanegnn.space import space

ABOUT = {"command": "fit", "dataset": "cora", "data": "c0ffee", "given": "cora"}
WON, LOST = "gat,gin,sage_max | skip,zero,skip | lstm", "gcn,gcn,gcn"
NASTY = ('<script>alert("x")</script>', "a & b | c_1", "日本 100%", "\x00\x0b")
SETTINGS = {
    "data": DataChoice("0"),
    "search": Search(space="paper", depth=3),
    "selection": Selection(),
    "training": Training(),
}


def trials(count=12):
    """Two architectures by turns; the better one is better whatever its setting."""
    for place in range(count):
        setting = Setting(hidden=(32, 64)[place % 3 == 0], lr=0.001 * (place + 1)).table()
        score = 0.8 + 0.05 * (place % 2) + 0.001 * (place % 3)
        yield Trial((LOST, WON)[place % 2], place // 2, setting, score, 9, 2.0, place == 3)


def epochs(restart, count=90):
    slots = space("paper", 3).slots
    for epoch in range(1, count + 1):
        rows = {slot.key: [0.01 * epoch * (k == 1) for k in range(len(slot.choices))] for slot in slots}
        yield Epoch(restart, epoch, 1.0 / epoch, 1.1 / epoch, 0.5, rows)


def begun(folder, name="it", **about):
    """A run that is searching."""
    run = Run.open(folder, name, SETTINGS, {**ABOUT, **about})
    with Journal(run.file("search/restart-0.jsonl")) as journal:
        for epoch in epochs(0):
            journal.append(epoch)
    return run


def finished(folder, name="it", tests=(0.85, 0.86, 0.84), classes=NASTY, shift=0.0, **about):
    """A run that is done, with its evidence; its path."""
    setting = Setting().table()
    with begun(folder, name, **about) as run:
        run.append(Derived("paper", 0, 7, WON, 0.5, 12.0))
        for trial in trials():
            run.append(trial)
        for one, base in ((WON, 0.86), (LOST, 0.85)):
            for seed in range(3):
                run.append(Retrain(one, setting, seed, base + 0.01 * seed + shift, 9, 3.0, 100))
        run.append(Verdict(WON, setting, 0.87, 0.005, LOST, 0.01, 0.008, "the searched design leads: a tie"))
        run.append(TestOpened("fit", "2026-01-01T10:00:00+00:00", WON, setting, [0, 1, 2]))
        for seed, test in enumerate(tests):
            run.append(Scored(WON, seed, test + shift))
        run.append(Together(WON, 0.87))
        others = [{"architecture": one, "trials": 6, "best": 0.85} for one in (WON, LOST)]
        scores = ([0.86, 0.87, 0.88], [test + shift for test in tests], 0.87, 61.5)
        names = (name, "cora", "60/20/20 seed 0", "accuracy")
        words = "the searched design leads: a tie"
        run.append(Done(Result(*names, WON, setting, *scores, words, others).table()))
    evidence(classes).save(folder / name)
    return folder / name


def evidence(classes=NASTY, count=120, wrong=12, seed=0):
    """Nodes of every class and part; the last ones are mistaken for the next class."""
    rng = np.random.default_rng(seed)
    target = np.arange(count) % len(classes)
    predicted = target.copy()
    predicted[-wrong:] = (target[-wrong:] + 1) % len(classes)
    sure = rng.uniform(0.4, 1, count).astype(np.float32)
    alike = rng.choice([np.nan, 0.0, 0.25, 0.5, 1.0], count).astype(np.float32)
    mapped = np.arange(0, count, 2)
    about = {
        "dataset": "cora",
        "classes": list(classes),
        "findings": [["warn", "hubs", "Node <7> collects much."], ["info", "degrees", "Fine."]],
        "nodes": count,
        "edges": 7,
        "features": 3,
        "ids": [f"<id {place}>" for place in mapped],
    }
    sizes = (rng.integers(0, 9, count), alike, mapped, rng.normal(size=(len(mapped), 2)))
    return Evidence(about, np.arange(count), np.arange(count) // 40, target, predicted, sure, sure**2, *sizes)


def lane(folder, contender, split, tests, kind="human", label="gcn,gcn"):
    """A lane of a comparison: tuned once, trained afresh from several seeds."""
    about = {**ABOUT, "command": f"lane {contender}", "contender": contender, "kind": kind, "split": split}
    with Run.open(folder / "lanes", f"{contender}-split{split}", SETTINGS, about) as run:
        nan = float("nan")
        run.append(Lap("tune", label, {"hidden": 64}, {}, 0, 0.8, 3, 1.0, 2.0, 10, nan))
        run.append(Scored(label, 0, 0.79))
        for seed, test in enumerate(tests, start=1):
            run.append(Lap("retrain", label, {"hidden": 64}, {}, seed, test, 3, 1.0, 2.0 + seed, 10, nan))
            run.append(Scored(label, seed, test))
        run.append(Done({}))


def compared(folder, name="race"):
    """A comparison of three contenders on two splits; its path."""
    with Run.open(folder, name, SETTINGS, {**ABOUT, "command": "compare"}):
        pass
    for split in ("0", "1"):
        lane(folder / name, "gcn", split, [0.80, 0.81])
        lane(folder / name, "gat-jk", split, [0.82, 0.83])
        lane(folder / name, "paper", split, [0.70, 0.71], "search", WON)
    return folder / name
