"""The papers' tables and figures, again: ``python -m experiments run all``, then ``python -m experiments report``.

A module per paper, a function per table or figure. Each names the *cells* it needs (one booster on one set with one
seed, say), which are run in parallel and saved one by one, and says what to report of them: tables beside the paper's
numbers, figures, and for each claim whether it holds.
"""
