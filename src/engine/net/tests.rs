use super::*;
use crate::board::Position;

const WIDTH: usize = 2 * BLOCK;

/// A net without sense, the same for a seed.
pub(crate) fn senseless(header: Header) -> Net {
    let mut state = header.seed ^ 0x9E37_79B9_7F4A_7C15;
    let mut number = |most: i64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as i64 % (2 * most + 1) - most) as i16
    };
    let mut weights = Weights::zero(WIDTH).expect("a width");
    for (i, weight) in weights.numbers_mut().enumerate() {
        *weight = number(if i < (INPUTS + 1) * WIDTH { 60 } else { 40 });
    }
    weights.output_bias.fill_with(|| i32::from(number(400)));
    Net::new(header, weights).expect("within bounds")
}

fn net() -> Net {
    senseless(Header { seed: 3, positions: 1_000_000, labels: "none".to_owned(), command: "a test".to_owned() })
}

#[test]
fn a_net_comes_back_from_its_bytes() {
    let mut weights = net().weights.clone();
    // Those of one byte, those of two, and the largest.
    let edges = [0, 63, 64, -64, -65, LARGEST_INPUT_WEIGHT, -LARGEST_INPUT_WEIGHT];
    weights.numbers_mut().zip(edges).for_each(|(weight, edge)| *weight = edge);
    let net = Net::new(net().header, weights).expect("within bounds");
    let read = Net::from_bytes(&net.to_bytes()).expect("it was just written");
    assert_eq!(read, net);
    assert_eq!((read.header(), read.weights()), (net.header(), net.weights()));
}

#[test]
fn bad_bytes_are_one_clear_error() {
    let good = net().to_bytes();
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        bytes
    };
    for (bytes, error) in [
        (b"a text file".to_vec(), NetError::Magic),
        (vec![], NetError::Magic),
        (with(8, 9), NetError::Version(9)),
        (with(8, 2), NetError::Shape(3072, 256)),
        (with(12, 64), NetError::Shape(3072, 320)),
        (with(13, 5), NetError::Shape(3072, 1280)),
        (with(14, 0xff), NetError::Addition),
        (with(16, 1), NetError::Part),
        (good[..good.len() - 1].to_vec(), NetError::Length),
        (good[..100].to_vec(), NetError::Length),
        ([&good[..], b"x"].concat(), NetError::Length),
        (with(1000, good[1000] ^ 1), NetError::Checksum),
    ] {
        assert_eq!(Net::from_bytes(&bytes).map(|_| ()), Err(error));
    }
    let mut weights = Weights::zero(WIDTH).expect("a width");
    *weights.numbers_mut().last().expect("an output") = 128;
    assert_eq!(Net::new(Header::default(), weights).map(|_| ()), Err(NetError::Weights));
}

/// Formats 1 and 2 had one king bucket, and format 1 one output; so were the first nets of others made.
#[test]
fn formats_of_before_are_read() {
    let mut weights = net().weights.clone();
    weights.repeat_first_inputs();
    for (version, outputs) in [(1, 1), (2, BUCKETS)] {
        if outputs == 1 {
            weights.repeat_first_output();
        }
        let net = Net::new(net().header, weights.clone()).expect("within bounds");
        let mut bytes = net.front(version, MEN);
        let kept = (0..MEN).chain(INPUTS..INPUTS + 1 + 2 * outputs);
        let numbers: Vec<i16> = net.weights.numbers().copied().collect();
        for row in kept.flat_map(|row| &numbers[row * WIDTH..][..WIDTH]) {
            bytes.extend(row.to_le_bytes());
        }
        bytes.extend(net.weights.output_bias[..outputs].iter().flat_map(|bias| bias.to_le_bytes()));
        bytes.extend(crate::checksum(&bytes).to_le_bytes());
        assert_eq!(Net::from_bytes(&bytes), Ok(net), "version {version}");
    }
}

