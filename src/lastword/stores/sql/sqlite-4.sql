-- A lease: a count that its owner moves, and the seconds for which it is good without that. Nobody
-- compares clocks: whoever watches measures how long it has not moved.
ALTER TABLE owners RENAME COLUMN beat TO beats;
ALTER TABLE owners ADD COLUMN lease REAL NOT NULL DEFAULT 10;
-- The process that sees off what an owner has started; it goes last. 0: there is none.
ALTER TABLE owners ADD COLUMN keeper INTEGER NOT NULL DEFAULT 0;
ALTER TABLE owners ADD COLUMN keeper_started INTEGER NOT NULL DEFAULT 0;
-- For whoever lists the sessions of another process.
ALTER TABLE sessions ADD COLUMN state TEXT NOT NULL DEFAULT 'idle'; -- or running, or waiting
