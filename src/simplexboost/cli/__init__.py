"""The command line: ``simplexboost fit``, ``predict``, ``evaluate``, ``compare``, ``inspect``, ``list``, ``demo``.

Three libraries do what is not ours to do. They are the extra ``cli``, and are imported only here:

- click reads the arguments. It gives nested commands, ``--help``, completion in bash, zsh and fish, and a runner for
  tests. argparse has neither completion nor the runner; typer is click with a layer that we have no use for.
- rich draws progress bars and tables on a terminal.
- pyarrow reads and writes CSV, Parquet and Feather, block by block and compressed, and its columns know missing values.
  The three formats that are not tables come from libraries at hand: LIBSVM from scikit-learn, NPZ from NumPy, and ARFF
  is a header of declarations before a CSV.

How data flow: ``sources`` opens a path, ``texts`` and ``matrices`` turn it into blocks, ``kinds`` decides whether a
column holds numbers, times or categories and converts it, ``training`` gathers all blocks for a fit, ``scoring`` reads
them one by one for a fitted model, ``writing`` writes tables. ``commands`` has a module for every command; ``app``
collects them and turns what goes wrong into a sentence and an exit code.
"""
