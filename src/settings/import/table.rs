//! Tables of the options of both bots: copied, translated or left out, with the reason. docs/coming-from.md has the same tables.

use super::{common::leave_out, foreign::ForeignSettings, written::ImportedSettings};

/// An option of another bot, or several related ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct OptionRow {
    /// Paths in the old file; `*` stands for a name.
    pub options: &'static [&'static str],
    /// Our keys for them; `*` stands for a name.
    pub keys: &'static [&'static str],
    pub how: How,
    /// The difference, or the reason for leaving them out.
    pub note: &'static str,
}

/// The way of an option into our settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// Copied as it is.
    Number,
    Flag,
    Text,
    List,
    /// Translated by code.
    Code,
    /// Left out, for the reason in the note.
    LeftOut,
}

const fn copied(options: &'static [&'static str], keys: &'static [&'static str], how: How) -> OptionRow {
    OptionRow { options, keys, how, note: "" }
}

const fn translated(options: &'static [&'static str], keys: &'static [&'static str], note: &'static str) -> OptionRow {
    OptionRow { options, keys, how: How::Code, note }
}

const fn left_out(options: &'static [&'static str], note: &'static str) -> OptionRow {
    OptionRow { options, keys: &[], how: How::LeftOut, note }
}

/// Copies the options to be copied, and remarks on those to be left out.
pub(super) fn copy(table: &[OptionRow], foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    for OptionRow { options, keys, how, note } in table {
        for (option, key) in options.iter().zip(keys.iter().chain(std::iter::repeat(&""))) {
            match how {
                How::Number => ours.set_number(key, foreign.take_number(option)),
                How::Flag => ours.set_some(key, foreign.take_flag(option)),
                How::Text => ours.set_some(key, foreign.take_text(option)),
                How::List => ours.set_list(key, foreign.take_texts(option)),
                How::LeftOut => leave_out(option, note, foreign, ours),
                How::Code => (),
            }
        }
    }
}

