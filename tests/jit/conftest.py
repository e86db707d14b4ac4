"""Programs of these tests run by LLVM."""

import pytest


@pytest.fixture(autouse=True, scope="package")
def by_llvm():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SWELLTREE_ENGINE", "llvm")
        yield
