"""The scikit-learn faces of the loop."""
