//! The engine's commands as a user runs them.

mod book;

use std::process::Output;

use super::command_line;

fn concilio(arguments: &[&str]) -> Output {
    command_line::concilio(arguments).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
