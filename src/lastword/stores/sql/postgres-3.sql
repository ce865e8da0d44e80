-- Servers that are asked for each other's sessions.
ALTER TABLE lastword.nodes
  ADD COLUMN url     text    NOT NULL DEFAULT '', -- where others ask it; '': nowhere
  ADD COLUMN leaving boolean NOT NULL DEFAULT false, -- it ends soon, and takes nothing new
  ADD COLUMN digest  text    NOT NULL DEFAULT ''; -- of what has to be the same everywhere

-- What only the servers of this database know.
CREATE TABLE lastword.secrets (
  one    boolean PRIMARY KEY DEFAULT true CHECK (one),
  secret bytea NOT NULL
);

-- Links to the page that nobody has opened yet.
CREATE TABLE lastword.links (
  code    bytea PRIMARY KEY, -- a hash of it
  expires timestamptz NOT NULL
);
