"""Calls of an actor's methods, between workers and from the client, that always end: with an answer or an error.

Dask's own proxy (`distributed.Actor`) waits forever if the worker is there but the actor is not; and it goes through
the current client, which need not be the one that the user passed. Here its remote procedure is called directly.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from distributed import Client
from distributed.actor import ProxyRPC
from distributed.protocol import to_serialize

NEAR = 2.0  # seconds in which a worker must answer the client to count as near


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


async def is_near(client: Client, place: Place) -> bool:
    """Whether the client can reach a worker directly: then answers need not travel through the scheduler as well."""
    if client.direct_to_workers:
        return True
    try:
        await asyncio.wait_for(client.rpc(place.address).identity(), NEAR)
    except (OSError, TimeoutError):
        return False
    return True


def client_rpc(client: Client, place: Place, near: bool) -> Any:
    """How the client reaches a worker: directly, or through the scheduler."""
    return client.rpc(place.address) if near else ProxyRPC(client.scheduler, place.address)
