#!/usr/bin/env python3
"""Reads one value of a .nmc model file: docs/format.md in sixty lines. Not fast.

usage: read_nmc.py FILE TENSOR MATRIX ROW COL     (MATRIX: the expert, otherwise 0)
prints: the 16 bits in hex, and the value
"""
import json
import struct
import sys

try:
    from xxhash import xxh3_64_intdigest as checksum
except ImportError:
    checksum = None  # the checksums are then not compared


def read_at(f, offset, size):
    f.seek(offset)
    data = f.read(size)
    if len(data) != size:
        raise SystemExit("the file is cut")
    return data


def compare(data, expected, what):
    if checksum and checksum(data) != expected:
        raise SystemExit(f"the checksum of the {what} does not match")


def open_model(f):
    """Returns the JSON header and the directory: name -> dict."""
    preamble = read_at(f, 0, 4096)
    if preamble[:8] != b"NMCMODEL" or struct.unpack_from("<I", preamble, 8)[0] != 1:
        raise SystemExit("not a .nmc file of version 1")
    (_, json_at, json_bytes, json_sum, entries_at, count, entries_sum, _, _, _) = \
        struct.unpack_from("<10Q", preamble, 16)
    compare(preamble[:112], struct.unpack_from("<Q", preamble, 112)[0], "preamble")
    text = read_at(f, json_at, json_bytes)
    entries = read_at(f, entries_at, 256 * count)
    compare(text, json_sum, "JSON header")
    compare(entries, entries_sum, "directory")
    keys = ("dtype", "layout", "row_order", "row_block", "section", "reserved", "count", "rows",
            "cols", "padded_rows", "padded_cols", "offset", "bytes", "xxh3")
    directory = {}
    for at in range(0, len(entries), 256):
        name = entries[at:at + 128].rstrip(b"\0").decode()
        directory[name] = dict(zip(keys, struct.unpack_from("<6I8Q", entries, at + 128)))
    return json.loads(text), directory


def element(f, t, matrix, row, col):
    """The 16 bits of an element; row and col as stored."""
    if not (0 <= matrix < t["count"] and 0 <= row < t["rows"] and 0 <= col < t["cols"]):
        raise SystemExit("outside the tensor")
    index = col  # of the value in its matrix
    if t["layout"] == 1:
        r, chunk = row % 8, col % 64 // 8
        index = (row // 8 * 8 * t["padded_cols"] + col // 64 * 512
                 + r * 64 + (chunk ^ r) * 8 + col % 8)
    matrix_bytes = t["padded_rows"] * t["padded_cols"] * 2
    return struct.unpack("<H", read_at(f, t["offset"] + matrix * matrix_bytes + index * 2, 2))[0]


if __name__ == "__main__":
    if len(sys.argv) != 6:
        raise SystemExit(__doc__)
    with open(sys.argv[1], "rb") as file:
        header, tensors = open_model(file)
        bits = element(file, tensors[sys.argv[2]], *map(int, sys.argv[3:]))
    print(f"{bits:04x} {struct.unpack('<f', struct.pack('<I', bits << 16))[0]:g}")
