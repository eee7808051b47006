"""Numbers with names: pandas objects where pandas is installed, else plain arrays in the same
order.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError

Floats = NDArray[np.float64]


def has_pandas() -> bool:
    return find_spec("pandas") is not None


def series(values: Floats, index: Sequence[str]) -> Any:
    """One number per name."""
    if not has_pandas():
        return values
    import pandas as pd

    return pd.Series(values, index=list(index))


def frame(values: Floats, index: Sequence[str] | None, columns: Sequence[Any]) -> Any:
    """One row of numbers per name; numbered rows without names."""
    if not has_pandas():
        return values
    import pandas as pd

    return pd.DataFrame(values, index=None if index is None else list(index), columns=list(columns))


def frame_of_records(records: Sequence[dict[str, Any]]) -> Any:
    """A data frame whose index is each record's ``name``."""
    if not has_pandas():
        raise DiscreetError("to_frame() needs pandas, which is not installed: pip install pandas")
    import pandas as pd

    return pd.DataFrame.from_records(list(records)).set_index("name")
