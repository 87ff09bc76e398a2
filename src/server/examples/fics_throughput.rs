//! How fast the lines of a chess server are read: the talk of a busy server with a game in between, on one core.
//!
//! `cargo run --release -p concilio-server --example fics_throughput`

extern crate concilio_server as server;

use std::time::Instant;

use bytes::BytesMut;
use server::fics::{
    codec::{ServerFrame, TelnetCodec},
    message::FicsMessage,
};
use tokio_util::codec::Decoder;

const NOISE: &str = "fics% \n\rAnn(C)(53): the quick brown fox jumps over the lazy dog, as it does every day\n\r\
    fics% \n\rBob (1530) seeking 5 12 rated blitz m (\"play 42\" to respond)\n\r\
    fics% \n\rCarl(TM) c-shouts: round four begins in five minutes\n\r\
    fics% \n\r{Game 39 (Dora vs. Emil) Dora resigns} 0-1\n\r\
    fics% \n\rDora tells you: good luck in the next round! \n\r\\   and a second line\n\r";
const BOARD: &str = "fics% \n\r<12> r-bqk--r --ppbppp p-n--n-- -p--p--- B---P--- -----N-- PPPP-PPP RNBQR-K- W -1 0 0 1 1 0 1 \
    BotAlpha BotBeta -1 15 0 39 39 898200 898184 7 P/b7-b5 (0:00.352) b5 1 1 0\n\r";

fn main() {
    for (name, text, share) in [
        ("talk", NOISE.to_owned(), ""),
        ("boards", BOARD.to_owned(), ""),
        ("both", NOISE.repeat(9) + BOARD, " (a board in 46 lines)"),
    ] {
        let block = text.repeat(64 * 1024 * 1024 / text.len());
        let mut codec = TelnetCodec::sealed();
        let mut buffer = BytesMut::new();
        let (mut lines, mut boards) = (0u64, 0u64);
        let begun = Instant::now();
        // As the socket gives it: a few kilobytes at a time.
        for piece in block.as_bytes().chunks(8192) {
            buffer.extend_from_slice(piece);
            while let Ok(Some(frame)) = codec.decode(&mut buffer) {
                if let ServerFrame::Line(line) = frame {
                    lines += 1;
                    boards += u64::from(matches!(std::hint::black_box(FicsMessage::read(line)), FicsMessage::Board(_)));
                }
            }
        }
        let seconds = begun.elapsed().as_secs_f64();
        let megabytes = block.len() as f64 / 1e6 / seconds;
        println!(
            "{name}{share}: {megabytes:.0} MB/s, {:.1} GB/min, {:.2} million lines/s, {boards} boards",
            megabytes * 60.0 / 1000.0,
            lines as f64 / seconds / 1e6,
        );
    }
}