#[test]
fn every_number_of_men_has_a_bucket() {
    assert_eq!([0, 2, 4, 5, 8, 9, 28, 29, 32, 64].map(bucket), [0, 0, 0, 1, 1, 2, 6, 7, 7, 7]);
}

#[test]
fn value_is_independent_of_history() {
    let net = senseless(Header { seed: 5, ..Header::default() });
    let mut memory = Accumulator::new(&net);
    // A game in which both kings cross the middle, with captures, forwards and in jumps.
    let line =
        "e2e4 d7d5 e4d5 d8d5 b1c3 d5a5 e1e2 e8d8 e2d3 c8d7 g1f3 b8c6 c3b5 a8c8 b5a7 c6a7 d3e2 a5a2 a1a2 d8e8 e2e1";
    let moves: Vec<_> = line.split(' ').collect();
    let board = |plies: usize| {
        let position = Position::from_line("startpos", false, moves[..plies].iter().copied()).expect("a line");
        position.board().clone()
    };
    for plies in (0..=moves.len()).chain([3, 20, 0, 17, 8]) {
        let board = board(plies);
        assert_eq!(memory.evaluate(&net, &board), net.evaluate(&board), "after {plies} plies");
    }
}

#[test]
fn the_value_is_that_of_the_formula() {
    let net = net();
    let board =
        Board::from_fen("r3k2r/pppq1ppp/2npbn2/4p3/2B1P3/2NP1N2/PPPQ1PPP/R3K2R b Kq - 5 9").expect("a position");
    let weights = net.weights();
    let numbers: Vec<i16> = weights.numbers().copied().collect();
    assert_eq!(board.occupied().count(), 30);
    let bucket = 7;
    let mut sum = 0_i64;
    for (side, player) in players(&board).into_iter().enumerate() {
        let view = View::new(player, board.king(player));
        for i in 0..WIDTH {
            let number_of = |row: usize| i64::from(numbers[row * WIDTH + i]);
            let mut number = number_of(INPUTS);
            for square in board.occupied() {
                let piece = board.piece_on(square).expect("occupied");
                number += number_of(view.input(piece, square));
            }
            sum += number.clamp(0, 255).pow(2) * number_of(INPUTS + 1 + 2 * bucket + side);
        }
    }
    let value = (sum / 255 + i64::from(weights.output_bias[bucket])) * 400 / (255 * 128);
    assert_eq!(i64::from(net.evaluate(&board)), value);
    assert_ne!(value, 0);
}

#[test]
fn mirrored_positions_are_equal() {
    let net = net();
    let value = |fen: &str| net.evaluate(&Board::from_fen(fen).expect("a position"));
    let known = value("r1bq2k1/pp3ppp/2n5/3p4/8/2P2N2/PP3PPP/R2Q1RK1 w - - 0 1");
    assert_eq!(known, value("1k2qb1r/ppp3pp/5n2/4p3/8/2N2P2/PPP3PP/1KR1Q2R w - - 0 1"), "left and right");
    assert_eq!(known, value("r2q1rk1/pp3ppp/2p2n2/8/3P4/2N5/PP3PPP/R1BQ2K1 b - - 0 1"), "white and black");
}

#[test]
fn built_in_net_names_its_training() {
    let net = Net::shipped().expect("a net");
    assert_eq!(Net::from_bytes(SHIPPED).as_ref(), Ok(&*net), "it is whole and within bounds");
    let header = net.header();
    assert!(header.positions > 0, "{header:?}");
    assert!(header.labels.contains("teacher") && header.command.starts_with("train "), "{header:?}");
}

proptest::proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(
        at in 0_usize..200_000, byte: u8, cut in 0_usize..200_000, tail: Vec<u8>,
    ) {
        let mut bytes = net().to_bytes();
        let at = at % bytes.len();
        bytes[at] = byte;
        proptest::prop_assert!(Net::from_bytes(&bytes).is_err() || bytes == net().to_bytes());
        bytes.truncate(cut);
        bytes.extend(tail);
        let _ = Net::from_bytes(&bytes);
    }
}
