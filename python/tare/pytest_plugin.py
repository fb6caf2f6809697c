"""The pytest fixture `assert_flat`: tare.assert_flat, for tests of any Python function."""
import pytest


@pytest.fixture
def assert_flat():
    """assert_flat(fn, cycles=50): fails when a cycle of fn leaves Python blocks or ledger bytes."""
    from tare.flat import assert_flat as check
    return check
