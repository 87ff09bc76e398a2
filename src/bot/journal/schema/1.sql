-- Version 1. Times of day are milliseconds since 1970 (UTC), clocks are milliseconds, searches are microseconds.
-- Scores are from the side of the player to move. A server's games are named by (server, game).

CREATE TABLE accounts (
    server        TEXT PRIMARY KEY,
    player        TEXT NOT NULL,
    title         TEXT,
    is_bot        INTEGER NOT NULL,
    ratings       TEXT NOT NULL,            -- JSON: {"blitz": 1500}
    games_played  INTEGER NOT NULL,
    seen_at       INTEGER NOT NULL
);

CREATE TABLE challenges (
    id              INTEGER PRIMARY KEY,
    server          TEXT NOT NULL,
    challenge       TEXT NOT NULL,
    incoming        INTEGER NOT NULL,
    opponent        TEXT,
    opponent_title  TEXT,
    opponent_rating INTEGER,
    variant         TEXT NOT NULL,
    time_control    TEXT NOT NULL,
    speed           TEXT NOT NULL,
    rated           INTEGER NOT NULL,
    our_color       TEXT,
    start_fen       TEXT,
    rematch_of      TEXT,
    decision        TEXT,
    reason          TEXT,
    seen_at         INTEGER NOT NULL,
    decided_at      INTEGER,
    UNIQUE (server, challenge)
);

CREATE TABLE games (
    id              INTEGER PRIMARY KEY,
    server          TEXT NOT NULL,
    game            TEXT NOT NULL,
    our_color       TEXT NOT NULL,
    white           TEXT NOT NULL,
    white_title     TEXT,
    white_rating    INTEGER,
    black           TEXT NOT NULL,
    black_title     TEXT,
    black_rating    INTEGER,
    opponent        TEXT NOT NULL,          -- in lower case, to be found by
    opponent_is_bot INTEGER NOT NULL,
    variant         TEXT NOT NULL,
    start_fen       TEXT,                   -- NULL: the variant's usual start
    time_control    TEXT NOT NULL,
    speed           TEXT NOT NULL,
    rated           INTEGER NOT NULL,
    tournament      TEXT,
    url             TEXT,
    started_at      INTEGER NOT NULL,
    ended_at        INTEGER,                -- NULL: still played
    status          TEXT NOT NULL,
    winner          TEXT,
    result          TEXT,                   -- ours: won, lost, drawn; NULL: none (yet)
    pgn_path        TEXT,
    UNIQUE (server, game)
);
CREATE INDEX games_by_start ON games (started_at);
CREATE INDEX games_by_opponent ON games (opponent, started_at);

CREATE TABLE moves (
    id              INTEGER PRIMARY KEY,
    game            INTEGER NOT NULL REFERENCES games (id),
    ply             INTEGER NOT NULL,       -- moves made before it
    uci             TEXT NOT NULL,
    confirmed       INTEGER NOT NULL,       -- 1: the server has shown it; 0: decided, not yet seen
    superseded_at   INTEGER,                -- taken back, or decided anew
    noted_at        INTEGER NOT NULL,
    clock_before    INTEGER,
    clock_after     INTEGER,
    -- What follows is known of our own moves only.
    source          TEXT,
    criterion       TEXT,
    score_cp        INTEGER,
    score_mate      INTEGER,
    depth           INTEGER,
    nodes           INTEGER,
    elapsed         INTEGER,
    ponder          TEXT,
    first_choice    TEXT,                   -- of the first phase, where there was a second one
    spent           INTEGER,
    response        INTEGER,                -- ResponseTime, ms
    extra           INTEGER,                -- ExtraTime, ms
    lag             INTEGER                 -- what was held back for it, ms
);
CREATE UNIQUE INDEX moves_of_line ON moves (game, ply) WHERE superseded_at IS NULL;

CREATE TABLE proposals (
    move            INTEGER NOT NULL REFERENCES moves (id),
    phase           INTEGER NOT NULL,       -- 1, 2
    place           INTEGER NOT NULL,       -- in the roster
    elector         TEXT NOT NULL,
    uci             TEXT NOT NULL,
    score_cp        INTEGER,
    score_mate      INTEGER,
    bound           TEXT NOT NULL,
    depth           INTEGER NOT NULL,
    selective_depth INTEGER NOT NULL,
    root_moves_done INTEGER NOT NULL,
    nodes           INTEGER NOT NULL,
    time            INTEGER NOT NULL,
    pv              TEXT NOT NULL,
    weight          REAL,
    PRIMARY KEY (move, phase, place)
) WITHOUT ROWID;

CREATE TABLE chat (
    id       INTEGER PRIMARY KEY,
    game     INTEGER NOT NULL REFERENCES games (id),
    said_at  INTEGER NOT NULL,
    room     TEXT NOT NULL,
    username TEXT NOT NULL,
    text     TEXT NOT NULL
);
CREATE INDEX chat_of_game ON chat (game);

CREATE TABLE faults (
    id     INTEGER PRIMARY KEY,
    met_at INTEGER NOT NULL,
    server TEXT NOT NULL,
    game   TEXT,
    what   TEXT NOT NULL
);

CREATE TABLE state (
    key        TEXT PRIMARY KEY,
    value      TEXT NOT NULL,
    written_at INTEGER NOT NULL
) WITHOUT ROWID;
