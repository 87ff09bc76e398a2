//! The numbers of the search, by name.
//!
//! Their use is described at each technique. Depths are in plies, margins in centipawns, histories
//! in units of [`history::LIMIT`](super::history::LIMIT), reductions in 1/1024 of a ply.

use std::str::FromStr;

/// Defines the parameters: the struct, its default, and the list of them.
macro_rules! parameters {
    ($($(#[doc = $doc:literal])+ $name:ident = $default:literal in $low:literal..=$high:literal;)+) => {
        /// The numbers of the search. The default is the best found.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Parameters {
            $($(#[doc = $doc])+ pub $name: i32,)+
        }

        impl Default for Parameters {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }

        impl Parameters {
            /// All parameters with their ranges.
            pub const ALL: &[Parameter] = &[$(
                Parameter { name: stringify!($name), default: $default, low: $low, high: $high },
            )+];

            fn slot(&mut self, name: &str) -> Option<&mut i32> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)+
                    _ => None,
                }
            }
        }
    };
}

/// One number of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub name: &'static str,
    pub default: i32,
    /// The lower bound.
    pub low: i32,
    /// The upper bound.
    pub high: i32,
}

impl Parameters {
    /// Sets one by its name.
    pub fn set(&mut self, name: &str, value: i32) -> Result<(), String> {
        let known = Self::ALL.iter().find(|parameter| parameter.name == name);
        let (Some(Parameter { low, high, .. }), Some(slot)) = (known, self.slot(name)) else {
            let names: Vec<_> = Self::ALL.iter().map(|parameter| parameter.name).collect();
            return Err(format!("{name:?} is no number of the search (accepted: {})", names.join(", ")));
        };
        if !(*low..=*high).contains(&value) {
            return Err(format!("{name}: accepted: {low} to {high}"));
        }
        *slot = value;
        Ok(())
    }
}

impl FromStr for Parameters {
    type Err = String;

    /// Reads those that differ from the default: `razor_slope=300 aspiration=10`.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut parameters = Self::default();
        for word in text.split_ascii_whitespace() {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            // A text that is no number is in no range.
            parameters.set(name, value.parse().unwrap_or(i32::MIN))?;
        }
        Ok(parameters)
    }
}

