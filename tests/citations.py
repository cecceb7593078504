"""A generated citation-like graph as tables: papers with every kind of column, citations between them."""

import datetime

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

TOPICS = ("biology", "computing", "physics")
WORDS = {
    "biology": ("cell", "protein", "gene", "tissue", "enzyme", "membrane"),
    "computing": ("graph", "network", "kernel", "search", "compiler", "gradient"),
    "physics": ("quantum", "photon", "lattice", "spin", "field", "plasma"),
}


def papers(count=60, seed=0, first=0, gaps=True):
    """An Arrow table of nodes; with gaps some cells, labels among them, are missing."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(3, size=count)
    day = datetime.date(2001, 1, 1)
    words = [rng.choice(WORDS[TOPICS[place]] + ("study", "new", "method"), size=6) for place in topic]
    empty = set(rng.choice(count, size=count // 10, replace=False)) if gaps else set()
    hide = lambda values: [None if row in empty else value for row, value in enumerate(values)]  # noqa: E731
    vectors = (rng.standard_normal((count, 3)) + topic[:, None]).round(6)
    return pa.table(
        {
            "paper_id": [f"p{first + row}" for row in range(count)],
            "title": [" ".join(row) for row in words],
            "year": hide((1990 + rng.integers(30, size=count)).tolist()),
            "pages": rng.gamma(3.0, 4.0, size=count).round(3).tolist(),
            "venue": hide([f"venue {place % 4}" for place in topic + rng.integers(2, size=count)]),
            "open": rng.integers(2, size=count).astype(bool).tolist(),
            "printed": [day + datetime.timedelta(days=int(d)) for d in rng.integers(9000, size=count)],
            "embedding": vectors.tolist(),
            "part": [("train", "train", "train", "val", "test")[row % 5] for row in range(count)],
            "topic": hide([TOPICS[place] for place in topic]),
        }
    )


def citations(count=60, seed=0, first=0, weight=False):
    """An Arrow table of edges."""
    rng = np.random.default_rng(seed + 1)
    ends = rng.integers(count, size=(4 * count, 2))
    ends = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)
    columns = {"citing": [f"p{first + a}" for a, _ in ends], "cited": [f"p{first + b}" for _, b in ends]}
    if weight:
        columns["weight"] = rng.integers(1, 5, size=len(ends)).astype(float).tolist()
    return pa.table(columns)


def as_text(table):
    """Every column as a text file holds it."""
    columns = {}
    for name in table.column_names:
        cells = table[name].to_pylist()
        columns[name] = [
            "" if cell is None else str(cell).lower() if cell in (True, False) else str(cell)
            for cell in cells
        ]
    return pa.table(columns)


def write(table, path):
    """Write a table in the format of the path's ending."""
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path)
    elif path.suffix in (".arrow", ".feather"):
        pyarrow.feather.write_feather(table, str(path))
    else:
        delimiter = "\t" if path.suffix == ".tsv" else ","
        pyarrow.csv.write_csv(as_text(table), path, pyarrow.csv.WriteOptions(delimiter=delimiter))
    return path
