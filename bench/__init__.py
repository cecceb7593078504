"""Measures sanegnn beside networks of stock PyG layers: `python -m bench` from the repository's root.

Every ratio is measured side by side in one process, on networks that were found equal first.
"""

from sanegnn.memory import let_threads_sleep

let_threads_sleep()
