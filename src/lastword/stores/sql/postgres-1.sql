-- One row: what this database is, and which schema it has.
CREATE TABLE lastword.store (
  one      boolean PRIMARY KEY DEFAULT true CHECK (one),
  version  integer NOT NULL,  -- of the schema
  place    text NOT NULL DEFAULT '', -- the cluster and the database in it, as it was last opened
  timeline text NOT NULL DEFAULT '', -- which a standby that takes over begins anew
  floor    bigint -- where the numbers of what is new begin, after a restore; NULL: at the beginning
);

-- Whoever has the store open. A number is random and never used again, so a session whose owner is
-- not in here belongs to nobody.
CREATE TABLE lastword.nodes (
  epoch   bigint PRIMARY KEY,
  beats   bigint NOT NULL DEFAULT 0, -- a count, not a time: who watches it has a clock of its own
  lease   double precision NOT NULL, -- seconds for which it is good without another beat
  pid     integer NOT NULL,
  started bigint  NOT NULL, -- the process's start, as the kernel counts; 0: not known
  place   text    NOT NULL, -- boot and pid namespace, in which the pid means something; '': none
  host    text    NOT NULL, -- for people to read
  version text    NOT NULL, -- of lastword
  since   timestamptz NOT NULL DEFAULT clock_timestamp(),
  keeper         integer NOT NULL DEFAULT 0, -- the process that sees off what this one started
  keeper_started bigint  NOT NULL DEFAULT 0
);

CREATE TABLE lastword.sessions (
  key        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id         text COLLATE "C" NOT NULL UNIQUE,
  parent     text COLLATE "C", -- the id of the session above it
  root       bigint,           -- the key of the topmost above it, whose owner is its owner
  owner      bigint NOT NULL DEFAULT 0, -- an epoch: whose it is; 0: nobody's
  claim      bigint NOT NULL DEFAULT 0, -- how often it was taken: who may write
  writes     bigint NOT NULL DEFAULT 0, -- how often it was written: what a write follows upon
  generation bigint,                    -- NULL: owned, but nothing was ever written
  serial     bigint NOT NULL DEFAULT 0, -- how many messages it has numbered
  length     bigint NOT NULL DEFAULT 0, -- how many entries its log has
  standing   text   NOT NULL DEFAULT '{}', -- JSON: how its queue stands
  state      text   NOT NULL DEFAULT 'idle', -- or running, or waiting
  title      text   NOT NULL DEFAULT '', -- how its first message begins
  at         double precision NOT NULL DEFAULT 0 -- seconds since 1970: the last write
) WITH (fillfactor = 70);
CREATE INDEX sessions_below ON lastword.sessions (parent) WHERE parent IS NOT NULL;
CREATE INDEX sessions_of ON lastword.sessions (root) WHERE root IS NOT NULL;
CREATE INDEX sessions_recent ON lastword.sessions (at, id) WHERE length > 0;

CREATE TABLE lastword.entries (
  session    bigint NOT NULL,
  number     bigint NOT NULL, -- 1, 2, 3, …
  generation bigint NOT NULL, -- of the write that brought it
  kind       text   NOT NULL,
  body       text   NOT NULL, -- JSON; not jsonb, which refuses some of what JSON can say
  PRIMARY KEY (session, number)
);
CREATE INDEX entries_marked ON lastword.entries (session, kind, number)
  WHERE kind IN ('receipt', 'unshown');

CREATE TABLE lastword.messages (
  session bigint  NOT NULL,
  id      text COLLATE "C" NOT NULL,
  said    bigint  NOT NULL, -- the entry that has its text, the last if it was edited
  began   boolean NOT NULL DEFAULT false, -- a run took it up
  outcome text,                           -- NULL: it has not ended
  PRIMARY KEY (session, id)
);
CREATE INDEX messages_unfinished ON lastword.messages (session) WHERE outcome IS NULL;

CREATE TABLE lastword.cells (
  session bigint  NOT NULL,
  id      text COLLATE "C" NOT NULL,
  number  bigint  NOT NULL, -- in the order they were made
  going   boolean NOT NULL, -- false: it has ended
  body    text    NOT NULL, -- JSON
  PRIMARY KEY (session, id)
);
CREATE INDEX cells_going ON lastword.cells (session) WHERE going;

CREATE TABLE lastword.remembered (
  session bigint NOT NULL,
  name    text COLLATE "C" NOT NULL,
  value   text NOT NULL, -- JSON
  PRIMARY KEY (session, name)
);

-- What one asks of another. Whoever is asked reads it with each beat, so no lease can be renewed
-- past it; a notification makes that quick, and nothing depends on one.
CREATE TABLE lastword.errands (
  id      bigint PRIMARY KEY, -- random, by who asks: who asks twice has asked once
  session text COLLATE "C" NOT NULL,
  owner   bigint NOT NULL, -- who is asked
  asker   bigint NOT NULL,
  body    text   NOT NULL, -- JSON
  answer  text,            -- JSON; NULL: not answered yet
  at      timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX errands_open ON lastword.errands (owner) WHERE answer IS NULL;
