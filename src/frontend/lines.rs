//! Lines of a program's input as they come, without waiting for them.

use std::{io, io::BufRead, thread};

use tokio::sync::mpsc;

/// Reads `input` on a thread of its own: a pipe can only be waited for. Bytes that are no UTF-8 are replaced.
pub(super) fn read(input: impl BufRead + Send + 'static) -> io::Result<mpsc::UnboundedReceiver<String>> {
    let (lines, inbox) = mpsc::unbounded_channel();
    let reader = move || {
        for line in input.split(b'\n') {
            // An input that cannot be read any more has ended.
            let Ok(line) = line else { return };
            if lines.send(String::from_utf8_lossy(&line).trim().to_owned()).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name("input".to_owned()).spawn(reader)?;
    Ok(inbox)
}
