-- How a person has a session listed.
ALTER TABLE lastword.sessions
  ADD COLUMN name   text    NOT NULL DEFAULT '', -- '': by its title
  ADD COLUMN pinned boolean NOT NULL DEFAULT false; -- before the others
