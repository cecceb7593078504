"""The commands by name, and what becomes of errors."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from importlib import metadata

from cyclopts import App, CycloptsError

from sanegnn.cli.config import from_file
from sanegnn.errors import SaneError

app = App(
    name="sanegnn",
    help="Bring a graph, get the graph neural network designed for it.",
    version=lambda: metadata.version("sanegnn"),
    config=(from_file,),
    exit_on_error=False,
    print_error=False,
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)

COMMANDS = {
    "fit": ("design", "Design, tune, train and judge a net for one graph."),
    "search": ("design", "Only search: the architectures that a strategy ends with."),
    "tune": ("nets", "Only tune: the best setting for one architecture."),
    "train": ("nets", "Only train: one architecture with one setting, several times."),
    "truth": ("truth", "Train many architectures drawn at random, to judge searches by."),
    "compare": ("compare", "Compare searchers and human designs on the same splits and budgets."),
    "report": ("report", "Draw the report of a run, a comparison or several runs."),
    "track": ("track", "Hand the records of a run to TensorBoard or MLflow."),
    "predict": ("predict", "Predict the classes of the nodes of a graph with a model of a run."),
    "match": ("match", "Rank the matches of the entities that are not linked, with a model of a run."),
    "export": ("models", "Write a trained model as Python source, as ONNX or as a program of torch.export."),
    "explain": ("models", "Why a node is predicted so, or what every operation of a design is worth."),
    "generate": ("generate", "Write generated data in the layout of a known dataset."),
    "datasets": ("lists", "The datasets that have a name."),
    "ops": ("lists", "The operations that an architecture is made of."),
    "baselines": ("lists", "The networks that people designed, with their published settings."),
    "space": ("lists", "A search space: its choices and its size."),
    "runs": ("lists", "The runs of a folder, with what they found."),
    "doctor": ("lists", "What a careful colleague would say about a graph."),
}
"""Every command with the module it is in, which is loaded when the command is given."""

for order, (name, (module, text)) in enumerate(COMMANDS.items()):
    app.command(f"sanegnn.cli.{module}:{name}", name=name, help=text, sort_key=order)


def run(arguments: Sequence[str]) -> int:
    """Do what the arguments say; the exit code."""
    try:
        app(list(arguments))
        sys.stdout.flush()
    except (SaneError, CycloptsError) as error:
        return _complain(str(error), 2)
    except KeyboardInterrupt as stop:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # once is enough: let what is under way end
        return _complain(str(stop) or "stopped", 130)
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _complain(text: str, code: int) -> int:
    """One line on stderr."""
    sys.stderr.write(f"sanegnn: {' '.join(text.split())}\n")
    return code
