//! Shared parts of the targets with a whole conversation: its commands, and a council that answers
//! at once.

use std::io::Cursor;

use concilio::frontend::Setup;
use council::{CouncilSettings, clock::ClockSettings};

/// The lines of a conversation: each begins with the command of that number, counted round, and goes on with the text.
pub fn lines(commands: &[&str], conversation: &[(u8, String)]) -> Cursor<String> {
    let line = |(number, rest): &(u8, String)| {
        let command = commands[usize::from(*number) % commands.len()];
        format!("{command} {}\n", rest.replace('\n', " "))
    };
    Cursor::new(conversation.iter().map(line).collect())
}

/// A council of one core that searches nothing.
pub fn council() -> Setup {
    let council = CouncilSettings { roster: "trivial".to_owned(), hash: 1, ..CouncilSettings::default() };
    let mut setup = Setup::new(council, &ClockSettings::default());
    setup.cores = 1;
    setup
}

/// Runs a conversation to its end.
pub fn block_on<T>(conversation: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    runtime.block_on(conversation)
}
