-- By how many points a game changed our rating, where the server said so.
ALTER TABLE games ADD COLUMN rating_change INTEGER;
