//! Chat of one game: the facts for [`policy::chat`](crate::policy::chat), in words.

use std::{fmt::Write as _, sync::Arc, time::Duration};

use jiff::Timestamp;

use super::{PlayerSettings, hardware};
use crate::policy::{
    ChatSettings,
    chat::{Chat, ChatContext, Said},
};
use council::{
    clock::Budget,
    player::vote_report::{self, VoteEntry},
};
use domain::{Action, ChatLine, ChatRoom, Decision, GameInfo, Line, Player, TimeControl, Variant, why};

pub(super) struct Conversation {
    pub chat: Chat,
    /// The bot's last move; it is put into words at the first question about it.
    last_move: Option<(Arc<Line>, Arc<Decision>, Budget)>,
}

impl Conversation {
    /// Creates the conversation of a game. `player` has the rules for draws and takebacks, `variants` are those of the bot.
    pub(super) fn new(settings: ChatSettings, info: &GameInfo, player: &PlayerSettings, variants: &[Variant]) -> Self {
        let context = ChatContext {
            me: info.us().name.clone(),
            opponent: info.opponent().name.clone(),
            engine: format!("concilio {} ({})", env!("CARGO_PKG_VERSION"), player.council.roster),
            cpu: hardware::CPU.clone(),
            ram: hardware::RAM.clone(),
            draw: player.draw.in_words(),
            takeback: match player.takebacks {
                0 => String::new(),
                1 => "One move may be taken back in a game.".to_owned(),
                more => format!("{more} moves may be taken back in a game."),
            },
            clock: match info.terms.time_control {
                TimeControl::Unlimited => String::new(),
                control => format!("{}, and no move of mine timed yet", control.in_minutes()),
            },
            variants: names(variants),
            ..ChatContext::default()
        };
        Self { chat: Chat::new(settings, context), last_move: None }
    }

    /// Greets at the start of a game; a resumed game was greeted before.
    pub(super) fn greet(&mut self, info: &GameInfo, ply: usize) -> Vec<Action> {
        if ply >= 2 {
            self.chat.greeted_already();
            return Vec::new();
        }
        actions(info, self.chat.hello(Timestamp::now()))
    }

    /// Answers a chat line; `queue` has the names of waiting challengers.
    pub(super) fn answer(&mut self, info: &GameInfo, line: &ChatLine, queue: Vec<String>) -> Vec<Action> {
        self.chat.context.queue = queue;
        self.describe_last_move();
        actions(info, self.chat.answer(line, Timestamp::now()))
    }

    pub(super) fn waits(&mut self, patience: Option<Duration>) {
        self.chat.context.wait = patience
            .map_or_else(String::new, |patience| format!("I will wait {} s for your first move.", patience.as_secs()));
    }

    /// Returns the operator's message; the error is for the operator.
    pub(super) fn say(&mut self, info: &GameInfo, room: ChatRoom, text: &str) -> Result<Vec<Action>, &'static str> {
        self.chat.say(room, text, Timestamp::now()).map(|said| actions(info, said))
    }

    /// Says goodbye, and, if the game is over and not only adjourned, gives the deferred answers.
    pub(super) fn goodbye(&mut self, info: &GameInfo, is_over: bool) -> Vec<Action> {
        self.chat.context.over = is_over;
        self.describe_last_move();
        actions(info, self.chat.goodbye(Timestamp::now()))
    }

    pub(super) fn decided(
        &mut self,
        info: &GameInfo,
        line: &Arc<Line>,
        decision: &Arc<Decision>,
        budget: Budget,
    ) -> Vec<Action> {
        self.last_move = Some((Arc::clone(line), Arc::clone(decision), budget));
        if !self.chat.tells_moves() {
            return Vec::new();
        }
        self.describe_last_move();
        actions(info, self.chat.moved(Timestamp::now()))
    }

    fn describe_last_move(&mut self) {
        let Some((line, decision, budget)) = self.last_move.take() else { return };
        let context = &mut self.chat.context;
        context.eval = decision.score.map_or_else(String::new, |score| {
            let depth = decision.votes.iter().map(|vote| vote.proposal.depth).max().unwrap_or(0);
            format!("{score} for {}, depth {depth}, {} nodes", line.san(decision.best), decision.nodes())
        });
        context.pv = line.sans(decision.expected().iter().copied()).join(" ");
        context.why = why(&line, &decision);
        let (response, extra) = (budget.response.as_secs_f64(), budget.extra.as_secs_f64());
        let used = decision.elapsed.as_secs_f64();
        context.clock = format!("used {used:.1} s of {response:.1} s for the last move, with up to {extra:.1} s extra");
    }
}

pub(super) struct Reception {
    chat: Chat,
    /// Id of the last speaker.
    heard: String,
}

impl Reception {
    pub(super) fn new(settings: ChatSettings, variants: &[Variant]) -> Self {
        let context = ChatContext {
            engine: format!("concilio {}", env!("CARGO_PKG_VERSION")),
            cpu: hardware::CPU.clone(),
            ram: hardware::RAM.clone(),
            variants: names(variants),
            ..ChatContext::default()
        };
        Self { chat: Chat::new(outside_games(settings), context), heard: String::new() }
    }

