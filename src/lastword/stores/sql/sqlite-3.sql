-- Cells: each as it stands, and what they have remembered.
CREATE TABLE cells (
  session INTEGER NOT NULL REFERENCES sessions (key),
  id      TEXT    NOT NULL,
  number  INTEGER NOT NULL, -- in the order they were made
  going   INTEGER NOT NULL, -- 0: it has ended
  body    TEXT    NOT NULL, -- JSON
  PRIMARY KEY (session, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX cells_going ON cells (session) WHERE going;
CREATE TABLE remembered (
  session INTEGER NOT NULL REFERENCES sessions (key),
  name    TEXT    NOT NULL,
  value   TEXT    NOT NULL, -- JSON
  PRIMARY KEY (session, name)
) STRICT, WITHOUT ROWID;
