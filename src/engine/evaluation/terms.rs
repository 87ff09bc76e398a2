//! The names of everything that is weighed, and which heuristic it belongs to.
//!
//! [`Weights`] is one flat run of [`Packed`] values with names on it, so the tuner sees an array and the evaluation sees
//! fields. What is counted for each is in the file of its heuristic; the numbers stand in `weights.rs`.

use std::{mem::offset_of, ops::Range};

use super::score::Packed;
use crate::knowledge::{Heuristic, Knowledge};

#[derive(Clone, Copy, Debug)]
pub struct Field {
    pub name: &'static str,
    /// The start in the flat array.
    pub start: usize,
    pub len: usize,
    pub heuristic: Heuristic,
}

macro_rules! weights {
    ($($heuristic:ident { $($(#[doc = $doc:literal])* $name:ident: $len:literal,)* })*) => {
        /// A value for everything that is counted.
        #[derive(Clone, Debug, PartialEq)]
        #[repr(C)]
        pub struct Weights {
            $($($(#[doc = $doc])* pub $name: [Packed; $len],)*)*
        }

        impl Weights {
            pub const FIELDS: &[Field] = &[$($(Field {
                name: stringify!($name),
                start: offset_of!(Weights, $name) / size_of::<Packed>(),
                len: $len,
                heuristic: Heuristic::$heuristic,
            },)*)*];
        }
    };
}

// Tables by square have 32 entries: relative rank times four plus the distance from the edge file (0 to 3).
weights! {
    Material {
        /// Material by role, pawn to queen.
        material: 5,
    }
    Placement {
        /// Own men that are attacked and not defended, by role.
        hanging: 5,
        /// For more than one of them.
        several_hanging: 1,
        /// Pieces that an enemy pawn attacks, knight to queen.
        attacked_by_pawn: 4,
        /// Rook and queen attacked by a minor piece.
        attacked_by_minor: 2,
        /// Queen attacked by a rook.
        attacked_by_rook: 1,
        /// Pieces that a safe pawn push could attack.
        pawn_push_threat: 1,
        /// Squares that no enemy pawn can attack: free knight, knight guarded by a pawn, bishop,
        /// guarded bishop.
        outpost: 4,
        rook_square: 32,
        queen_square: 32,
    }
    Mobility {
        knight_square: 32,
        bishop_square: 32,
        /// Mobility by number of squares that no enemy pawn guards.
        knight_mobility: 9,
        /// The same.
        bishop_mobility: 14,
        /// The same.
        rook_mobility: 15,
        /// The same.
        queen_mobility: 28,
        /// Rook on a file without own pawns, and without any.
        rook_on_file: 2,
        /// Safe squares behind and between own central pawns.
        space: 1,
    }
    KingSafety {
        king_square: 32,
        /// Rank of the own foremost guard on the king's file and its neighbours (0: none), by distance of the file from the edge.
        shelter: 32,
        /// The king's file has no own pawn, or none at all.
        king_file: 2,
        castling_right: 1,
        /// Own pieces that guard squares round the king.
        defenders: 1,
        /// Danger by units that the enemy brings to bear.
        danger: 40,
    }
    Centre {
        /// Pawn still on d2 or e2, and with its way blocked.
        unmoved_centre_pawn: 2,
        /// Pawn on one of the four central squares.
        centre_pawn: 1,
        centre_pawn_attack: 1,
        centre_attack: 1,
        /// Knight on one of the sixteen central squares.
        centre_knight: 1,
        /// King by steps from the centre.
        king_from_centre: 4,
    }
    Pawns {
        pawn_square: 32,
        /// No neighbour; the same on a file without enemy pawn.
        isolated: 2,
        /// Another one on the file before it.
        doubled: 1,
        /// Cannot be guarded and may not advance; the same on a file without enemy pawn.
        backward: 2,
        /// Beside another, by rank.
        phalanx: 8,
        /// Guarded by another, by rank.
        guarded: 8,
        /// Can become a passed pawn, by rank.
        candidate: 8,
    }
    Attack {
        /// Passed pawns by rank.
        passed: 8,
        /// The square before it is taken, by rank.
        passed_blocked: 8,
        /// Passed pawns whose way is neither occupied nor attacked, by rank.
        passed_free: 8,
        /// Guarded by a pawn.
        passed_guarded: 1,
        /// Passed pawns beyond the reach of a bare enemy king.
        passed_unstoppable: 1,
        passed_rook_behind: 1,
        /// Steps of the own king to the square before an advanced one.
        passed_own_king: 8,
        /// Steps of the enemy king to it.
        passed_enemy_king: 8,
        /// Pawns that march against the enemy king, by rank; blocked ones.
        storm: 8,
        /// Storm pawns behind an enemy pawn.
        storm_blocked: 8,
        /// Closeness to the enemy king in steps, knight to queen.
        near_king: 4,
        /// Squares round the enemy king attacked, knight to queen.
        king_ring_attack: 4,
        /// Enemy men pinned to their king, and queens behind one man on a line.
        pin: 2,
        /// Rook on the seventh rank with something to attack.
        rook_on_seventh: 1,
        /// Steps of the king to the nearest pawn.
        king_to_pawns: 1,
        /// Enemy minor and major pieces attacked by minor pieces and rooks.
        threat: 2,
    }
    Relations {
        /// Two knights, two bishops, two rooks.
        pair: 3,
        /// Each pawn more than five with: a knight, a bishop, a rook.
        with_pawns: 3,
        /// Own pawns on the squares of a bishop.
        bad_bishop: 1,
        /// Such pawns blocked in the centre.
        bad_bishop_blocked: 1,
        /// Rooks that guard each other.
        connected_rooks: 1,
        /// Minor piece behind a pawn.
        behind_pawn: 1,
        /// Queen and knight together; queen and bishop on one diagonal, queen and rook on one file.
        queen_and: 2,
    }
}

impl Weights {
    pub const COUNT: usize = size_of::<Self>() / size_of::<Packed>();

    pub fn as_slice(&self) -> &[Packed] {
        // SAFETY: the struct is `repr(C)` and made of arrays of `Packed` only, so it is `COUNT` of them in a row.
        unsafe { std::slice::from_raw_parts(std::ptr::from_ref(self).cast(), Self::COUNT) }
    }

    pub fn as_mut_slice(&mut self) -> &mut [Packed] {
        // SAFETY: as in `as_slice`; every `Packed` is valid.
        unsafe { std::slice::from_raw_parts_mut(std::ptr::from_mut(self).cast(), Self::COUNT) }
    }

    /// The place of a value of `self` in the flat array.
    #[inline]
    pub fn index_of(&self, weight: &Packed) -> usize {
        (std::ptr::from_ref(weight) as usize - std::ptr::from_ref(self) as usize) / size_of::<Packed>()
    }

    /// The numbers as the source of `weights.rs`.
    pub fn to_source(&self) -> String {
        format!("{ABOUT_ALL}{OPENING}pub {STATIC}{}}};\n", self.fields_to_source(|_| true))
    }

    /// Returns the source of a file in `subsets`: the values that differ from `common`, for an
    /// instance with this knowledge.
    pub fn difference_to_source(&self, common: &Self, knowledge: Knowledge) -> String {
        let fields = self.fields_to_source(|place| self.as_slice()[place.clone()] != common.as_slice()[place]);
        format!(
            "//! Weights of {knowledge} that differ from complete knowledge.{ABOUT_SUBSET}{OPENING}pub(super) {STATIC}{fields}    ..super::WEIGHTS\n}};\n"
        )
    }

    /// Returns the source of the fields whose range in the flat array satisfies `wanted`.
    fn fields_to_source(&self, wanted: impl Fn(Range<usize>) -> bool) -> String {
        use std::fmt::Write;
        let mut source = String::new();
        for field in Self::FIELDS {
            let place = field.start..field.start + field.len;
            if !wanted(place.clone()) {
                continue;
            }
            let _ = writeln!(source, "    {}: [", field.name);
            for row in self.as_slice()[place].chunks(8) {
                let row: Vec<_> = row.iter().map(|v| format!("s({}, {})", v.middlegame(), v.endgame())).collect();
                let _ = writeln!(source, "        {},", row.join(", "));
            }
            source.push_str("    ],\n");
        }
        source
    }
}

const ABOUT_ALL: &str = "//! The numbers: middlegame and endgame centipawns of everything in [`Weights`].\n\
//!\n\
//! Written by `concilio-lab tune`; by hand only for experiments.\n\n\
use super::{score::Packed, terms::Weights};\n\n";

const ABOUT_SUBSET: &str = " Written by `concilio-lab tune`.\n\n\
use super::{score::Packed, terms::Weights};\n\n";

const OPENING: &str = "const fn s(middlegame: i32, endgame: i32) -> Packed {\n    Packed::new(middlegame, endgame)\n}\n\n\
#[rustfmt::skip]\n";

const STATIC: &str = "static WEIGHTS: Weights = Weights {\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_array_has_every_field_once() {
        let mut next = 0;
        for field in Weights::FIELDS {
            assert_eq!(field.start, next, "{}", field.name);
            next += field.len;
        }
        assert_eq!(next, Weights::COUNT);
        let weights = &super::super::weights::WEIGHTS;
        assert_eq!(weights.index_of(&weights.hanging[2]), 7);
    }

    /// All after the header, which says where the numbers come from.
    #[test]
    fn weights_write_their_own_source() {
        let body = |source: &str| source.split_once("\n\n").map(|(_, body)| body.to_owned());
        let common = &super::super::weights::WEIGHTS;
        assert_eq!(body(&common.to_source()), body(include_str!("weights.rs")));
        let mpar: Knowledge = "mpar".parse().expect("letters");
        let own = super::super::subsets::weights(mpar);
        assert_eq!(own.difference_to_source(common, mpar), include_str!("subsets/mpar.rs"));
    }
}
