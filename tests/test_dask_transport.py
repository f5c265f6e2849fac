"""Messages through a Dask cluster: all members are heard, workers may die, and they are free afterwards."""

import os
import time
from concurrent.futures import ThreadPoolExecutor

import dask
import numpy as np
import pytest
from dask_clusters import all_free, members, some_workers
from dask_toy import Toy, Waits, die, expected, kills, make, play, say_wrong, toy
from distributed import Client, LocalCluster

from simplexboost.distributed.comm import Leader
from simplexboost.distributed.dask.placement import NoWorkersError, divide_partitions
from simplexboost.distributed.dask.transport import FAN, DaskTransport
from simplexboost.distributed.dask.workers import Item, Work


@pytest.fixture(scope="module")
def cluster():
    """Four processes; those that die are started again."""
    with LocalCluster(n_workers=4, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def connected(cluster):
    """A client."""
    with Client(cluster) as client:
        yield client


@pytest.fixture
def client(connected):
    """The client, with all workers there."""
    connected.wait_for_workers(4, timeout=60)
    return connected


@pytest.fixture(scope="module")
def threads():
    """A client of workers that are threads of this process."""
    with some_threads(3) as (_, client):
        yield client


def some_threads(n):
    """A cluster of n workers that are threads of this process, and its client; workers can be closed in no time."""
    return some_workers(n, processes=False)


def close(cluster, address):
    """Close a worker."""
    worker = next(worker for worker in cluster.workers.values() if worker.address == address)
    cluster.sync(worker.close)


# ---- without trouble ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 7, 20])
def test_all_partitions_are_heard(client, n):
    """The program finds the same on any number of partitions that workers share."""
    found, transport = play(client, toy(n))
    assert found == expected(n)
    assert transport.n_lost == 0
    assert all_free(client)


def test_workers_may_be_threads_of_the_same_process(threads):
    """Workers that share a process do not disturb each other."""
    assert play(threads, toy(7))[0] == expected(7)
    assert all_free(threads)


def test_messages_go_down_a_tree(threads):
    """More members than one holder asks: three levels, if every partition has a holder of its own."""
    work = toy(FAN + 3)
    with DaskTransport(threads, work, "tree") as transport:
        first = transport.held[0]
        assert len(transport.held) == 3
        transport.close()
        for i in range(len(work.items)):
            transport.held += transport.placement.make([i], [])
        transport.start([])
        transport.form_tree()
        assert len(transport.held) == FAN + 3
        assert first not in transport.held
        assert Toy()(Leader(transport), []) == expected(FAN + 3)
    assert all_free(threads)


def test_partitions_are_forgotten_once_members_have_them(threads):
    """Workers keep no copy of the partitions beside what the program makes of them."""
    with DaskTransport(threads, toy(7), "kept") as transport:
        transport.step(0, None)
        for _ in range(500):
            kept = {key for keys in threads.has_what().values() for key in keys}
            if kept == {holder.place.key for holder in transport.held}:
                break
            time.sleep(0.01)
        assert kept == {holder.place.key for holder in transport.held}


def test_several_fits_at_once(client):
    """Fits side by side, from several threads of the client, find what each of them finds alone."""
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda n: play(client, toy(n, rounds=30))[0], [3, 5, 7, 9]))
    assert found == [expected(n, 30) for n in (3, 5, 7, 9)]
    assert all_free(client)


def test_a_client_that_is_not_the_current_one(cluster, threads):
    """The client that is passed is used, whichever is the current one."""
    with Client(cluster, set_as_default=False) as other:
        assert play(other, toy(4))[0] == expected(4)


def test_a_client_that_talks_to_workers_directly(cluster):
    """Messages need not go through the scheduler."""
    with Client(cluster, set_as_default=False, direct_to_workers=True) as other:
        assert play(other, toy(4))[0] == expected(4)


def test_threads_of_the_worker_are_told(threads):
    """The program hears how many threads the worker has."""
    heard = []

    def program(group, partitions, n_threads):
        heard.append(n_threads)

    with DaskTransport(threads, Work(toy(3).items, program), "threads") as transport:
        answer = transport.step(0, None)
    assert answer.what == "done"
    assert heard == [1] * len(heard)


# ---- workers die ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("moment", [0, 1, 5])
def test_a_worker_dies_in_the_middle_of_an_answer(client, tmp_path, moment):
    """Whoever dies while the others wait: its partitions are computed again elsewhere, and the program goes on."""
    path = str(tmp_path / "waiting")
    thread = kills(path)
    found, transport = play(client, toy(7, odd=moment, does=Waits(path)))
    thread.join()
    assert found == expected(7)
    assert transport.n_lost == 1
    assert all_free(client)


@pytest.mark.parametrize("who", [0, -1])
def test_a_worker_dies_between_answers(client, who):
    """The first holder, which the client talks to, or the last one."""
    work = toy(7)
    with DaskTransport(client, work, os.urandom(4).hex()) as transport:

        def kill():
            pid = client.run(os.getpid, workers=[transport.held[who].place.address])
            os.kill(next(iter(pid.values())), 9)

        found = Toy(hooks={3: kill})(Leader(transport), [])
    assert found == expected(7)
    assert transport.n_lost == 1


def test_a_worker_dies_while_it_computes_a_partition(client, tmp_path):
    """Dask computes it again."""
    waits = Waits(str(tmp_path / "waiting"))
    thread = kills(waits.path)

    def slow(i):
        if i == 4:
            waits()
        return make(i)

    assert play(client, toy(7, make=slow))[0] == expected(7)
    thread.join()


