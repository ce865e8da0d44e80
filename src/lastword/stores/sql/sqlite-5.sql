-- What a log is searched for: what was stopped, and what of its words nobody saw.
CREATE INDEX entries_marked ON entries (session, kind, number) WHERE kind IN ('receipt', 'unshown');
