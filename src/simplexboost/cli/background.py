"""An iterator that runs in another thread, so that Ctrl-C is heard while it waits.

Python hears signals in its main thread, between two steps of its own. While that thread is inside pyarrow, which waits
for standard input, Ctrl-C would wait too, perhaps for ever.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import Any

AHEAD = 2  # items that are made before they are asked for
PATIENCE = 0.1  # seconds between two looks whether anybody still wants more
END = object()


def in_background(items: Iterator[Any]) -> Iterator[Any]:
    """The same items; an exception of the iterator is raised here."""
    made: queue.Queue[Any] = queue.Queue(AHEAD)
    unwanted = threading.Event()
    threading.Thread(target=make, args=(items, made, unwanted), daemon=True).start()
    try:
        while (item := made.get()) is not END:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        unwanted.set()


def make(items: Iterator[Any], made: queue.Queue[Any], unwanted: threading.Event) -> None:
    """Put all items into the queue, then the end or the exception."""
    try:
        for item in items:
            if not put(item, made, unwanted):
                return
        put(END, made, unwanted)
    except BaseException as error:
        put(error, made, unwanted)


def put(item: Any, made: queue.Queue[Any], unwanted: threading.Event) -> bool:
    """Put an item into the queue as soon as there is room; False if it is no longer wanted."""
    while not unwanted.is_set():
        try:
            made.put(item, timeout=PATIENCE)
        except queue.Full:
            continue
        return True
    return False
