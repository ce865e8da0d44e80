-- Restores. What a store gave out after the backup was made is not known in the backup: so numbers
-- go on from one that is higher than all of those, also in sessions that it has never heard of.
CREATE TABLE restores (
  floor INTEGER NOT NULL -- a generation, and a count of messages: the time, in microseconds
) STRICT;
