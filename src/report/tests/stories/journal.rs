use std::{
    num::NonZeroUsize,
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use bot::journal::{DecidedMove, Filter, GameKey, Journal, JournalSettings};
use domain::{
    Clock, Clocks, Color, CriterionName, Decision, GameId, GameInfo, GameStatus, GameTerms, Line, Phase, Player,
    Proposal, Score, SearchId, ServerName, Source, TimeControl, UciMove, Variant, Vote,
};
use report::{
    ReportRequest,
    judge::{JudgeEffort, JudgeSpec},
    make_report,
    output::Report,
    study::GameStudy,
};
use tempfile::TempDir;

/// Proposals for one move of the bot: name (the knowledge), move, centipawns.
pub(crate) type ScriptedVotes<'a> = &'a [(usize, &'a [(&'a str, &'a str, i32)])];

pub(crate) struct ScriptedGame<'a> {
    pub(crate) id: &'a str,
    pub(crate) variant: Variant,
    pub(crate) fen: &'a str,
    pub(crate) ours: Color,
    pub(crate) opponent: &'a str,
    pub(crate) moves: &'a str,
    /// Keyed by the ply of the move. The bot's other moves are unanimous.
    pub(crate) votes: ScriptedVotes<'a>,
    pub(crate) end: (GameStatus, Option<Color>),
}

/// A journal in a folder of its own.
pub(crate) struct Desk {
    pub(crate) directory: TempDir,
    journal: Journal,
    server: ServerName,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let settings = JournalSettings {
            path: directory.path().join("journal.db"),
            pgn_directory: PathBuf::new(),
            ..JournalSettings::default()
        };
        let journal = Journal::open(&settings).expect("a new journal");
        Self { directory, journal, server: ServerName::from("lichess") }
    }

    /// A report of all games, by few nodes.
    pub(crate) fn request(&self) -> ReportRequest {
        ReportRequest {
            journal: self.journal.path().to_owned(),
            filter: Filter::default(),
            judge: JudgeSpec::own(JudgeEffort::Nodes(3000)),
            threads: NonZeroUsize::new(2).expect("two"),
            tables: None,
            output: Some(self.directory.path().join("report")),
            suggest: false,
        }
    }

    pub(crate) fn report(&self, request: &ReportRequest) -> (Report, Vec<GameStudy>) {
        let mut games = Vec::new();
        let made = make_report(request, &AtomicBool::new(false), &mut |_| (), &mut |game: &GameStudy| {
            games.push(game.clone())
        });
        (made.expect("a report").expect("not stopped"), games)
    }

    pub(crate) async fn play(&self, game: &ScriptedGame<'_>) -> GameKey {
        let info = info(game);
        let key = GameKey::new(&self.server, &info.id);
        self.journal.game_started(&self.server, &info);
        let mut line = Arc::new(info.start);
        let mut clocks = Clocks::both(Clock { remaining: Duration::from_secs(180), increment: Duration::from_secs(2) });
        for (ply, text) in game.moves.split_ascii_whitespace().enumerate() {
            let uci: UciMove = text.parse().expect("a move");
            if line.turn() == game.ours {
                let votes = game.votes.iter().find(|(at, _)| *at == ply).map(|(_, votes)| *votes);
                let unanimous: Vec<_> = ["mbxk", "mpar"].into_iter().map(|name| (name, text, 20)).collect();
                let decided = decided(&key, &line, uci, votes.unwrap_or(&unanimous));
                self.journal.move_decided(decided).await.expect("written");
            }
            clocks.of_mut(line.turn()).remaining -= Duration::from_secs(3);
            let mut longer = Line::clone(&line);
            longer.play(uci).expect("a legal move");
            line = Arc::new(longer);
            self.journal.line_seen(&key, &line, Some(clocks));
        }
        let (status, winner) = &game.end;
        self.journal.game_over(&key, status, *winner).await.expect("written");
        key
    }
}

fn info(game: &ScriptedGame<'_>) -> GameInfo {
    let us = Player { rating: Some(2000), title: Some("BOT".to_owned()), ..Player::named("Concilio") };
    let them = Player { rating: Some(1900), ..Player::named(game.opponent) };
    let (white, black) = if game.ours.is_white() { (us, them) } else { (them, us) };
    GameInfo {
        id: GameId::from(game.id),
        terms: GameTerms {
            variant: game.variant,
            time_control: TimeControl::real_time(Duration::from_secs(180), Duration::from_secs(2)),
            rated: true,
        },
        white,
        black,
        our_color: game.ours,
        start: Line::from_fen(game.variant, game.fen).expect("a legal start"),
        tournament: None,
        url: None,
    }
}

fn decided(key: &GameKey, line: &Arc<Line>, best: UciMove, votes: &[(&str, &str, i32)]) -> DecidedMove {
    let votes = votes.iter().map(|(name, text, centipawns)| {
        let best: UciMove = text.parse().expect("a move");
        let proposal = Proposal {
            depth: 7,
            selective_depth: 12,
            nodes: 50_000,
            time: Duration::from_millis(500),
            ..Proposal::of_one_ply(
                SearchId { game: key.id.clone(), ply: line.ply(), serial: 1, phase: Phase::First },
                (*name).into(),
                best,
                Score::Cp(*centipawns),
            )
        };
        Vote { proposal, knowledge: name.parse().ok(), weight: Some(1.0) }
    });
    let votes: Vec<Vote> = votes.collect();
    let others = votes.iter().filter(|vote| vote.proposal.best != best).count();
    DecidedMove {
        game: key.clone(),
        line: Arc::clone(line),
        decision: Arc::new(Decision {
            split: others as f64 / (votes.len().max(2) - 1) as f64,
            score: Some(Score::Cp(20)),
            criterion: Some(CriterionName::Majority),
            votes,
            elapsed: Duration::from_secs(1),
            ..Decision::without_vote(best, Source::Council)
        }),
        clock: None,
        spent: Duration::ZERO,
        response: Duration::from_secs(2),
        extra: Duration::from_secs(2),
        lag: Duration::ZERO,
    }
}
