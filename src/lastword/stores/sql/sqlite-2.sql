-- What a list of sessions shows.
ALTER TABLE sessions ADD COLUMN title TEXT NOT NULL DEFAULT ''; -- how its first message begins
ALTER TABLE sessions ADD COLUMN at REAL NOT NULL DEFAULT 0; -- seconds since 1970: the last write
CREATE INDEX sessions_recent ON sessions (at, id) WHERE length > 0;
