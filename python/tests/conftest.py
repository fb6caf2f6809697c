import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture(scope="session")
def demo():
    return str(ROOT / "examples" / "demo" / "models" / "en")


@pytest.fixture(scope="session")
def data():
    """The unpacked test models; TARE_TEST_DATA says where."""
    path = pathlib.Path(os.environ.get("TARE_TEST_DATA", ROOT / "build" / "test_data"))
    if not (path / "corpus").is_dir():
        pytest.skip(f"no test models in {path}")
    return path
