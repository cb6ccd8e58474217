CREATE TABLE roots (
    id INTEGER PRIMARY KEY,
    path BLOB NOT NULL UNIQUE,
    name TEXT NOT NULL,
    scanned_at TEXT
);
CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    root INTEGER NOT NULL REFERENCES roots (id),
    path BLOB NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    sidecars BLOB NOT NULL,
    reader TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('present', 'deleted', 'offline')),
    reason TEXT,
    detail TEXT,
    UNIQUE (root, path)
);
CREATE TABLE pictures (
    id TEXT PRIMARY KEY,
    file INTEGER NOT NULL UNIQUE REFERENCES files (id),
    sha256 BLOB NOT NULL,
    phash INTEGER NOT NULL,
    colours BLOB NOT NULL,
    width INTEGER NOT NULL,
    height INTEGER NOT NULL,
    mime TEXT NOT NULL,
    taken_at TEXT,
    taken_key REAL,
    lat REAL,
    lon REAL,
    altitude REAL,
    address TEXT,
    device TEXT,
    owner TEXT,
    license TEXT,
    doi TEXT,
    source TEXT,
    attribution TEXT,
    extra TEXT NOT NULL,
    given TEXT NOT NULL,
    warnings TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX pictures_by_sha256 ON pictures (sha256);
CREATE INDEX pictures_by_time ON pictures (owner, taken_key);
CREATE TABLE aliases (alias TEXT PRIMARY KEY, id TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE groups (id TEXT PRIMARY KEY, kind TEXT NOT NULL, hidden INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE members (
    group_id TEXT NOT NULL REFERENCES groups (id),
    position INTEGER NOT NULL,
    picture TEXT NOT NULL,
    PRIMARY KEY (group_id, position)
) WITHOUT ROWID;
CREATE INDEX members_by_picture ON members (picture);
CREATE TABLE notes (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
