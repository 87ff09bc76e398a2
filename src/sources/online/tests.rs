//! Answers with all the fields that the API reference lists for them.

use super::{explorer::ExplorerAnswer, tablebase::TablebaseAnswer};

#[test]
fn explorer_answers_are_read() {
    let game = r#"{"id":"w4Tn81Lc","winner":null,"speed":"rapid","mode":"rated","year":2024,"month":"2024-05",
        "white":{"name":"Carla","rating":2104},"black":{"name":"Dario","rating":1893}}"#;
    let moves = |of: &str| {
        format!(
            r#"[{{"uci":"g1f3","san":"Nf3",{of},"white":52,"draws":31,"black":17,"game":null,
                "opening":{{"eco":"A04","name":"Zukertort Opening"}}}},
            {{"uci":"b1c3","san":"Nc3",{of},"white":1,"draws":0,"black":0,"game":{game},"opening":null}}]"#
        )
    };
    for text in [
        format!(
            r#"{{"white":53,"draws":31,"black":17,"moves":{},"topGames":[{game}],"opening":null}}"#,
            moves(r#""averageRating":2417"#)
        ),
        format!(
            r#"{{"white":53,"draws":31,"black":17,"moves":{},"recentGames":[{game}],"topGames":[{game}],"queuePosition":0,
                "opening":{{"eco":"A00","name":"Start"}},"history":[{{"month":"2024-05","black":1,"draws":2,"white":3}}]}}"#,
            moves(r#""averageOpponentRating":1695,"performance":1744"#)
        ),
        r#"{"white":0,"draws":0,"black":0,"moves":[],"topGames":[],"opening":null}"#.to_owned(),
    ] {
        let answer = serde_json::from_str::<ExplorerAnswer>(&text);
        assert!(answer.is_ok(), "{answer:?}: {text}");
    }
}

#[test]
fn tablebase_answers_are_read() {
    let facts = r#""checkmate":false,"stalemate":false,"variant_win":false,"variant_loss":false,
        "insufficient_material":false,"precise_dtz":null,"dtw":null,"dtc":7"#;
    for (category, of_move) in [
        ("win", "loss"),
        ("unknown", "unknown"),
        ("syzygy-win", "syzygy-loss"),
        ("maybe-win", "maybe-loss"),
        ("cursed-win", "blessed-loss"),
        ("draw", "draw"),
        ("blessed-loss", "cursed-win"),
        ("maybe-loss", "maybe-win"),
        ("syzygy-loss", "syzygy-win"),
        ("loss", "win"),
    ] {
        let text = format!(
            r#"{{{facts},"dtz":9,"dtm":21,"category":"{category}","moves":[{{"uci":"a7a8q","san":"a8=Q+","zeroing":true,
            "conversion":true,{facts},"dtz":-2,"dtm":null,"category":"{of_move}"}}]}}"#
        );
        let answer = serde_json::from_str::<TablebaseAnswer>(&text);
        assert!(answer.is_ok(), "{answer:?}: {text}");
    }
}