/// The options of lichess-bot.
pub(super) const LICHESS_BOT: &[OptionRow] = &[
    translated(&["token"], &["servers.*.token_file"], "in a file of its own, readable by you alone"),
    translated(&["url"], &["servers.*.url"], ""),
    translated(
        &["engine.dir", "engine.name", "engine.interpreter", "engine.interpreter_options", "engine.engine_options"],
        &["player.council.electors"],
        "`engine` and `arguments` of the only elector",
    ),
    translated(&["engine.working_dir"], &["player.council.electors"], "`working_dir`"),
    translated(
        &["engine.protocol", "engine.homemade_options"],
        &["player.council.electors"],
        "`protocol`: \"uci\", \"cecp\"; a homemade player becomes a program of its own, see [own-player.md](own-player.md)",
    ),
    translated(&["engine.debug"], &["player.council.electors"], "`transcript`, a file"),
    translated(&["engine.silence_stderr"], &["player.council.electors"], "`stderr`: \"quiet\", \"log\""),
    translated(
        &["engine.uci_options.*", "engine.xboard_options.*"],
        &["player.council.electors"],
        "`options`, those of the protocol that is set; UCI_Opponent and its like are set by the program",
    ),
    translated(
        &["engine.*_options.go_commands"],
        &["player.limits.nodes", "player.limits.depth", "player.clock.move_time"],
        "",
    ),
    translated(&["engine.ponder", "engine.uci_ponder"], &["player.ponder"], ""),
    translated(
        &["engine.polyglot.enabled", "engine.polyglot.book.*"],
        &["player.book.files", "profiles.*"],
        "the books of a variant in a profile",
    ),
    translated(
        &["engine.polyglot.min_weight", "engine.polyglot.selection", "engine.polyglot.normalization"],
        &["player.book.min_weight", "player.book.selection", "player.book.normalization"],
        "",
    ),
    translated(&["engine.polyglot.max_depth"], &["player.book.max_plies"], "in plies, twice as many"),
    translated(
        &["engine.draw_or_resign.offer_draw_enabled"],
        &["player.draw.offer", "player.draw.accept", "player.draw.min_game_length"],
        "from the first move on",
    ),
    copied(&["engine.draw_or_resign.resign_enabled"], &["player.resign.enabled"], How::Flag),
    copied(&["engine.draw_or_resign.resign_for_egtb_minus_two"], &["player.resign.tablebase"], How::Flag),
    copied(&["engine.draw_or_resign.offer_draw_for_egtb_zero"], &["player.draw.tablebase"], How::Flag),
    copied(&["engine.draw_or_resign.resign_score"], &["player.resign.score"], How::Number),
    copied(&["engine.draw_or_resign.resign_moves"], &["player.resign.consecutive_moves"], How::Number),
    copied(&["engine.draw_or_resign.offer_draw_score"], &["player.draw.max_score"], How::Number),
    copied(&["engine.draw_or_resign.offer_draw_moves"], &["player.draw.consecutive_moves"], How::Number),
    copied(&["engine.draw_or_resign.offer_draw_pieces"], &["player.draw.max_pieces"], How::Number),
    copied(&["engine.online_moves.max_out_of_book_moves"], &["player.online.max_out_of_book"], How::Number),
    translated(&["engine.online_moves.max_depth"], &["player.online.max_plies"], "in plies, twice as many"),
    left_out(
        &["engine.online_moves.max_retries"],
        "no question is repeated: the council searches meanwhile, and the next move is asked for anew",
    ),
    translated(&["engine.online_moves.*.enabled"], &["player.online.sources"], ""),
    translated(&["engine.online_moves.*.min_time"], &["player.online.*.service.min_time"], ""),
    translated(&["engine.online_moves.*.max_time"], &["player.online.*.service.max_time"], ""),
    translated(
        &["engine.online_moves.chessdb_book.move_quality"],
        &["player.online.chessdb.max_difference"],
        "in centipawns",
    ),
    left_out(&["engine.online_moves.chessdb_book.contribute"], "positions are not sent there to be computed"),
    left_out(&["engine.online_moves.chessdb_book.min_depth"], "chessdb tells no depth with its values"),
    translated(
        &[
            "engine.online_moves.lichess_cloud_analysis.move_quality",
            "engine.online_moves.lichess_cloud_analysis.max_score_difference",
        ],
        &["player.online.cloud.max_difference"],
        "",
    ),
    copied(&["engine.online_moves.lichess_cloud_analysis.min_depth"], &["player.online.cloud.min_depth"], How::Number),
    left_out(
        &["engine.online_moves.lichess_cloud_analysis.min_knodes"],
        "player.online.cloud.min_depth is the least depth",
    ),
    left_out(
        &["engine.online_moves.lichess_cloud_analysis.max_depth"],
        "player.online.max_plies holds for all services of openings",
    ),
    translated(
        &[
            "engine.online_moves.lichess_opening_explorer.source",
            "engine.online_moves.lichess_opening_explorer.player_name",
        ],
        &["player.online.explorer.database", "player.online.explorer.player"],
        "fill in the bot's own name",
    ),
    translated(&["engine.online_moves.lichess_opening_explorer.sort"], &["player.online.explorer.selection"], ""),
    copied(
        &["engine.online_moves.lichess_opening_explorer.min_games"],
        &["player.online.explorer.min_games"],
        How::Number,
    ),
    copied(&["engine.online_moves.online_egtb.max_pieces"], &["player.online.tablebase.max_pieces"], How::Number),
    translated(
        &["engine.online_moves.online_egtb.source"],
        &["player.online.sources"],
        "Lichess is asked; its tablebases are the same",
    ),
    translated(
        &["engine.online_moves.online_egtb.move_quality"],
        &["player.tablebases.use"],
        "the best move is played; tablebases on the disk can suggest",
    ),
    translated(
        &[
            "engine.lichess_bot_tbs.syzygy.enabled",
            "engine.lichess_bot_tbs.syzygy.paths",
            "engine.lichess_bot_tbs.syzygy.max_pieces",
            "engine.lichess_bot_tbs.syzygy.move_quality",
        ],
        &["player.tablebases.paths", "player.tablebases.max_pieces", "player.tablebases.use"],
        "",
    ),
    translated(
        &["engine.lichess_bot_tbs.gaviota.*"],
        &["player.tablebases.paths"],
        "only Syzygy tables are read; they know every position of up to five pieces as well",
    ),
    translated(&["abort_time"], &["player.abort.human", "player.abort.bot"], ""),
    copied(&["fake_think_time"], &["player.clock.fake_think_time"], How::Flag),
    left_out(&["rate_limiting_delay"], "requests keep the server's limits by themselves"),
    left_out(&["move_overhead"], "network lag is measured in every game; player.clock.reserve adds to it"),
    copied(&["max_takebacks_accepted"], &["player.takebacks"], How::Number),
    translated(&["quit_after_all_games_finish"], &["shutdown.games"], ""),
    copied(&["correspondence.move_time"], &["player.clock.correspondence_move_time"], How::Number),
    left_out(
        &["correspondence.checkin_period", "correspondence.disconnect_time"],
        "one request a minute finds the correspondence games with the bot to move",
    ),
    translated(&["correspondence.ponder"], &["player.ponder"], "never in correspondence games"),
    translated(
        &["challenge.concurrency"],
        &["challenge.concurrency", "challenge.correspondence_games", "challenge.max_waiting"],
        "correspondence games have places of their own",
    ),
    copied(&["challenge.games_reserved_for_humans"], &["challenge.reserved_for_humans"], How::Number),
    copied(&["challenge.sort_by"], &["challenge.sort_by"], How::Text),
    copied(&["challenge.preference"], &["challenge.preference"], How::Text),
    translated(&["challenge.accept_bot"], &["challenge.bot.accept"], ""),
    translated(&["challenge.only_bot"], &["challenge.human.accept"], ""),
    translated(
        &["challenge.min_increment", "challenge.max_increment"],
        &["challenge.min_increment", "challenge.max_increment"],
        "",
    ),
    translated(&["challenge.min_base", "challenge.max_base"], &["challenge.min_initial", "challenge.max_initial"], ""),
    translated(
        &["challenge.min_days", "challenge.max_days"],
        &["challenge.min_days", "challenge.max_days"],
        "without a limit, unlimited games are accepted too",
    ),
    copied(&["challenge.variants"], &["challenge.variants"], How::List),
    copied(&["challenge.time_controls"], &["challenge.time_controls"], How::List),
    copied(&["challenge.modes"], &["challenge.modes"], How::List),
    copied(&["challenge.block_list"], &["challenge.block"], How::List),
    copied(&["challenge.online_block_list"], &["challenge.block_urls"], How::List),
    copied(&["challenge.allow_list"], &["challenge.allow"], How::List),
    translated(
        &["challenge.recent_bot_challenge_age", "challenge.max_recent_bot_challenges"],
        &["challenge.bot.recent", "challenge.bot.max_recent_games"],
        "kept over a restart",
    ),
    copied(&["challenge.bullet_requires_increment"], &["challenge.bot.bullet_with_increment_only"], How::Flag),
    translated(&["challenge.max_simultaneous_games_per_user"], &["challenge.max_games_per_opponent"], ""),
    translated(
        &["challenge.min_rating", "challenge.max_rating"],
        &["challenge.min_rating", "challenge.max_rating"],
        "",
    ),
    translated(&["challenge.rating_difference"], &["challenge.max_rating_difference"], "in every variant"),
    translated(
        &["greeting.hello", "greeting.goodbye", "greeting.hello_spectators", "greeting.goodbye_spectators"],
        &["chat.hello", "chat.goodbye", "chat.hello_spectators", "chat.goodbye_spectators"],
        "at most 140 characters",
    ),
    copied(&["pgn_directory"], &["journal.pgn_directory"], How::Text),
    copied(&["pgn_file_grouping"], &["journal.pgn_grouping"], How::Text),
    copied(&["matchmaking.allow_matchmaking"], &["matchmaking.enabled"], How::Flag),
    copied(&["matchmaking.allow_during_games"], &["matchmaking.during_games"], How::Flag),
    translated(
        &[
            "matchmaking.challenge_initial_time",
            "matchmaking.challenge_increment",
            "matchmaking.challenge_days",
            "matchmaking.challenge_variant",
            "matchmaking.challenge_mode",
            "matchmaking.overrides.*",
        ],
        &["matchmaking.types.*"],
        "each combination is a type with a weight",
    ),
    translated(&["matchmaking.challenge_timeout"], &["matchmaking.idle"], "in seconds"),
    translated(
        &[
            "matchmaking.opponent_min_rating",
            "matchmaking.opponent_max_rating",
            "matchmaking.opponent_rating_difference",
            "matchmaking.rating_preference",
        ],
        &["matchmaking.types.*", "matchmaking.rating_preference"],
        "of each type",
    ),
    left_out(
        &["matchmaking.opponent_allow_tos_violation"],
        "players marked for breaking the terms are never challenged",
    ),
    translated(
        &["matchmaking.challenge_filter", "matchmaking.delay_after_decline"],
        &["matchmaking.refusal", "matchmaking.backoff", "matchmaking.max_backoff"],
        "the time doubles with every refusal",
    ),
    left_out(
        &["matchmaking.challenge_decliner_file_name"],
        "the journal remembers decliners: concilio journal decliners lists them",
    ),
    copied(&["matchmaking.block_list"], &["matchmaking.avoid"], How::List),
    copied(&["matchmaking.online_block_list"], &["matchmaking.avoid_urls"], How::List),
    copied(&["matchmaking.include_challenge_block_list"], &["matchmaking.avoid_blocked"], How::Flag),
];

