"""simplexboost."""
