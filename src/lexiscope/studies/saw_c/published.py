"""What the paper prints: the numbers of SAW-C and RAW-C, in ``printed.csv`` next to this file.

A record has a status only as the outcome of a comparison with one of these rows.
"""

from __future__ import annotations

from pathlib import Path

from lexiscope.core.study import printed_values

PUBLISHED = printed_values(Path(__file__).with_name("printed.csv"), dataset="saw_c")
