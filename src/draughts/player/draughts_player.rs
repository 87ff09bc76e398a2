//! A player: a council of any size, asked for one move after another.

use std::{sync::Arc, time::Duration};

use council::{
    Council, Progress, Question, Timing,
    clock::{ClockSettings, Lag, Moment, MoveProgress},
    electors::Pool,
};
use domain::{Clocks, Decision, Limits, Pace, Source, TimeControl};
use draughts_core::{
    board::{self, Move},
    game::Game,
};
use tokio_util::sync::CancellationToken;

use crate::player::{DraughtsDecision, DraughtsLine, DraughtsProposal, PlayerSpec, record::color};

/// The time of a move without limits.
const USUAL: Duration = Duration::from_secs(1);

pub struct DraughtsPlayer {
    council: Council<DraughtsLine>,
    /// The limits that its text gives.
    own_limits: Option<Limits>,
}

impl DraughtsPlayer {
    pub fn new(spec: &PlayerSpec, pool: &Pool) -> Self {
        let council = Council::new(pool, &spec.kind.roster(), &spec.kind.settings, board::Rules::Official);
        Self { council, own_limits: spec.pace.map(Pace::limits) }
    }

    pub fn new_game(&self) {
        self.council.new_game();
    }

    /// Decides on a move within the player's own limits or else within these; without any, in a second. `watch` sees every
    /// proposal as it comes. `None` if the game is over.
    pub async fn decide(
        &mut self,
        game: &Game,
        limits: &Limits,
        watch: &mut (dyn FnMut(&DraughtsProposal) + Send),
    ) -> Option<DraughtsDecision> {
        let limits = self.own_limits.unwrap_or(*limits);
        let counted = limits.nodes.is_some() || limits.depth.is_some();
        let time = limits.time.or((!counted).then_some(USUAL));
        let question = Question {
            timing: time.map(|time| Box::new(move |_: &_| time) as Timing<Move>),
            limits: Limits { time: None, ..limits },
            // A game to be repeated stops no elector halfway.
            in_step: time.is_none() && limits.nodes.is_some(),
            ..question(game)
        };
        self.ask(question, watch).await
    }

    /// Decides on a move by a running clock, as the council's clock allots it.
    pub async fn decide_by_clock(
        &mut self,
        game: &Game,
        clocks: Clocks,
        control: TimeControl,
        watch: &mut (dyn FnMut(&DraughtsProposal) + Send),
    ) -> Option<DraughtsDecision> {
        let color = color(game.board().to_move());
        let ply = game.moves().len();
        let moment = Moment { control, clocks: Some(clocks), color, ply, moves_to_go: None, spent: Duration::ZERO };
        let question = Question { timing: Some(by_clock(&moment)), ..question(game) };
        self.ask(question, watch).await
    }

    async fn ask(
        &mut self,
        question: Question<DraughtsLine>,
        watch: &mut (dyn FnMut(&DraughtsProposal) + Send),
    ) -> Option<DraughtsDecision> {
        match question.line.game().legal_moves().as_slice() {
            [] => return None,
            [only] => return Some(Decision::without_vote(*only, Source::Forced)),
            _ => {}
        }
        self.council.decide(question, &CancellationToken::new(), watch).await
    }
}

fn question(game: &Game) -> Question<DraughtsLine> {
    Question::new("draughts".into(), Arc::new(DraughtsLine(game.clone())))
}

