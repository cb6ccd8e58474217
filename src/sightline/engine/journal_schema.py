"""The tables of the journal's file, version by version."""

from __future__ import annotations

FILE_NAME = "journal.sqlite"

_VERSION_1 = """
CREATE TABLE calls (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL,
    stage TEXT NOT NULL,
    task TEXT,
    model TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    sample INTEGER NOT NULL,
    at REAL NOT NULL,
    seconds REAL,
    attempts INTEGER NOT NULL,
    input INTEGER NOT NULL,
    cached INTEGER NOT NULL,
    output INTEGER NOT NULL,
    reasoning INTEGER NOT NULL,
    image INTEGER NOT NULL,
    cache_written INTEGER NOT NULL,
    reported INTEGER NOT NULL,
    usd REAL,
    failure TEXT,
    message TEXT,
    reusable INTEGER NOT NULL,
    reply BLOB
);
CREATE INDEX calls_by_key ON calls (key) WHERE reusable = 1;
CREATE TABLE hits (
    stage TEXT NOT NULL,
    model TEXT NOT NULL,
    count INTEGER NOT NULL,
    usd REAL NOT NULL,
    PRIMARY KEY (stage, model)
) WITHOUT ROWID
"""

# What is known of providers' batches (models/batches/store.py): in this file, so that a result and its call are
# written together or not at all.
_VERSION_2 = """
CREATE TABLE batches (
    job TEXT NOT NULL,
    shard TEXT NOT NULL,
    folder TEXT NOT NULL,
    model TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    requests INTEGER NOT NULL,
    at REAL NOT NULL,
    status TEXT NOT NULL,
    message TEXT NOT NULL DEFAULT '',
    file_id TEXT,
    batch_id TEXT,
    output_file_id TEXT,
    error_file_id TEXT,
    completed INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    downloaded INTEGER NOT NULL DEFAULT 0,
    parsed INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (job, shard)
) WITHOUT ROWID;
CREATE TABLE batch_results (
    job TEXT NOT NULL,
    id TEXT NOT NULL,
    shard TEXT NOT NULL,
    failure TEXT,
    message TEXT,
    retryable INTEGER NOT NULL,
    PRIMARY KEY (job, id)
) WITHOUT ROWID
"""

# Who has been told of, before private pictures went there (models/notice.py).
_VERSION_3 = """
CREATE TABLE told (host TEXT PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID
"""

# `at_least`: where `usd` is not known because some attempts may have been billed, what the others cost.
# `claims`: requests that are being asked now, and by which journal (engine/claims.py).
# `missed`, `missed_since`: how often, and since when, a server did not know a batch.
_VERSION_4 = """
ALTER TABLE calls ADD COLUMN at_least REAL NOT NULL DEFAULT 0;
CREATE TABLE claims (key BLOB PRIMARY KEY, owner TEXT NOT NULL) WITHOUT ROWID;
ALTER TABLE batches ADD COLUMN missed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE batches ADD COLUMN missed_since REAL
"""

MIGRATIONS: tuple[str, ...] = (_VERSION_1, _VERSION_2, _VERSION_3, _VERSION_4)
"""Script n brings a journal from version n to n + 1; never edit one that has been released."""
