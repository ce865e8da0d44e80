-- Whoever has the file open, or had it and did not say that it left. A number is never used again,
-- so a session whose owner is not in here any more belongs to nobody.
CREATE TABLE owners (
  epoch   INTEGER PRIMARY KEY AUTOINCREMENT,
  pid     INTEGER NOT NULL,
  started INTEGER NOT NULL, -- the process's start, as the kernel counts; 0: not known
  place   TEXT    NOT NULL, -- boot and pid namespace, in which the pid means something; '': none
  host    TEXT    NOT NULL, -- for people to read
  since   REAL    NOT NULL, -- seconds since 1970, as is:
  beat    REAL    NOT NULL  -- when it was last heard of
) STRICT;

CREATE TABLE sessions (
  key        INTEGER PRIMARY KEY,
  id         TEXT    NOT NULL UNIQUE,
  generation INTEGER,                    -- NULL: owned, but nothing was ever written
  serial     INTEGER NOT NULL DEFAULT 0, -- how many messages it has numbered
  length     INTEGER NOT NULL DEFAULT 0, -- how many entries its log has
  standing   TEXT    NOT NULL DEFAULT '{}', -- JSON: how its queue stands
  parent     TEXT,                       -- the id of the session above it
  owner      INTEGER NOT NULL            -- an epoch
) STRICT;
CREATE INDEX sessions_below ON sessions (parent) WHERE parent IS NOT NULL;

CREATE TABLE entries (
  session    INTEGER NOT NULL REFERENCES sessions (key),
  number     INTEGER NOT NULL, -- 1, 2, 3, …
  generation INTEGER NOT NULL, -- of the write that brought it
  kind       TEXT    NOT NULL,
  body       TEXT    NOT NULL, -- JSON
  PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE messages (
  session INTEGER NOT NULL REFERENCES sessions (key),
  id      TEXT    NOT NULL,
  said    INTEGER NOT NULL, -- the entry that has its text, the last if it was edited
  began   INTEGER NOT NULL DEFAULT 0, -- 1: a run took it up
  outcome TEXT,                       -- NULL: it has not ended
  PRIMARY KEY (session, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX messages_unfinished ON messages (session) WHERE outcome IS NULL;
