"""Speed and accuracy, measured: the race against other libraries, growth with classes and threads, the kernels.

``python -m benchmarks.race --help`` says how to run the race and ``python -m benchmarks.ranks --help`` how to rank
libraries on small sets; both go on where they were. ``python -m benchmarks.report`` writes the results page of both.
Nothing needs a network or an installation: packages in a folder on PYTHONPATH will do.
"""
