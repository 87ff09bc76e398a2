//! Options of both bots that are copied as they are, or left out with a reason. docs/coming-from.md has them, and those that are
//! translated by code.

use super::{common::leave_out, foreign::ForeignSettings, written::ImportedSettings};

pub(super) struct OptionTable {
    /// Options, our keys for them, and the kinds of their values.
    pub copied: &'static [(&'static str, &'static str, How)],
    /// Options without a counterpart, and the reason.
    pub left_out: &'static [(&'static [&'static str], &'static str)],
}

pub(super) enum How {
    Number,
    Flag,
    Text,
    List,
}

impl OptionTable {
    /// Copies the options to be copied, and remarks on those to be left out.
    pub(super) fn copy(&self, foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
        for (option, key, how) in self.copied {
            match how {
                How::Number => ours.set_number(key, foreign.take_number(option)),
                How::Flag => ours.set_some(key, foreign.take_flag(option)),
                How::Text => ours.set_some(key, foreign.take_text(option)),
                How::List => ours.set_list(key, foreign.take_texts(option)),
            }
        }
        for (options, why) in self.left_out {
            options.iter().for_each(|option| leave_out(option, why, foreign, ours));
        }
    }
}

pub(super) const LICHESS_BOT: OptionTable = OptionTable {
    copied: &[
        ("engine.draw_or_resign.resign_enabled", "player.resign.enabled", How::Flag),
        ("engine.draw_or_resign.resign_for_egtb_minus_two", "player.resign.tablebase", How::Flag),
        ("engine.draw_or_resign.offer_draw_for_egtb_zero", "player.draw.tablebase", How::Flag),
        ("engine.draw_or_resign.resign_score", "player.resign.score", How::Number),
        ("engine.draw_or_resign.resign_moves", "player.resign.consecutive_moves", How::Number),
        ("engine.draw_or_resign.offer_draw_score", "player.draw.max_score", How::Number),
        ("engine.draw_or_resign.offer_draw_moves", "player.draw.consecutive_moves", How::Number),
        ("engine.draw_or_resign.offer_draw_pieces", "player.draw.max_pieces", How::Number),
        ("engine.online_moves.max_out_of_book_moves", "player.online.max_out_of_book", How::Number),
        ("engine.online_moves.lichess_cloud_analysis.min_depth", "player.online.cloud.min_depth", How::Number),
        ("engine.online_moves.lichess_opening_explorer.min_games", "player.online.explorer.min_games", How::Number),
        ("engine.online_moves.online_egtb.max_pieces", "player.online.tablebase.max_pieces", How::Number),
        ("fake_think_time", "player.clock.fake_think_time", How::Flag),
        ("max_takebacks_accepted", "player.takebacks", How::Number),
        ("correspondence.move_time", "player.clock.correspondence_move_time", How::Number),
        ("challenge.games_reserved_for_humans", "challenge.reserved_for_humans", How::Number),
        ("challenge.sort_by", "challenge.sort_by", How::Text),
        ("challenge.preference", "challenge.preference", How::Text),
        ("challenge.variants", "challenge.variants", How::List),
        ("challenge.time_controls", "challenge.time_controls", How::List),
        ("challenge.modes", "challenge.modes", How::List),
        ("challenge.block_list", "challenge.block", How::List),
        ("challenge.online_block_list", "challenge.block_urls", How::List),
        ("challenge.allow_list", "challenge.allow", How::List),
        ("challenge.bullet_requires_increment", "challenge.bot.bullet_with_increment_only", How::Flag),
        ("pgn_directory", "journal.pgn_directory", How::Text),
        ("pgn_file_grouping", "journal.pgn_grouping", How::Text),
        ("matchmaking.allow_matchmaking", "matchmaking.enabled", How::Flag),
        ("matchmaking.allow_during_games", "matchmaking.during_games", How::Flag),
        ("matchmaking.block_list", "matchmaking.avoid", How::List),
        ("matchmaking.online_block_list", "matchmaking.avoid_urls", How::List),
        ("matchmaking.include_challenge_block_list", "matchmaking.avoid_blocked", How::Flag),
    ],
    left_out: &[
        (
            &["engine.online_moves.max_retries"],
            "no question is repeated: the council searches meanwhile, and the next move is asked for anew",
        ),
        (&["engine.online_moves.chessdb_book.contribute"], "positions are not sent there to be computed"),
        (&["engine.online_moves.chessdb_book.min_depth"], "chessdb tells no depth with its values"),
        (
            &["engine.online_moves.lichess_cloud_analysis.min_knodes"],
            "player.online.cloud.min_depth is the least depth",
        ),
        (
            &["engine.online_moves.lichess_cloud_analysis.max_depth"],
            "player.online.max_plies holds for all services of openings",
        ),
        (&["rate_limiting_delay"], "requests keep the server's limits by themselves"),
        (&["move_overhead"], "network lag is measured in every game; player.clock.reserve adds to it"),
        (
            &["correspondence.checkin_period", "correspondence.disconnect_time"],
            "one request a minute finds the correspondence games with the bot to move",
        ),
        (&["matchmaking.opponent_allow_tos_violation"], "players marked for breaking the terms are never challenged"),
        (
            &["matchmaking.challenge_decliner_file_name"],
            "the journal remembers decliners: concilio journal decliners lists them",
        ),
    ],
};

