"""Writes the small Arrow IPC files of this folder: python3 make.py, with pyarrow 26."""

from datetime import date, datetime, timezone
from decimal import Decimal

import pyarrow as pa
import pyarrow.ipc as ipc


def write(name, *batches, **options):
    opened = ipc.new_stream if name.endswith(".arrows") else ipc.new_file
    with opened(name, batches[0].schema, options=ipc.IpcWriteOptions(**options)) as writer:
        for batch in batches:
            writer.write_batch(batch)


def batch(**columns):
    return pa.record_batch(list(columns.values()), list(columns))


def plain(first):
    return batch(
        id=pa.array([first, None, first + 2], pa.int32()),
        name=pa.array(["a", "longer than the others", None]),
        ok=pa.array([True, None, False]),
        at=pa.array([1.5, -0.0, None], pa.float64()),
    )


def repeated(first):
    return batch(
        id=pa.array(range(first, first + 40), pa.int64()),
        name=pa.array([None if i == 7 else "value value value"[: i % 17] for i in range(40)]),
    )


def coded(values, codes):
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(values))


def nested():
    pairs = pa.map_(pa.string(), pa.int16())
    return batch(
        list=pa.array([[1, 2], None, [], [3]], pa.list_(pa.int32())),
        fixed=pa.array([[1, 2], [3, None], None, [5, 6]], pa.list_(pa.int8(), 2)),
        struct=pa.array([{"a": 1, "b": "x"}, None, {"a": None, "b": ""}, {"a": 4, "b": "y"}]),
        map=pa.array([[("k", 1)], [], None, [("a", None), ("b", 2)]], pairs),
    )


def views():
    long = "a string that does not fit its view"
    return batch(
        text=pa.array(["short", long, None, long + "!"], pa.string_view()),
        bytes=pa.array([b"", long.encode(), b"x", None], pa.binary_view()),
        list=pa.ListViewArray.from_arrays([2, 0, 0, 1], [1, 2, 0, 2], pa.array([1, 2, 3], pa.int32())),
        large=pa.LargeListViewArray.from_arrays([0, 1, 1, 0], [1, 1, 0, 2], pa.array(["p", "q"])),
    )


def runs():
    return batch(
        run=pa.RunEndEncodedArray.from_arrays(pa.array([2, 3, 6], pa.int32()), pa.array(["a", None, "b"])),
        small=pa.RunEndEncodedArray.from_arrays(pa.array([6], pa.int16()), pa.array([7], pa.int64())),
    )


def unions():
    ids = pa.array([0, 1, 0, 1], pa.int8())
    sparse = pa.UnionArray.from_sparse(ids, [pa.array([1, 2, None, 4]), pa.array(["a", "b", "c", "d"])])
    dense = pa.UnionArray.from_dense(ids, pa.array([0, 0, 1, 1], pa.int32()), [pa.array([1, 2]), pa.array(["a", "b"])])
    return batch(sparse=sparse, dense=dense)


def scalars():
    zone = timezone.utc
    return batch(
        decimal=pa.array([Decimal("1.25"), None], pa.decimal128(9, 2)),
        wide=pa.array([Decimal("-7.5"), Decimal("0.1")], pa.decimal256(50, 1)),
        date=pa.array([date(2024, 2, 29), None]),
        at=pa.array([datetime(2024, 1, 1, tzinfo=zone), None], pa.timestamp("us", "UTC")),
        time=pa.array([1, 2], pa.time64("ns")),
        took=pa.array([1, None], pa.duration("ms")),
        span=pa.array([(1, 2, 3), None], pa.month_day_nano_interval()),
        fixed=pa.array([b"abc", b"def"], pa.binary(3)),
        large=pa.array(["x", "yz"], pa.large_string()),
        half=pa.array([1, None], pa.uint8()),
        none=pa.nulls(2),
    )


for ending in ("arrows", "arrow"):
    write(f"plain.{ending}", plain(0), plain(10))
    write(f"lz4.{ending}", repeated(0), repeated(40), compression="lz4")
    write(f"zstd.{ending}", repeated(0), repeated(40), compression="zstd")
    write(
        f"dictionary.{ending}",
        batch(code=coded(["a", "b"], [0, 1, None])),
        batch(code=coded(["a", "b", "c"], [2, 1, 0])),
        emit_dictionary_deltas=True,
    )
write("replaced.arrows", batch(code=coded(["a", "b"], [0, 1, 0])), batch(code=coded(["c", "d"], [0, 1, 1])))
write("nested.arrows", nested())
write("views.arrows", views())
write("views_zstd.arrow", views(), compression="zstd")
write("runs.arrows", runs())
write("unions.arrow", unions())
write("scalars.arrow", scalars())
