use domain::{Color, CriterionName, GameStatus};
use report::{formulas::MoveLabel, study::MissedChance};

use super::journal::{Desk, ScriptedGame};

/// We are mated in two by our own pawns, though an elector had seen it coming.
pub(crate) const FOOLS_MATE: ScriptedGame<'_> = ScriptedGame {
    id: "foolsmat",
    variant: domain::Variant::Standard,
    fen: "",
    ours: Color::White,
    opponent: "Visitor",
    moves: "f2f3 e7e5 g2g4 d8h4",
    votes: &[(2, &[("mbxk", "g2g4", 90), ("mp", "g2g4", 40), ("mk", "e2e4", 10)])],
    end: (GameStatus::Mate, Some(Color::Black)),
};

#[tokio::test]
async fn blunders_name_better_electors() {
    let desk = Desk::new();
    desk.play(&FOOLS_MATE).await;
    let (made, games) = desk.report(&desk.request());
    let [game] = games.as_slice() else { panic!("one game: {}", games.len()) };

    let blunder = &game.moves[2];
    assert_eq!((blunder.san.as_str(), blunder.label), ("g4", Some(MoveLabel::Blunder)));
    assert_eq!(game.turning_point, Some(2));
    assert!(blunder.at_stake.is_some_and(|stake| stake > 20.0), "{:?}", blunder.at_stake);
    assert_eq!(game.moves[3].label, None, "the mate is no error");
    assert!(game.accuracy.black.is_some_and(|black| black > 95.0), "{:?}", game.accuracy);

    let error = made.council.errors.iter().find(|error| error.played == "2. g4").expect("the error");
    let better: Vec<&str> = error.knew_better.iter().map(|voter| voter.elector.as_str()).collect();
    assert_eq!(better, ["mk"]);
    assert_eq!(error.tally, [("g4".to_owned(), 2), ("e4".to_owned(), 1)]);
    let alone = |name: &str| {
        let electors = &made.council.electors;
        electors.iter().find(|elector| elector.elector == name).map(|elector| elector.knew_better)
    };
    assert_eq!((alone("mk"), alone("mp")), (Some(1), Some(0)));
    assert_eq!(made.totals.losses.values().sum::<usize>(), 1);
    assert_eq!(made.council.extra_time.and_known_better, 1, "time was left, and an elector knew better");
}

#[tokio::test]
async fn every_rule_is_replayed() {
    let desk = Desk::new();
    desk.play(&ScriptedGame {
        votes: &[(2, &[("mbxk", "g2g4", 10), ("mp", "g2g4", 10), ("mk", "e2e4", 300)])],
        ..FOOLS_MATE
    })
    .await;
    let (made, _) = desk.report(&desk.request());
    let rule = |name: &str| {
        let criteria = &made.council.criteria;
        criteria.iter().find(|rule| rule.criterion == name).unwrap_or_else(|| panic!("no rule {name}"))
    };
    assert_eq!(rule("majority").other_moves, 0, "two of three want it");
    assert_eq!(rule("optimistic").other_moves, 1, "the highest score is another move's");
    assert!(rule("optimistic").against_played.mean().mean < -10.0, "{:?}", rule("optimistic"));
    assert_eq!(rule("re-search").loss.count(), 0, "there was no second search");
    assert_eq!(made.council.criteria.len(), CriterionName::ALL.len());
}

#[tokio::test]
async fn suggestion_is_tested_on_new_games() {
    let desk = Desk::new();
    for id in ["suggest1", "suggest2", "suggest3", "suggest4"] {
        let votes: super::journal::ScriptedVotes<'_> =
            &[(2, &[("mbxk", "g2g4", 10), ("mp", "g2g4", 10), ("mk", "e2e4", 300)])];
        desk.play(&ScriptedGame { id, votes, ..FOOLS_MATE }).await;
    }
    let request = report::ReportRequest { suggest: true, ..desk.request() };
    let (made, _) = desk.report(&request);
    let suggestion = made.suggestion.expect("a suggestion");
    assert_eq!(suggestion.games, (2, 2));
    assert!(suggestion.against_played.mean < 0.0, "{suggestion:?}");
    let text = suggestion.settings_text();
    let criterion = format!("criterion = \"{}\"", suggestion.criterion.word());
    assert!(text.contains("[player.council]") && text.contains(&criterion), "{text}");
}

#[tokio::test]
async fn missed_mates_are_reported() {
    let desk = Desk::new();
    desk.play(&ScriptedGame {
        id: "missedit",
        variant: domain::Variant::FromPosition,
        fen: "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1",
        moves: "g1f1 h7h6",
        end: (GameStatus::Draw, None),
        ..FOOLS_MATE
    })
    .await;
    let (made, games) = desk.report(&desk.request());
    assert_eq!(games[0].moves[0].missed, Some(MissedChance::Mate));
    assert_eq!(games[0].moves[0].best_line.first().map(String::as_str), Some("Ra8#"));
    assert_eq!(made.totals.missed.mates, 1);
}
