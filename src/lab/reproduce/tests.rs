use super::*;
use crate::player::{MatchPace, PlayerSpec};

fn with_bench<T>(work: impl FnOnce(&mut Reproduction<'_>) -> T) -> T {
    let workers = NonZeroUsize::new(2).expect("two");
    let folder = tempfile::tempdir().expect("a folder");
    let all = suites();
    let mut bench = Reproduction {
        effort: Effort { positions: 4, parallel_positions: 1, nodes: 150, nodes_a_move: 100, games: 2, generations: 5 },
        positions: all.into_iter().step_by(456).collect(),
        book: OpeningBook::built_in(1),
        openings: "the built-in book".to_owned(),
        speeds: Speeds::default(),
        searches: &mut Searches::in_memory(workers),
        folder: folder.path().to_owned(),
        build: "test".to_owned(),
        workers,
        stop: &AtomicBool::new(false),
        seed: 1,
        tell: &mut |_, _, _| {},
    };
    work(&mut bench)
}

#[test]
fn the_suites_are_whole() {
    let positions = suites();
    assert_eq!(positions.len(), 1500 + 300 + 24);
    assert!(positions.iter().all(|position| !position.best.is_empty()));
    for text in SUITES {
        assert!(Suite::parse(text).bad.is_empty(), "{:?}", Suite::parse(text).bad);
    }
}

#[test]
fn tables_show_published_figures() {
    with_bench(|bench| {
        for (table, parts) in [
            ("heuristics", &["| +p | 85 |", "| +x | 100 |"][..]),
            ("rosters", &["| balanced-7 | 186 / 24 |"]),
            ("criteria", &["| re-search, twice the time | 102 / 12 |", "| re-search | – |", "| majority | – |"]),
            ("genetic", &["published, found on the 500: 45 24 254 194 38 223 15 16"]),
        ] {
            let (_, make) = TABLES.iter().find(|(name, _)| *name == table).expect("a table");
            let section = make(bench).unwrap_or_else(|error| panic!("{error}"));
            for part in parts {
                assert!(section.text.contains(part), "{part} is not in\n{}", section.text);
            }
        }
    });
}

#[test]
fn a_stopped_table_says_so() {
    with_bench(|bench| {
        bench.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        let error = rosters::table(bench).expect_err("it was stopped").to_string();
        assert!(error.starts_with("stopped"), "{error}");
    });
}

#[test]
fn changed_book_makes_other_games() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("book.epd");
    with_bench(|bench| {
        let mut facts_with = |book: OpeningBook| {
            bench.book = book;
            games::facts(bench, published::PLAYERS[0].1, MatchPace::EqualTime(100), &Speeds::default())
        };
        let built_in = facts_with(OpeningBook::built_in(1));
        assert_eq!(built_in.get("book"), None, "the build tells it");
        let [one, other] = ["4k3/8/8/8/8/8/8/4K2R w K - 0 1\n", "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1\n"].map(|text| {
            std::fs::write(&path, text).expect("writable");
            facts_with(OpeningBook::open(&path, 16, 1).expect("a book"))
        });
        assert!(one != other && one != built_in, "{one} {other}");
    });
}

#[test]
fn a_damaged_state_is_to_be_removed() {
    with_bench(|bench| {
        let facts = json!({"table": "of nothing"});
        drop(bench.state::<u32>("reproduce-test", &facts).expect("a new state"));
        for file in std::fs::read_dir(&bench.folder).expect("a folder") {
            std::fs::write(file.expect("a file").path(), "half a line\n").expect("writable");
        }
        let error = bench.state::<u32>("reproduce-test", &facts).expect_err("damaged").to_string();
        assert!(error.ends_with("remove it"), "{error}");
    });
}

#[test]
fn every_published_player_is_valid() {
    for (name, spec, ..) in published::PLAYERS {
        let spec: PlayerSpec = spec.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(spec.kind.instances().is_some_and(|instances| !instances.is_empty()), "{name}");
    }
    let timed = published::PLAYERS.iter().filter(|(.., in_equal_time)| *in_equal_time).count();
    assert!(timed >= 7, "every rule of the theses is tried with the specialists' speed");
}
