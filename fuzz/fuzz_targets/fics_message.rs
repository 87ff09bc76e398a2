//! No bytes of a server break the codec, the messages or the state machines behind them.
#![no_main]

use bytes::BytesMut;
use util::timeseal;
use libfuzzer_sys::fuzz_target;
use platform::fics::{
    codec::{ServerFrame, TelnetCodec},
    message::FicsMessage,
};

fuzz_target!(|bytes: &[u8]| {
    let _ = timeseal::open(bytes);
    for mut codec in [TelnetCodec::plain(), TelnetCodec::sealed()] {
        let mut buffer = BytesMut::from(bytes);
        while let Some(frame) = codec.decode_eof(&mut buffer) {
            if let ServerFrame::Line(line) = frame {
                let _ = FicsMessage::read(line);
            }
        }
    }
});
