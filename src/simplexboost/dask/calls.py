"""Calls of an actor's methods, between workers and from the client, that always end: with an answer or an error.

Dask's own proxy (`distributed.Actor`) waits forever if the worker is there but the actor is not; and it goes through
the current client, which need not be the one that the user passed. Here its remote procedure is called directly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from distributed import Client
from distributed.actor import ProxyRPC
from distributed.protocol import to_serialize


@dataclass(frozen=True)
class Place:
    """Where an actor is: the address of its worker, and its key there."""

    address: str
    key: str


async def call(rpc: Any, place: Place, method: str, *args: Any) -> Any:
    """What a method of an actor returns.

    Raises
    ------
    OSError : if the worker cannot be reached, or dies before it answers
    KeyError : if the worker knows no such actor
    Whatever else the method raises
    """
    reply = await rpc.actor_execute(actor=place.key, function=method, args=[to_serialize(a) for a in args], kwargs={})
    if reply["status"] != "OK":
        raise reply["exception"]
    return reply["result"]


def client_rpc(client: Client, place: Place) -> Any:
    """How the client reaches a worker: directly if it is one that does, through the scheduler otherwise."""
    if client.direct_to_workers:
        return client.rpc(place.address)
    return ProxyRPC(client.scheduler, place.address)
