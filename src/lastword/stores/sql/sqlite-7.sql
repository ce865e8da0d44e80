-- How a person has a session listed.
ALTER TABLE sessions ADD COLUMN name TEXT NOT NULL DEFAULT ''; -- '': by its title
ALTER TABLE sessions ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0; -- 1: before the others
