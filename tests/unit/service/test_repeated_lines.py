from __future__ import annotations

import logging

from discreet.service.repeated_lines import OnceAMinute


def log_with(clock):
    """A logger behind the filter, and the lines that came through."""
    lines = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())
    logger = logging.Logger("test")
    logger.addHandler(handler)
    logger.addFilter(OnceAMinute(clock=clock))
    return logger, lines


def test_a_line_that_repeats_is_written_once_a_minute_with_its_number():
    now = [0.0]
    logger, lines = log_with(lambda: now[0])
    for second in range(150):
        now[0] = float(second)
        logger.error("GET %s: %s", "/", "gone")
    assert lines == [
        "GET /: gone",
        "GET /: gone (and 59 more times since the last such line)",
        "GET /: gone (and 59 more times since the last such line)",
    ]


def test_other_lines_are_not_held_back_and_memory_is_bounded():
    logger, lines = log_with(lambda: 0.0)
    for number in range(1000):
        logger.error(f"line {number}")
    assert len(lines) == 1000
    assert len(logger.filters[0]._kinds) <= 200
