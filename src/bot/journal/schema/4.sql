-- Takebacks granted, so that a restart does not grant them anew.
ALTER TABLE games ADD COLUMN takebacks INTEGER NOT NULL DEFAULT 0;