def test_a_partition_that_kills_every_worker(client):
    """The fit gives up, and names the partition."""
    few = dask.config.set({"distributed.scheduler.allowed-failures": 1})
    match = r"2 workers died one after another while they worked on .*partition 4"
    with few, pytest.raises(RuntimeError, match=match):
        play(client, toy(5, odd=2, does=die))
    assert all_free(client)


def test_a_cluster_that_shrinks_and_grows():
    """Members on workers that are closed move to others; workers that join late are left alone."""
    with some_threads(4) as (cluster, client):
        found, transport = play(client, toy(7), hooks={3: lambda: cluster.scale(2), 6: lambda: until(client, 2)})
        assert found == expected(7)
        assert transport.n_lost == 2
        found, transport = play(client, toy(7), hooks={3: lambda: cluster.scale(4), 6: lambda: until(client, 4)})
        assert found == expected(7)
        assert transport.n_lost == 0


def until(client, n):
    """Wait until there are n workers."""
    while len(client.nthreads()) != n:
        time.sleep(0.01)


def test_workers_that_are_to_retire_in_the_middle_stay(client):
    """Dask retires no worker that holds an actor: the fit ends first."""
    found, transport = play(client, toy(7), hooks={3: lambda: client.retire_workers(sorted(client.nthreads())[:1])})
    assert found == expected(7)
    assert transport.n_lost == 0


def test_partitions_that_come_out_different(tmp_path):
    """A lost partition must come back as it was."""
    lost = tmp_path / "lost"

    def changing(i):
        return make(i + lost.exists()) if i == 4 else make(i)

    with some_threads(2) as (cluster, client), DaskTransport(client, toy(5, make=changing), "different") as transport:

        def lose():
            lost.touch()
            close(cluster, next(holder.place.address for holder in transport.held if 4 in holder.items))

        with pytest.raises(RuntimeError, match="partition 4 was lost with its worker, and came out different"):
            Toy(hooks={2: lose})(Leader(transport), [])


def test_partitions_that_are_truly_gone():
    """Scattered data is gone with the worker that had it; the error names the partition."""
    with some_threads(2) as (cluster, client):
        address = sorted(client.nthreads())[0]
        scattered = client.scatter(np.arange(1000), workers=[address])
        items = [Item("the scattered partition", dask.delayed(np.sort)(scattered)), *toy(3).items]
        with (
            DaskTransport(client, Work(items, Toy()), "gone") as transport,
            pytest.raises(RuntimeError, match=r"Dask cannot compute the scattered partition: data .* are gone"),
        ):
            Toy(hooks={2: lambda: close(cluster, address)})(Leader(transport), [])


# ---- other trouble --------------------------------------------------------------------------------------------------


def test_an_error_in_the_program_is_no_lost_worker(client):
    """It reaches the user, who learns where it happened."""
    with pytest.raises(ValueError, match="this partition is wrong") as caught:
        play(client, toy(7, odd=3, does=say_wrong))
    assert any("worker tcp://" in note for note in caught.value.__notes__)
    assert all_free(client)


def test_an_error_that_cannot_be_sent(client):
    """It is sent in words."""

    class LocalError(Exception):
        def __init__(self, a, b):
            super().__init__(f"{a} and {b}")

    def wrong():
        raise LocalError(1, 2)

    with pytest.raises(RuntimeError, match="LocalError: 1 and 2"):
        play(client, toy(7, odd=3, does=wrong))


def test_a_partition_that_cannot_be_computed(client):
    """The error of its task, with a note that names the partition."""

    def broken(i):
        return make(i) / None if i == 2 else make(i)

    with pytest.raises(TypeError) as caught:
        play(client, toy(4, make=broken))
    assert "partition 2" in caught.value.__notes__[-1]


def test_no_workers():
    """After the documented time an error says so."""
    with (
        LocalCluster(n_workers=0, dashboard_address=":0") as cluster,
        Client(cluster) as client,
        dask.config.set({"simplexboost.workers-timeout": 0.1}),
        pytest.raises(NoWorkersError, match=r"no workers for 0\.1 seconds"),
    ):
        play(client, toy(2))


def test_an_interrupt_frees_the_workers(client):
    """Whatever ends the fit at the client, the members end too."""

    def interrupt():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play(client, toy(7), hooks={3: interrupt})
    assert all_free(client)


def test_a_client_that_goes_away_frees_the_workers(client, cluster):
    """So does a client that is closed in the middle of a fit."""
    other = Client(cluster, set_as_default=False)
    transport = DaskTransport(other, toy(7), "away").__enter__()
    transport.step(0, None)
    assert any(client.run(members).values())
    other.close()
    assert all_free(client)
    transport.close()


# ---- shares ---------------------------------------------------------------------------------------------------------


def test_shares_stay_where_they_are_if_they_can():
    """Partitions move only away from a worker that has much more than the others."""
    everywhere = {i: ["a"] for i in range(8)}
    assert divide_partitions(dict.fromkeys(range(8), 10), everywhere, {"a": 0, "b": 0}) == {
        "a": [0, 1, 2, 3],
        "b": [4, 5, 6, 7],
    }
    assert divide_partitions({0: 10}, {0: ["b"]}, {"a": 0, "b": 0}) == {"b": [0]}
    assert divide_partitions({0: 10}, {0: ["b"]}, {"a": 10, "b": 100}) == {"a": [0]}
    assert divide_partitions({0: 10}, {0: ["gone"]}, {"a": 5, "b": 0}) == {"b": [0]}
    assert divide_partitions({0: 0, 1: 0}, {0: ["a"], 1: ["b"]}, {"a": 0, "b": 0}) == {"a": [0], "b": [1]}
