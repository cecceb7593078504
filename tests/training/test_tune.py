import dataclasses

import optuna
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState

from sanegnn.settings import Setting, ranges
from sanegnn.space import Architecture
from sanegnn.training.jobs import Outcome
from sanegnn.training.tune import ENOUGH, STARTS, STARTUP, Study, Tried, distributions, floors, storage

GCN, GAT = Architecture.parse("gcn,gcn"), Architecture.parse("gat,gcn | skip,skip | max")
BATCH = 4


def score(setting):
    """A score that a setting alone decides."""
    return round(1 - abs(setting.dropout - 0.35) - abs(setting.hidden - 128) / 1000 - setting.lr, 6)


def outcome(setting):
    return Outcome(score(setting), epochs=9, seconds=0.5, rungs={15: score(setting) / 2})


def tell(study, begin, only=None, hints=()):
    """Train a batch, or only some of it before the end comes."""
    asked = list(study.ask(begin, BATCH, hints).values())
    for setting in asked[:only]:
        study.tell(setting, outcome(setting))
    return asked


def course(path, batches, cuts=()):
    """The settings of several batches; after a cut the study is read again from its file."""
    study, cuts = Study(storage(path), GAT, 5), dict(cuts)
    for number in range(batches):
        begin = number * BATCH
        if number in cuts:
            tell(study, begin, cuts[number])
            study = Study(storage(path), GAT, 5)
        tell(study, begin)
    return [trial.setting for trial in study.trials]


def test_a_course_does_not_depend_on_interruptions(tmp_path):
    whole = course(tmp_path / "whole", 5)
    assert len(whole) == 5 * BATCH
    assert course(None, 5) == whole
    for name, cuts in {"a": {0: 1, 3: 2}, "b": {1: 0, 2: 3, 4: 4}, "c": {3: 1, 4: 1}}.items():
        assert course(tmp_path / name, 5, cuts.items()) == whole


def test_the_rest_of_a_batch_is_what_is_asked_again(tmp_path):
    study = Study(storage(tmp_path / "study"), GAT, 5)
    first = tell(study, 0)
    asked = tell(study, BATCH, only=1)
    again = Study(storage(tmp_path / "study"), GAT, 5).ask(BATCH, BATCH)
    assert list(again) == [5, 6, 7]
    assert list(again.values()) == asked[1:]
    assert len(set(map(str, first + asked))) == 2 * BATCH


def test_another_seed_takes_another_course(tmp_path):
    studies = [Study(storage(None), GAT, seed) for seed in (1, 2)]
    asked = [list(study.ask(0, 6).values()) for study in studies]
    assert asked[0][: len(STARTS)] == asked[1][: len(STARTS)]
    assert asked[0] != asked[1]


def test_the_starts_come_first():
    asked = list(Study(storage(None), GAT, 0).ask(0, 5).values())
    assert asked[0] == Setting()
    assert asked[: len(STARTS)] == [Setting(**start) for start in STARTS]


def test_the_base_setting_is_where_it_starts():
    base = Setting(hidden=32, dropout=0.2, lr=0.001)
    asked = Study(storage(None), GAT, 0, base).ask(0, 1)
    assert asked == {0: base}


def test_a_base_outside_the_ranges_widens_them():
    base = Setting(hidden=100, dropout=0.48, activation="tanh", lr=0.9, weight_decay=1e-7)
    study = Study(storage(None), GAT, 0, base)
    assert study.ask(0, 1) == {0: base}
    found = study.distributions
    assert found["hidden"].choices == (32, 64, 128, 100)
    assert (found["lr"].low, found["lr"].high, found["weight_decay"].low) == (5e-4, 0.9, 1e-7)


def test_a_hint_outside_the_ranges_is_moved_into_them():
    hint = Setting(hidden=100, dropout=0.48, activation="tanh", lr=0.9)
    study = Study(storage(None), GAT, 0)
    tell(study, 0, only=1)
    (setting,) = study.ask(1, 1, [hint]).values()
    assert (setting.hidden, setting.dropout, setting.lr) == (128, 0.5, 0.02)
    assert setting.activation in {"relu", "elu", "leaky_relu"}


def test_heads_that_cannot_share_the_width_give_way():
    study = Study(storage(None), GAT, 0, Setting(hidden=100, heads=4))
    tell(study, 0)
    for begin in range(BATCH, 5 * BATCH, BATCH):
        assert all(setting.hidden % setting.heads == 0 for setting in tell(study, begin))


def test_hints_come_first_in_a_later_batch_but_none_twice():
    study = Study(storage(None), GAT, 0)
    tried = tell(study, 0)
    hint = Setting(hidden=32, dropout=0.8)
    asked = list(study.ask(BATCH, 2, [tried[0], hint]).values())
    assert asked[0] == hint
    assert tried[0] not in asked
    one_hint_twice = list(study.ask(BATCH, 2, [hint, hint]).values())
    assert one_hint_twice.count(hint) == 1


