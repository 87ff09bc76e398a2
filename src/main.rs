//! Parse the command line, call one command.

fn main() {}