    /// Adopts other settings; earlier answers still count.
    pub(super) fn follows(&mut self, settings: ChatSettings, variants: &[Variant]) {
        self.chat.settings = outside_games(settings);
        self.chat.context.variants = names(variants);
    }

    pub(super) fn called(&mut self, name: &str) {
        name.clone_into(&mut self.chat.context.me);
    }

    /// Answers a chat line; `queue` has the names of waiting challengers.
    pub(super) fn answer(&mut self, from: &Player, text: String, queue: Vec<String>) -> Vec<Action> {
        self.chat.context.queue = queue;
        if self.heard != from.id {
            self.heard.clone_from(&from.id);
            self.chat.turns_to_another_person();
        }
        let line = ChatLine { room: ChatRoom::Spectator, username: from.name.clone(), text };
        let answers = self.chat.answer(&line, Timestamp::now());
        answers.into_iter().map(|(_, text)| Action::Tell { to: from.name.clone(), text }).collect()
    }
}

/// Returns the settings without the commands about a game.
fn outside_games(mut settings: ChatSettings) -> ChatSettings {
    settings.commands.retain(|command| !command.is_about_a_game());
    settings
}

/// Returns the vote on a move in one line: move and criterion, reasons against the others, and every elector.
fn why(line: &Line, decision: &Decision) -> String {
    let mut text = vote_report::summary(line, decision);
    let reasons = why::decision_in_words(line, decision);
    if !reasons.is_empty() {
        let _ = write!(text, "; {reasons}");
    }
    let mut separator = ": ";
    for VoteEntry { short, best, score, depth, weight, .. } in vote_report::entries(line, decision) {
        let _ = write!(text, "{separator}{short} {best} {score}/{depth}");
        if let Some(weight) = weight {
            let _ = write!(text, " w{weight:.0}");
        }
        separator = ", ";
    }
    text
}

fn names(variants: &[Variant]) -> Vec<String> {
    variants.iter().map(ToString::to_string).collect()
}

fn actions(info: &GameInfo, said: Said) -> Vec<Action> {
    said.into_iter().map(|(room, text)| Action::Chat(info.id.clone(), room, text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{CriterionName, GameTerms, Phase, Proposal, Score, SearchId, Source, Vote};

    #[test]
    fn chat_knows_variant_and_queue() {
        let time_control = TimeControl::real_time(Duration::from_secs(180), Duration::from_secs(2));
        let terms = GameTerms { variant: Variant::Standard, time_control, rated: false };
        let info = GameInfo::from_start("abcdefgh", terms, Player::named("Concilio"), Player::named("Ann"));
        let variants = [Variant::Standard, Variant::Chess960];
        let mut conversation = Conversation::new(ChatSettings::default(), &info, &PlayerSettings::default(), &variants);
        let mut asked = |question: &str| {
            let line = ChatLine { room: ChatRoom::Player, username: "Ann".to_owned(), text: question.to_owned() };
            match conversation.answer(&info, &line, vec!["Bob".to_owned()]).as_slice() {
                [Action::Chat(_, ChatRoom::Player, text)] => text.clone(),
                other => panic!("{question}: {other:?}"),
            }
        };
        assert_eq!(asked("!variants"), format!("I play {}, {}", Variant::Standard, Variant::Chess960));
        assert_eq!(asked("!queue"), "Waiting: Bob");
        assert_eq!(asked("!clock"), "3+2, and no move of mine timed yet");
    }

    #[test]
    fn why_names_what_the_rejected_move_lacks() {
        let vote = |elector: &str, moves: &str| {
            let pv: Vec<_> = moves.split(' ').map(|mv| mv.parse().expect("a move")).collect();
            let best = pv[0];
            let proposal = Proposal {
                depth: 9,
                selective_depth: 9,
                nodes: 1000,
                pv,
                ..Proposal::of_one_ply(
                    SearchId { game: "abcdefgh".into(), ply: 0, serial: 1, phase: Phase::First },
                    elector.into(),
                    best,
                    Score::Cp(20),
                )
            };
            Vote { proposal, knowledge: elector.parse().ok(), weight: Some(1.0) }
        };
        let decision = Decision {
            criterion: Some(CriterionName::Majority),
            votes: vec![vote("mk", "g1f3 d7d5"), vote("mp", "h2h4 e7e5 h4h5")],
            ..Decision::without_vote("g1f3".parse().expect("a move"), Source::Council)
        };
        let said = why(&Line::start(Variant::Standard), &decision);
        assert!(said.contains("preferred h4 (pawns)") && said.contains("; compared with Nf3, h4 ends with "), "{said}");
    }

    #[test]
    fn each_player_outside_games_is_answered() {
        let mut reception = Reception::new(ChatSettings::default(), &[Variant::Standard]);
        reception.called("Concilio");
        let mut asked = |from: &str, question: &str| {
            let answers = reception.answer(&Player::named(from), question.to_owned(), Vec::new());
            answers.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(asked("Ann", "!ping"), ["speaking to Ann"]);
        assert!(asked("Ann", "!ping").is_empty(), "the same line twice running");
        assert_eq!(asked("Ben", "!ping"), ["speaking to Ben"]);
        for question in ["!draw", "!eval", "!clock"] {
            assert!(asked("Ann", question).is_empty(), "{question}: there is no game");
        }
    }
}
