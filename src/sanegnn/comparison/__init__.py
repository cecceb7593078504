"""What the records of a comparison say: the leaderboard, its words, and the curves over time."""

from sanegnn.comparison.curves import Point, best_so_far, mean_curve
from sanegnn.comparison.leaderboard import Leaderboard, Row
from sanegnn.comparison.told import Told, chosen, everyone, lanes

__all__ = ["Leaderboard", "Point", "Row", "Told", "best_so_far", "chosen", "everyone", "lanes", "mean_curve"]
