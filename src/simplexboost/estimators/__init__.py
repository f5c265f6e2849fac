"""The scikit-learn estimators around the boosting loop."""