/// The options of BotLi.
pub(super) const BOTLI: &[OptionRow] = &[
    translated(&["token"], &["servers.*.token_file"], "in a file of its own, readable by you alone"),
    copied(&["url"], &["servers.lichess.url"], How::Text),
    translated(
        &["engines.*.dir", "engines.*.name", "engines.*.uci_options.*", "engines.*.silence_stderr"],
        &["player.council.electors", "profiles.*"],
        "`engine`, `options` and `stderr` of the only elector; keys such as `bullet_white` or `3+2_human` are profiles",
    ),
    translated(&["engines.*.ponder"], &["player.ponder", "profiles.*"], ""),
    translated(
        &["engines.*.limits.time", "engines.*.limits.depth", "engines.*.limits.nodes"],
        &["player.limits.time", "player.limits.depth", "player.limits.nodes"],
        "",
    ),
    translated(
        &["engines.*.move_overhead_multiplier"],
        &["player.clock.reserve"],
        "network lag is measured in every game; player.clock.reserve adds to it",
    ),
    translated(
        &["syzygy.*.enabled", "syzygy.*.paths", "syzygy.*.max_pieces", "syzygy.*.instant_play"],
        &["player.tablebases.paths", "player.tablebases.max_pieces", "player.tablebases.use"],
        "one list for all variants",
    ),
    translated(
        &["gaviota.*"],
        &["player.tablebases.paths"],
        "only Syzygy tables are read; they know every position of up to five pieces as well",
    ),
    translated(
        &["opening_books.enabled", "opening_books.books.*", "books.*"],
        &[
            "player.book.files",
            "player.book.selection",
            "player.book.max_plies",
            "player.book.repeat_lost",
            "profiles.*",
        ],
        "the engine and the book of a game are joined in one profile",
    ),
    left_out(&["opening_books.priority"], "books come before all services"),
    left_out(
        &["opening_books.read_learn"],
        "learning data in books is not read; player.book.repeat_lost avoids lost lines",
    ),
    translated(
        &["online_moves.*.enabled", "online_moves.*.priority"],
        &["player.online.sources"],
        "in the order of their priorities",
    ),
    translated(
        &["online_moves.*.min_time", "online_moves.*.timeout"],
        &["player.online.*.service.min_time", "player.online.*.service.timeout"],
        "",
    ),
    translated(
        &["online_moves.*.max_depth", "online_moves.*.max_moves"],
        &["player.online.max_plies"],
        "one limit for all services of openings, the greatest",
    ),
    left_out(
        &[
            "online_moves.opening_explorer.only_without_book",
            "online_moves.lichess_cloud.only_without_book",
            "online_moves.chessdb.only_without_book",
        ],
        "services are asked only if no book knows a move",
    ),
    left_out(
        &["online_moves.opening_explorer.use_for_variants", "online_moves.lichess_cloud.use_for_variants"],
        "each service is asked in its own variants",
    ),
    left_out(
        &[
            "online_moves.opening_explorer.allow_repetitions",
            "online_moves.lichess_cloud.allow_repetitions",
            "online_moves.chessdb.allow_repetitions",
        ],
        "repetitions are left to the search running meanwhile",
    ),
    left_out(
        &["online_moves.lichess_cloud.trust_eval", "online_moves.chessdb.trust_eval"],
        "an evaluation counts from min_depth on",
    ),
    translated(
        &["online_moves.opening_explorer.player"],
        &["player.online.explorer.database", "player.online.explorer.player"],
        "fill in the bot's own name",
    ),
    translated(&["online_moves.opening_explorer.selection"], &["player.online.explorer.selection"], "\"score\""),
    left_out(
        &["online_moves.opening_explorer.only_with_wins"],
        "the move with the best score is played; without wins it has none",
    ),
    left_out(
        &["online_moves.opening_explorer.anti"],
        "the games of one player are asked for, and that may be an opponent",
    ),
    copied(&["online_moves.opening_explorer.min_games"], &["player.online.explorer.min_games"], How::Number),
    copied(&["online_moves.lichess_cloud.min_eval_depth"], &["player.online.cloud.min_depth"], How::Number),
    left_out(
        &["online_moves.chessdb.min_candidates"],
        "the best known move is played, whatever the number of candidates",
    ),
    translated(
        &["online_moves.chessdb.best_move", "online_moves.chessdb.selection"],
        &["player.online.chessdb.max_difference"],
        "in centipawns",
    ),
    translated(&["offer_draw.enabled"], &["player.draw.offer", "player.draw.accept"], ""),
    copied(&["offer_draw.score"], &["player.draw.max_score"], How::Number),
    copied(&["offer_draw.consecutive_moves"], &["player.draw.consecutive_moves"], How::Number),
    copied(&["offer_draw.min_game_length"], &["player.draw.min_game_length"], How::Number),
    copied(&["offer_draw.min_rating"], &["player.draw.min_rating"], How::Number),
    translated(&["offer_draw.against_humans"], &["player.draw.opponents"], ""),
    copied(&["resign.enabled"], &["player.resign.enabled"], How::Flag),
    copied(&["resign.score"], &["player.resign.score"], How::Number),
    copied(&["resign.consecutive_moves"], &["player.resign.consecutive_moves"], How::Number),
    copied(&["resign.min_rating"], &["player.resign.min_rating"], How::Number),
    translated(&["resign.against_humans"], &["player.resign.opponents"], ""),
    translated(
        &["challenge.concurrency"],
        &["challenge.concurrency", "challenge.max_games_per_opponent", "challenge.max_waiting"],
        "",
    ),
    copied(&["challenge.max_takebacks"], &["player.takebacks"], How::Number),
    translated(
        &[
            "challenge.*.min_increment",
            "challenge.*.max_increment",
            "challenge.*.min_initial",
            "challenge.*.max_initial",
        ],
        &["challenge.min_increment", "challenge.max_increment", "challenge.min_initial", "challenge.max_initial"],
        "for humans and bots apart",
    ),
    translated(
        &["challenge.*.max_estimated_game_duration"],
        &["challenge.max_estimated_duration"],
        "in seconds, of the whole game",
    ),
    translated(&["challenge.*.bullet_with_increment_only"], &["challenge.bullet_with_increment_only"], ""),
    translated(
        &["challenge.*.variants", "challenge.*.time_controls", "challenge.*.modes"],
        &["challenge.variants", "challenge.time_controls", "challenge.modes", "challenge.accept"],
        "an empty list accepts nothing",
    ),
    copied(&["matchmaking.delay"], &["matchmaking.idle"], How::Number),
    translated(&["matchmaking.timeout"], &["matchmaking.timeout"], ""),
    translated(&["matchmaking.selection"], &["matchmaking.selection"], ""),
    translated(
        &["matchmaking.types.*"],
        &["matchmaking.types.*", "matchmaking.games_in_row", "matchmaking.enabled"],
        "two games with an opponent, one with each colour; BotLi begins it by a command, here it is a setting",
    ),
    translated(&["matchmaking.types.*.multiplier"], &["matchmaking.rest"], "one for all types"),
    translated(
        &["messages.greeting", "messages.goodbye", "messages.greeting_spectators", "messages.goodbye_spectators"],
        &["chat.hello", "chat.goodbye", "chat.hello_spectators", "chat.goodbye_spectators"],
        "at most 140 characters",
    ),
    translated(&["whitelist"], &["challenge.friends"], "on any terms"),
    translated(&["blacklist"], &["challenge.block"], ""),
    copied(&["online_blacklists"], &["challenge.block_urls"], How::List),
];

/// The table as docs/coming-from.md has it.
#[cfg(test)]
pub(super) fn in_markdown(table: &[OptionRow]) -> String {
    let code = |texts: &[&str]| texts.iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(", ");
    let mut text = "|option|here|note|\n|---|---|---|\n".to_owned();
    for OptionRow { options, keys, how, note } in table {
        let note = if *how == How::LeftOut { format!("not needed: {note}") } else { (*note).to_owned() };
        text.push_str(&format!("|{}|{}|{note}|\n", code(options), code(keys)));
    }
    text
}