pub(super) const BOTLI: OptionTable = OptionTable {
    copied: &[
        ("url", "servers.lichess.url", How::Text),
        ("online_moves.opening_explorer.min_games", "player.online.explorer.min_games", How::Number),
        ("online_moves.lichess_cloud.min_eval_depth", "player.online.cloud.min_depth", How::Number),
        ("offer_draw.score", "player.draw.max_score", How::Number),
        ("offer_draw.consecutive_moves", "player.draw.consecutive_moves", How::Number),
        ("offer_draw.min_game_length", "player.draw.min_game_length", How::Number),
        ("offer_draw.min_rating", "player.draw.min_rating", How::Number),
        ("resign.enabled", "player.resign.enabled", How::Flag),
        ("resign.score", "player.resign.score", How::Number),
        ("resign.consecutive_moves", "player.resign.consecutive_moves", How::Number),
        ("resign.min_rating", "player.resign.min_rating", How::Number),
        ("challenge.max_takebacks", "player.takebacks", How::Number),
        ("matchmaking.delay", "matchmaking.idle", How::Number),
        ("online_blacklists", "challenge.block_urls", How::List),
    ],
    left_out: &[
        (&["opening_books.priority"], "books come before all services"),
        (
            &["opening_books.read_learn"],
            "learning data in books is not read; player.book.repeat_lost avoids lost lines",
        ),
        (
            &[
                "online_moves.opening_explorer.only_without_book",
                "online_moves.lichess_cloud.only_without_book",
                "online_moves.chessdb.only_without_book",
            ],
            "services are asked only if no book knows a move",
        ),
        (
            &["online_moves.opening_explorer.use_for_variants", "online_moves.lichess_cloud.use_for_variants"],
            "each service is asked in its own variants",
        ),
        (
            &[
                "online_moves.opening_explorer.allow_repetitions",
                "online_moves.lichess_cloud.allow_repetitions",
                "online_moves.chessdb.allow_repetitions",
            ],
            "repetitions are left to the search running meanwhile",
        ),
        (
            &["online_moves.lichess_cloud.trust_eval", "online_moves.chessdb.trust_eval"],
            "an evaluation counts from min_depth on",
        ),
        (
            &["online_moves.opening_explorer.only_with_wins"],
            "the move with the best score is played; without wins it has none",
        ),
        (&["online_moves.opening_explorer.anti"], "the games of one player are asked for, and that may be an opponent"),
        (&["online_moves.chessdb.min_candidates"], "the best known move is played, whatever the number of candidates"),
    ],
};