parameters! {
    /// Late move reductions: of every late move.
    reduction_base = 768 in 0..=2048;
    /// Late move reductions: times the logarithms of depth and place.
    reduction_slope = 465 in 200..=900;
    /// Late move reductions: less by a full quiet history.
    reduction_by_history = 1365 in 0..=4096;
    /// Late move reductions: less by a full capture history.
    reduction_by_capture_history = 2048 in 0..=8192;
    /// Late move reductions: more at a node that is expected to fail high.
    reduction_at_cut_node = 2048 in 0..=4096;
    /// Late move reductions: more where the evaluation does not improve.
    reduction_not_improving = 1024 in 0..=3072;
    /// Late move reductions: more where many children were cut off.
    reduction_after_cutoffs = 1024 in 0..=3072;
    /// Late move reductions: more where the table's move is a capture.
    reduction_noisy_table_move = 1024 in 0..=3072;
    /// Late move reductions: less on a former principal variation.
    reduction_principal = 1024 in 0..=3072;
    /// Late move reductions: less on the principal variation.
    reduction_open_window = 1024 in 0..=3072;
    /// Late move reductions: less for a check.
    reduction_check = 1024 in 0..=3072;
    /// Late move reductions: less for a killer.
    reduction_killer = 1024 in 0..=3072;
    /// Hindsight: a reduced move that costs its player more is searched a ply less.
    hindsight_margin = 50 in 10..=200;
    /// After a reduction that exceeded alpha: this much above the best value, a ply more.
    deeper_margin = 60 in 10..=200;
    /// After a reduction that exceeded alpha: less than this above the best value, a ply less.
    shallower_margin = 8 in 0..=40;
    /// Histories: bonus of a cut-off for each ply of depth.
    bonus_slope = 180 in 50..=400;
    /// Histories: subtracted from that.
    bonus_offset = 120 in 0..=400;
    /// Histories: the largest bonus.
    bonus_limit = 1800 in 500..=4000;
    /// Histories: malus of moves tried in vain before a cut-off, for each ply of depth.
    malus_slope = 180 in 50..=500;
    /// Histories: subtracted from that.
    malus_offset = 120 in 0..=400;
    /// Histories: the largest malus.
    malus_limit = 1800 in 400..=4000;
    /// Late move pruning: moves searched besides the square of the depth.
    late_move_base = 4 in 1..=12;
    /// Futility: the margin at no depth.
    futility_base = 110 in 20..=250;
    /// Futility: the margin for each ply.
    futility_slope = 85 in 30..=200;
    /// Futility: a full history in centipawns.
    futility_by_history = 64 in 0..=256;
    /// Futility: the largest depth.
    futility_depth = 8 in 3..=14;
    /// History pruning: below this, for each ply.
    history_pruning = 4000 in 1000..=9000;
    /// Exchange pruning: the accepted loss of a capture for each ply.
    exchange_noisy = 95 in 30..=200;
    /// Exchange pruning: the accepted loss of a quiet move for each square of the plies left.
    exchange_quiet = 24 in 8..=60;
    /// Exchange pruning: up to this depth.
    exchange_depth = 9 in 4..=14;
    /// Razoring: the margin for each ply.
    razor_slope = 260 in 120..=500;
    /// Reverse futility: the margin for each ply.
    reverse_futility_slope = 75 in 30..=150;
    /// Reverse futility: up to this depth.
    reverse_futility_depth = 8 in 4..=14;
    /// Null move: the reduction at least, in plies.
    null_base = 4 in 2..=6;
    /// Null move: plies of depth for each further ply of reduction.
    null_depth_step = 3 in 2..=8;
    /// Null move: centipawns above beta for each further ply of reduction.
    null_value_step = 110 in 80..=400;
    /// Null move: how far below beta the evaluation may be for each ply.
    null_margin_slope = 20 in 5..=50;
    /// Null move: subtracted from that.
    null_margin_offset = 120 in 0..=300;
    /// ProbCut: how far above beta a capture must come.
    prob_cut_margin = 190 in 80..=350;
    /// ProbCut: subtracted from that where the evaluation improves.
    prob_cut_improving = 40 in 0..=120;
    /// Singular extensions: from this depth on.
    singular_depth = 5 in 4..=10;
    /// Singular extensions: by how much the others must fall short, for each ply.
    singular_slope = 2 in 1..=6;
    /// Singular extensions: by how much more for a second ply.
    double_margin = 20 in 0..=80;
    /// Quiescence: no capture gains more than its victim and this.
    quiescence_margin = 150 in 40..=350;
    /// Quiescence: how far a value that surpasses beta is moved back towards it, in per cent.
    quiescence_to_beta = 50 in 0..=100;
    /// Aspiration: the first window around the value of the iteration before.
    aspiration = 12 in 5..=50;
    /// Move order: the value of a safe check among quiet moves, in units of history.
    check_order = 10000 in 0..=24000;
    /// Move order: the accepted loss of a capture with a full history among the first moves.
    capture_order = 170 in 0..=600;
    /// Correction of the evaluation by the pawns, in 1/64.
    correction_pawns = 128 in 0..=256;
    /// Correction by the pieces of each colour.
    correction_pieces = 64 in 0..=256;
    /// Correction by material: its weight.
    correction_material = 64 in 0..=256;
    /// Correction by knights, bishops and kings.
    correction_minors = 64 in 0..=256;
    /// Correction by the last two moves.
    correction_moves = 64 in 0..=256;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_unique_and_bounded() {
        let mut parameters = Parameters::default();
        for (i, parameter) in Parameters::ALL.iter().enumerate() {
            let Parameter { name, default, low, high } = *parameter;
            assert!(low < high && (low..=high).contains(&default), "{name}");
            assert!(Parameters::ALL[..i].iter().all(|earlier| earlier.name != name), "{name}");
            assert_eq!(parameters.set(name, default), Ok(()), "{name}");
            assert_eq!(parameters.set(name, high + 1), Err(format!("{name}: accepted: {low} to {high}")));
        }
        assert_eq!(parameters, Parameters::default());
        let unknown = parameters.set("speed", 1).expect_err("no number of the search");
        assert!(unknown.starts_with("\"speed\" is no number of the search (accepted: reduction_base, "), "{unknown}");
    }

    #[test]
    fn parameters_are_read_by_name() {
        let read = |text: &str| text.parse::<Parameters>();
        assert_eq!(read("  "), Ok(Parameters::default()));
        assert_eq!(read("razor_slope=300"), Ok(Parameters { razor_slope: 300, ..Parameters::default() }));
        for wrong in ["razor_slope", "razor_slope=deep", "razor_slope=3000000000", "razor_slope=1"] {
            assert_eq!(read(wrong), Err("razor_slope: accepted: 120 to 500".to_owned()), "{wrong}");
        }
        assert!(read("speed=1").is_err());
    }

    #[test]
    fn one_is_set_and_the_others_stay() {
        let mut parameters = Parameters::default();
        parameters.set("razor_slope", 300).expect("within its range");
        assert_eq!(parameters, Parameters { razor_slope: 300, ..Parameters::default() });
    }
}
