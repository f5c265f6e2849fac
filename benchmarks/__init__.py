"""Speed and accuracy, measured: the race against other libraries, growth with classes and threads, the kernels.

``python -m benchmarks.race --help`` says how to run the race, ``python -m benchmarks.report`` writes the results page.
"""
