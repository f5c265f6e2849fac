"""Models do not change unless that is meant: `golden_models` fits many, and says what it hashes and how to renew it."""

import io
import json
import zipfile

import golden_models
import numpy as np
import pytest
from golden_models import (
    COLUMNS,
    CONFIGURATIONS,
    SAME,
    answers,
    compared,
    file_of,
    fit,
    flagship,
    hashes,
    kept,
    numbers,
)

HOW = "python tests/golden_models.py --renew {} renews it, if that is meant"


@pytest.fixture(scope="module", params=["pinned", "native"])
def differences(request):
    """What differs from the file, by name: with libraries that compute as on the oldest processor, and as they like."""
    done = golden_models.run(native=request.param == "native")
    *lines, last = done.stdout.splitlines()
    assert last.startswith(f"{len(CONFIGURATIONS)} configurations")
    return dict(line.split(": ", 1) for line in lines if not line.startswith("distributed"))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.gxx] * ("gpu" in name)) for name in CONFIGURATIONS]
)
def test_the_model_is_that_of_the_file(differences, name):
    assert name not in differences, f"{name}: {differences[name]}; {HOW.format(name)}"


def test_the_file_has_all_configurations_and_no_others():
    assert list(kept()[1]) == list(CONFIGURATIONS), HOW.format("NAME")


@pytest.mark.parametrize("name", SAME)
def test_these_models_are_the_same(name):
    """On other engines, with other numbers of threads."""
    one, other = (kept()[1][which] for which in (name, SAME[name]))
    assert {column: one[column] for column in COLUMNS[1:]} == {column: other[column] for column in COLUMNS[1:]}


def test_other_versions_of_libraries_compare_what_does_not_depend_on_them(monkeypatch):
    monkeypatch.setattr(golden_models, "platform_line", lambda: "another")
    assert compared() == compared(native=True) == ("header", "structure")


# ---- the net has no holes -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model():
    """The bytes of a file, and answers."""
    clf, told = fit(flagship(), numbers())
    return file_of(clf), told


def changed(file, told, edit=lambda header, arrays: None):
    """The columns that differ after an edit of the header and the arrays of a file."""
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header, stream = json.loads(members.pop("header.json")), io.BytesIO()
    edit(header, members)
    with zipfile.ZipFile(stream, "w") as archive:  # not compressed
        for name, data in {"header.json": json.dumps(header), **members}.items():
            archive.writestr(name, data)
    before, after = hashes(file, told), hashes(stream.getvalue(), told)
    return {column for column in COLUMNS if before[column] != after[column]}


def rename(table, old, new):
    table[new] = table.pop(old)


def test_another_version_and_another_compression_change_nothing(model):
    assert changed(*model, lambda header, arrays: header.update(written_by="a later version")) == set()


def test_a_new_name_changes_the_header_only(model):
    def edit(header, arrays):
        header["class"] = "SimplexClassifier"
        rename(header["parameters"], "max_bins", "n_bins")
        rename(header, "seed", "random_seed")
        for table in (header["arrays"], arrays):
            rename(table, "gain", "gains")

    assert changed(*model, edit) == {"header"}


def test_another_parameter_changes_the_header_only(model):
    assert changed(*model, lambda header, arrays: header["parameters"].update(max_bins=254)) == {"header"}


@pytest.mark.parametrize(
    ("name", "columns"), [("values", {"arrays"}), ("gain", {"arrays"}), ("nodes", {"arrays", "structure"})]
)
def test_the_last_bit_of_a_number_changes_the_arrays(model, name, columns):
    def edit(header, arrays):
        arrays[name] = bytes([arrays[name][0] ^ 1]) + arrays[name][1:]

    assert changed(*model, edit) == columns


def test_a_number_in_the_header_changes_the_facts(model):
    def edit(header, arrays):
        header["seed"] += 1

    assert changed(*model, edit) == {"facts", "structure"}


def test_the_last_bit_of_an_answer_is_seen(model):
    file, told = model
    more = told | {"predict_proba": np.nextafter(told["predict_proba"], 1)}
    assert hashes(file, more) == hashes(file, told) | {"answers": hashes(file, more)["answers"]}
    assert hashes(file, more) != hashes(file, told)


@pytest.mark.parametrize("parameters", [{"n_estimators": 7}, {"random_state": 1}, {"learning_rate": 0.2}], ids=str)
def test_another_model_is_seen(model, parameters):
    clf, told = fit(flagship(**parameters), numbers())
    found, before = hashes(file_of(clf), told), hashes(*model)
    assert not {"header", "arrays", "answers"} & {column for column in COLUMNS if found[column] == before[column]}
    assert hashes(file_of(clf), answers(clf, numbers().rows)) == found
