-- How a council voted: what each elector knows (letters; NULL: a foreign engine), how split the vote was (0 unanimity, 1 an
-- elector that nobody follows), and how the second phase used the cores (NULL: there was none).
ALTER TABLE proposals ADD COLUMN knowledge TEXT;
ALTER TABLE moves ADD COLUMN split REAL;
ALTER TABLE moves ADD COLUMN second_phase TEXT;
