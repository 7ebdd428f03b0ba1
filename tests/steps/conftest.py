"""Shows what an assertion of `proof` compared."""

import pytest

pytest.register_assert_rewrite("proof")
