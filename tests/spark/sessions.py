"""Sessions of Spark on this machine, small and quiet."""

from __future__ import annotations

from typing import Any

_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "3",
    "spark.default.parallelism": "2",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "1g",
    "spark.log.level": "ERROR",
}


def classic(master: str = "local[2]", **settings: str) -> Any:
    from pyspark.sql import SparkSession

    return _with_settings(SparkSession.builder.master(master), settings).getOrCreate()


def connect(**settings: str) -> Any:
    from pyspark.sql import SparkSession

    return _with_settings(SparkSession.builder.remote("local[2]"), settings).getOrCreate()


def _with_settings(builder: Any, settings: dict[str, str]) -> Any:
    for name, value in (_SETTINGS | settings).items():
        builder = builder.config(name, value)
    return builder
