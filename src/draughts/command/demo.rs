//! `concilio demo --game draughts`: one game of the council against a strategy, with the votes in view.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use super::{TablesFile, arguments::add, drawing, play::in_words, record};
use crate::player::{
    DraughtsDecision, DraughtsPlayer, DraughtsProposal, GameRecorder, Occasion, PlayerSpec, play_decided, vote_lines,
};
use bot::journal::JournalSettings;
use council::electors::Pool;
use domain::{Clock, Clocks, TimeControl};
use draughts_core::{
    board::{Color, Rules},
    game::{
        Game, ballots,
        pdn::{GameResult, PdnRecord},
    },
};
use util::{Failure, outln};

/// Players; the council begins.
const PLAYERS: [&str; 2] = ["council", "fully-guarded"];

/// The screen that shows the game.
pub trait Screen: Send {
    /// Paints these lines in place of the last ones, if there is a terminal.
    fn show(&mut self, draw: &dyn Fn() -> Vec<String>);

    /// Prints lines, if there is none.
    fn tell(&mut self, lines: &[String]);
}

/// Plays the game, shows it, and adds it to the journal and to `draughts.pdn` in `folder`. No player loses on time.
pub async fn play_demo(control: TimeControl, folder: &Path, mut screen: impl Screen) -> Result<(), Failure> {
    let TimeControl::RealTime { initial, increment } = control else {
        return Err(Failure::usage("--tc: a game of draughts has clocks, such as 60+1"));
    };
    let mut clocks = Clocks::both(Clock { remaining: initial, increment });
    let pool = Pool::new(0);
    let tables = TablesFile { tables: None }.load()?;
    let player = |text: &&str| {
        let mut spec: PlayerSpec = text.parse().map_err(Failure::failed)?;
        spec.kind.tables.clone_from(&tables);
        Ok(DraughtsPlayer::new(&spec, &pool))
    };
    let mut players = PLAYERS.iter().map(player).collect::<Result<Vec<_>, Failure>>()?;
    let opening = ballots::draw(1, rand::random())[0];
    let mut sheet = PdnRecord::between(PLAYERS[0], PLAYERS[1], Game::new(opening, Rules::Official));
    let settings = JournalSettings {
        path: folder.join("journal.db"),
        pgn_directory: PathBuf::new(),
        ..JournalSettings::default()
    };
    let journal = record::open(&settings)?;
    let occasion = Occasion { place: "demo", players: PLAYERS, ours: Color::White, clock: control };
    let recorder = GameRecorder::start(journal.as_ref(), &occasion, &sheet.game);
    let mut last_vote = Vec::new();
    while sheet.game.outcome().is_none() {
        let side = usize::from(sheet.game.board().to_move() == Color::Black);
        let mut proposals: Vec<DraughtsProposal> = Vec::new();
        let game = sheet.game.clone();
        let mut watch = |proposal: &DraughtsProposal| {
            proposals.retain(|known| known.elector != proposal.elector);
            proposals.push(proposal.clone());
            screen.show(&|| scene(&game, &proposals, &last_vote));
        };
        let started = Instant::now();
        let decided = players[side].decide_by_clock(&game, clocks, control, &mut watch).await;
        let clock = if side == 0 { &mut clocks.white } else { &mut clocks.black };
        clock.remaining = clock.remaining.saturating_sub(started.elapsed()) + increment;
        let decision = decided.ok_or_else(|| Failure::failed("no move was found"))?;
        if side == 0 {
            recorder.decided(&game, &decision).await;
        }
        last_vote = vote_lines(&game, &decision);
        play_decided(&mut sheet, &decision)?;
        screen.show(&|| scene(&sheet.game, &[], &last_vote));
        screen.tell(&plain(&game, &decision, PLAYERS[side]));
    }
    drop(screen);
    recorder.over(&sheet.game, GameResult::Unknown).await;
    drop(recorder);
    record::close(journal).await?;
    if let Some(outcome) = sheet.game.outcome() {
        outln!("{}", in_words(outcome));
    }
    let path = folder.join("draughts.pdn");
    add(&path, &sheet.text(GameResult::Unknown))?;
    outln!("the game with its votes is in {}", path.display());
    outln!("and in the journal: concilio games --journal {} --votes", settings.path.display());
    Ok(())
}

fn scene(game: &Game, proposals: &[DraughtsProposal], last_vote: &[String]) -> Vec<String> {
    let mut lines = vec![format!("{} (White) against {} (Black)", PLAYERS[0], PLAYERS[1])];
    lines.extend(drawing::board(game.board()));
    for DraughtsProposal { elector, best, score, depth, nodes, .. } in proposals {
        lines.push(format!("  {elector:<16} {:>9} {score:>7} {depth:>3} {nodes:>10}", best.to_string()));
    }
    lines.resize(lines.len().max(16), String::new());
    lines.extend_from_slice(last_vote);
    lines
}

fn plain(game: &Game, decision: &DraughtsDecision, player: &str) -> Vec<String> {
    let mut lines = vote_lines(game, decision);
    if let Some(summary) = lines.last_mut() {
        *summary = format!("{player}: {summary}");
    }
    lines
}