def test_tpe_leaves_what_is_bad():
    study = Study(storage(None), GCN, 0)
    for begin in range(0, 40, BATCH):
        tell(study, begin)
    early, late = study.trials[3:STARTUP], study.trials[-12:]
    assert sum(t.validation for t in late) / len(late) > sum(t.validation for t in early) / len(early)
    assert study.best.validation == max(trial.validation for trial in study.trials)


def test_best_of_looks_at_the_first_trials_alone():
    study = Study(storage(None), GCN, 0)
    for place, value in enumerate([0.2, 0.7, 0.5, 0.9]):
        study.tell(Setting(lr=0.001 * (place + 1)), Outcome(value))
    assert [study.best_of(count).validation for count in (1, 2, 3, 4)] == [0.2, 0.7, 0.7, 0.9]
    assert study.best.number == 3


def test_the_journal_can_be_read_by_optuna_itself(tmp_path):
    file = tmp_path / "study"
    studies = [Study(storage(file), architecture, 0) for architecture in (GCN, GAT)]
    tell(studies[0], 0)
    tell(studies[1], 0, only=2)
    kept = JournalStorage(JournalFileBackend(str(file)))
    found = {one.study_name: one for one in optuna.get_all_study_summaries(kept)}
    assert set(found) == {str(GCN), str(GAT)}
    read = optuna.load_study(storage=kept, study_name=str(GCN))
    assert [trial.value for trial in read.trials] == [trial.validation for trial in studies[0].trials]
    assert read.best_value == studies[0].best.validation
    assert all(trial.state is TrialState.COMPLETE for trial in read.trials)


def test_a_trial_comes_back_from_the_file_as_it_went_in(tmp_path):
    study = Study(storage(tmp_path / "study"), GAT, 0)
    tell(study, 0)
    study.tell(Setting(norm="batch"), Outcome(0.3, 15, 1.5, pruned=True, rungs={15: 0.3}))
    study.tell(Setting(lr=0.02), Outcome(None, why="no epoch gave a finite loss"))
    assert Study(storage(tmp_path / "study"), GAT, 0).trials == study.trials
    assert study.trials[-2].pruned
    assert study.trials[-1].why == "no epoch gave a finite loss"


def test_a_study_goes_on_after_failed_and_pruned_trials():
    study = Study(storage(None), GAT, 0)
    for place in range(10):
        state = Outcome(None, why="x") if place % 2 else Outcome(0.1, pruned=True, rungs={15: 0.1})
        study.tell(Setting(lr=0.001 + 0.001 * place), state)
    assert len(study.ask(10, BATCH)) == BATCH
    assert study.best.validation == 0.1


def test_knobs_of_operations_that_are_not_there_are_not_tuned():
    assert not {"heads", "attention_dropout"} & set(distributions(GCN))
    assert {"heads", "attention_dropout"} <= set(distributions(GAT))
    assert "teleport" in set(distributions(Architecture.parse("appnp,appnp")))
    assert set(distributions(GAT)) == {name for name, _ in ranges(Setting)} - {"teleport"}
    assert {"hidden", "lr", "dropout"} <= set(distributions(GCN))


def test_knobs_that_an_operation_sets_by_itself_are_not_tuned():
    member = "graphnas:{}:sum:elu:{}:8"
    own = set(distributions(Architecture.parse(f"{member.format('gat', 1)},{member.format('gat', 2)}")))
    assert not {"heads", "activation", "residual", "teleport"} & own
    assert {"hidden", "attention_dropout", "norm", "lr"} <= own
    assert "attention_dropout" not in distributions(Architecture.parse(member.format("gcn", 2)))
    assert "residual" in distributions(Architecture.parse(",".join([member.format("gat", 2)] * 2)))
    assert "residual" in distributions(Architecture.parse(member.format("gat", 8)))  # as wide as hidden 64
    assert "activation" in distributions(Architecture.parse(f"{member.format('gat', 1)},gcn"))


def tried(score, pruned=False):
    return Tried(0, Setting(), score, 60, 1.0, pruned, {15: score, 30: score + 0.1})


def test_floors_are_medians_of_whole_trials():
    scores = [0.1, 0.5, 0.3, 0.2, 0.9]
    assert floors([tried(score) for score in scores]) == pytest.approx({15: 0.3, 30: 0.4})
    assert floors([tried(score) for score in scores[: ENOUGH - 1]]) == {}
    assert floors([*map(tried, scores), tried(0.99, pruned=True)]) == pytest.approx({15: 0.3, 30: 0.4})


def test_a_study_of_one_architecture_knows_nothing_of_another(tmp_path):
    kept = storage(tmp_path / "study")
    tell(Study(kept, GCN, 0), 0)
    assert Study(kept, GAT, 0).trials == []


def test_settings_of_a_study_are_settings(tmp_path):
    study = Study(storage(tmp_path / "study"), GAT, 0)
    for begin in (0, BATCH, 2 * BATCH):
        tell(study, begin)
    for trial in Study(storage(tmp_path / "study"), GAT, 0).trials:
        for field in dataclasses.fields(Setting):
            assert (
                type(getattr(trial.setting, field.name)).__name__
                == field.type.split("[")[1].split(",")[0].strip()
            )
