-- Games studied: what a judge (an engine and its limits) holds of a position, whatever game it stood in, so that nothing is
-- judged twice. A position is named by its Zobrist key, read as a signed number; the score is from the side to move.
CREATE TABLE judges (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);

CREATE TABLE judgements (
    judge      INTEGER NOT NULL REFERENCES judges (id),
    position   INTEGER NOT NULL,
    score_cp   INTEGER,
    score_mate INTEGER,
    depth      INTEGER NOT NULL,
    nodes      INTEGER NOT NULL,
    pv         TEXT NOT NULL,               -- UCI moves separated by blanks, the best one first
    PRIMARY KEY (judge, position)
) WITHOUT ROWID;