/// The council's sense of time where a clock runs. Draughts has no easy recaptures.
fn by_clock(moment: &Moment) -> Timing<Move> {
    let settings = ClockSettings::default();
    let lag = Lag::default();
    let budget = settings.budget(moment, &lag);
    let first_word = settings.first_word(moment, &lag);
    Box::new(move |progress: &Progress<Move>| {
        if progress.proposals == 0 {
            return first_word;
        }
        budget.stop_at(&MoveProgress { changes: progress.changes, ..MoveProgress::default() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{CriterionName, SecondPhaseMode};
    use draughts_core::game::ballots;

    fn player(text: &str) -> DraughtsPlayer {
        DraughtsPlayer::new(&text.parse().expect("a player"), &Pool::new(2))
    }

    async fn decide(player: &mut DraughtsPlayer, game: &Game, nodes: u64) -> DraughtsDecision {
        player.decide(game, &Pace::Nodes(nodes).limits(), &mut |_| {}).await.expect("a move")
    }

    #[tokio::test]
    async fn criteria_elect_proposals() {
        let game = Game::new(ballots::draw(1, 4)[0], board::Rules::Official);
        for criterion in CriterionName::ALL {
            let mut council = player(&format!("council:criterion={}", criterion.word()));
            let decision = decide(&mut council, &game, 3_000).await;
            assert!(game.legal_moves().contains(&decision.best));
            assert_eq!((decision.source, decision.votes.len()), (Source::Council, 4), "{}", criterion.word());
            assert!(decision.votes.iter().any(|vote| vote.proposal.best == decision.best));
            assert!((0.0..=1.0).contains(&decision.split));
            assert_eq!(decision.second_phase.is_some(), decision.criterion == Some(CriterionName::ReSearch));
        }
    }

    #[tokio::test]
    async fn second_phase_modes_search() {
        let mut second_phases = 0;
        for ballot in ballots::draw(12, 3) {
            let game = Game::new(ballot, board::Rules::Official);
            for mode in ["sequential", "continued"] {
                let mut council = player(&format!("council:criterion=re-search,second-phase={mode}"));
                let decision = decide(&mut council, &game, 2_000).await;
                let proposed = |mv| decision.votes.iter().any(|vote| vote.proposal.best == mv);
                assert!(proposed(decision.best) || mode == "continued");
                let Some(second) = &decision.second_phase else { continue };
                second_phases += 1;
                assert_eq!(second.proposal.elector.as_str(), "mpgsk");
                assert!(proposed(second.first_choice) && second.mode.word() == mode);
                assert_eq!(second.mode == SecondPhaseMode::Continued, mode == "continued");
            }
        }
        assert!(second_phases > 12, "{second_phases}");
    }

    #[tokio::test]
    async fn node_limits_are_reproducible() {
        let mut games = Vec::new();
        for _ in 0..2 {
            let mut players = [player("council:criterion=re-search,hash=1"), player("fully-guarded:hash=1")];
            let mut game = Game::new(ballots::draw(1, 8)[0], board::Rules::Official);
            let mut nodes = Vec::new();
            while game.moves().len() < 24 && game.outcome().is_none() {
                let decision = decide(&mut players[game.moves().len() % 2], &game, 1_500).await;
                nodes.push((decision.nodes(), decision.score, decision.split.to_bits()));
                game.play(decision.best).expect("legal");
            }
            games.push((game, nodes));
        }
        assert_eq!(games[0], games[1]);
    }

    #[tokio::test]
    async fn single_elector_has_the_whole_time() {
        let spent = async |text: &str| {
            let decision = decide(&mut player(text), &Game::default(), 30_000).await;
            assert_eq!(decision.second_phase, None);
            decision.votes[0].proposal.depth
        };
        let voted = decide(&mut player("council:criterion=majority"), &Game::default(), 30_000).await;
        let in_company = voted.votes.iter().find(|vote| vote.proposal.elector.as_str() == "fully-guarded");
        assert_eq!(Some(spent("fully-guarded").await), in_company.map(|vote| vote.proposal.depth));
        assert_eq!(spent("council:roster=mpgsk").await, spent("mpgsk").await);
    }

    #[tokio::test]
    async fn published_search_is_a_player() {
        let mut published = player("published:strategy=peso-pedine,moves=1");
        let decision = decide(&mut published, &Game::default(), 1).await;
        assert_eq!(decision.votes[0].proposal.depth, 2);
        assert!(Game::default().legal_moves().contains(&decision.best));
    }

    #[tokio::test]
    async fn finished_and_forced_positions() {
        let over = Game::new("B:W9,10,13,14:B5".parse().expect("a position"), board::Rules::Official);
        assert!(player("m").decide(&over, &Limits::default(), &mut |_| {}).await.is_none());
        let only = Game::new("W:W22:B18".parse().expect("a position"), board::Rules::Official);
        assert_eq!(decide(&mut player("council"), &only, 100).await.best.to_string(), "22x13");
    }

    #[tokio::test]
    async fn short_clock_is_respected() {
        let left = domain::Clock { remaining: Duration::from_secs(2), increment: Duration::ZERO };
        let control = TimeControl::RealTime { initial: Duration::from_secs(60), increment: Duration::ZERO };
        let mut council = player("council");
        let clocks = Clocks { white: left, black: left };
        let decision = council.decide_by_clock(&Game::default(), clocks, control, &mut |_| {}).await.expect("a move");
        assert!(Game::default().legal_moves().contains(&decision.best));
    }
}
