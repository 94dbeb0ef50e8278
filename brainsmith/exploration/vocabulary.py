"""What fidelities and strategies are called. The command line reads this at its start, so nothing is imported here."""

MODELS = "models"
"""The first fidelity: by the models of layers, without folding; further ones are `OUTPUTS`."""

GRID, RANDOM, TPE, NSGA2 = STRATEGIES = ("grid", "random", "tpe", "nsga2")
"""All points, the promising ones first; drawn at random; Optuna's tree-structured Parzen estimator, and NSGA-II."""

FOLDING = "fold"
"""The step whose choices the models list."""
