//! How somebody else's engine is started, and in which language it is spoken to.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

/// A program that searches for us.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EngineProgram {
    /// The file of the program.
    pub path: PathBuf,
    /// The arguments that it is started with.
    pub arguments: Vec<String>,
    /// Options to set, by name.
    pub options: BTreeMap<String, String>,
    /// The language that it speaks.
    pub protocol: EngineProtocol,
    /// The folder in which it runs; `None` is ours.
    pub working_dir: Option<PathBuf>,
    /// The file to which all that is said in either direction is added; `None` for none.
    pub transcript: Option<PathBuf>,
    /// What becomes of its standard error.
    pub stderr: ErrorOutput,
}

/// The language of an engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineProtocol {
    /// The Universal Chess Interface.
    #[default]
    Uci,
    /// The Chess Engine Communication Protocol, as under xboard.
    #[serde(alias = "xboard")]
    Cecp,
    /// A position a line in, a move a line out (docs/own-player.md).
    Positions,
}

/// What becomes of an engine's standard error. Its last line is told where it ends, whatever is chosen here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorOutput {
    /// It is not kept.
    #[default]
    Quiet,
    /// Each line goes into the log.
    Log,
}

impl EngineProgram {
    /// Whether a worker may run it in our place: it is known there by its name, and nothing about it belongs to this machine.
    pub fn can_travel(&self) -> bool {
        self.protocol == EngineProtocol::Uci
            && self.arguments.is_empty()
            && self.working_dir.is_none()
            && self.transcript.is_none()
    }
}
