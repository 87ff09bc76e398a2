use std::{sync::Arc, time::Duration};

use crate::{EngineOptions, Heuristic, Knowledge, Net, Tablebases};

#[derive(Clone, Debug)]
pub(super) struct Options {
    pub engine: EngineOptions,
    pub chess960: bool,
    /// Time subtracted from every clock for the transmission of the move.
    pub move_overhead: Duration,
}

impl Default for Options {
    fn default() -> Self {
        let engine = EngineOptions { knowledge: Knowledge::STRONGEST, ..EngineOptions::default() };
        Self { engine, chess960: false, move_overhead: Duration::from_millis(10) }
    }
}

/// Whole numbers that can be set: name, default, least and greatest value.
const SPINS: [(&str, i64, i64, i64); 5] = [
    ("Hash", 16, 1, 1 << 20),
    ("Threads", 1, 1, 512),
    ("MultiPV", 1, 1, 256),
    ("Move Overhead", 10, 0, 10_000),
    ("Contempt", 10, -200, 200),
];

/// The option that weighs a heuristic: its name with capitals.
fn weight_name(heuristic: Heuristic) -> String {
    heuristic.name().split(' ').map(|word| word[..1].to_uppercase() + &word[1..]).collect::<Vec<_>>().join(" ")
}

impl Options {
    pub(super) fn describe() -> Vec<String> {
        let spin = |(name, default, min, max): (&str, i64, i64, i64)| {
            format!("option name {name} type spin default {default} min {min} max {max}")
        };
        let mut lines: Vec<_> = SPINS.into_iter().map(spin).collect();
        lines.push("option name Clear Hash type button".to_owned());
        lines.push("option name Ponder type check default false".to_owned());
        lines.push("option name UCI_Chess960 type check default false".to_owned());
        lines.push("option name Virtual Time type check default false".to_owned());
        lines.push("option name SyzygyPath type string default <empty>".to_owned());
        lines.push(format!("option name Knowledge type string default {}", Knowledge::STRONGEST));
        lines.extend(Heuristic::WITH_NET.map(|heuristic| spin((&weight_name(heuristic), 100, 0, 200))));
        lines.push("option name EvalFile type string default <empty>".to_owned());
        lines.push("option name Search type string default <empty>".to_owned());
        lines
    }

    /// Sets one option, named without regard to case.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let name = name.to_lowercase();
        if let Some((spin, _, min, max)) = SPINS.into_iter().find(|(spin, ..)| spin.to_lowercase() == name) {
            let number = whole_number(spin, value, min, max)?;
            match spin {
                "Hash" => {
                    check_hash(number as usize)?;
                    self.engine.hash = number as usize;
                }
                "Threads" => self.engine.threads = number as usize,
                "MultiPV" => self.engine.multi_pv = number as usize,
                "Move Overhead" => self.move_overhead = Duration::from_millis(number as u64),
                _ => self.engine.contempt = number as i32,
            }
            return Ok(());
        }
        if let Some(heuristic) = Heuristic::WITH_NET.into_iter().find(|h| weight_name(*h).to_lowercase() == name) {
            self.engine.percentages[heuristic as usize] = whole_number(&name, value, 0, 200)? as u16;
            return Ok(());
        }
        match name.as_str() {
            "knowledge" => {
                let knowledge = value.parse().map_err(|error| format!("Knowledge: {error}"))?;
                self.set_net(EngineOptions { knowledge, ..self.engine.clone() })?;
            }
            "evalfile" if value.is_empty() || value == "<empty>" => {
                self.set_net(EngineOptions { net: None, ..self.engine.clone() })?;
            }
            "evalfile" => {
                let explain = |error: &dyn std::fmt::Display| format!("EvalFile: {value}: {error}");
                let bytes = std::fs::read(value).map_err(|error| explain(&error))?;
                let net = Net::from_bytes(&bytes).map_err(|error| explain(&error))?;
                // Its net sets the knowledge too.
                let knowledge = Knowledge::LEARNED;
                self.set_net(EngineOptions { knowledge, net: Some(Arc::new(net)), ..self.engine.clone() })?;
            }
            "search" => {
                let parameters = if value == "<empty>" { "" } else { value };
                self.engine.parameters = parameters.parse().map_err(|error| format!("Search: {error}"))?;
            }
            "uci_chess960" => self.chess960 = truth("UCI_Chess960", value)?,
            "virtual time" => self.engine.virtual_time = truth("Virtual Time", value)?,
            // Pondering is the interface's decision; `go ponder` announces it.
            "ponder" => _ = truth("Ponder", value)?,
            "syzygypath" if value.is_empty() || value == "<empty>" => self.engine.tablebases = None,
            "syzygypath" => {
                let tables = Tablebases::open(value).map_err(|error| format!("SyzygyPath: {error}"))?;
                self.engine.tablebases = Some(tables);
            }
            _ => return Err(format!("unknown option {name:?}")),
        }
        Ok(())
    }

    /// Accepts options whose knowledge has no other heuristic beside a net.
    fn set_net(&mut self, options: EngineOptions) -> Result<(), String> {
        options.check_net().map_err(|error| format!("Knowledge: {error}"))?;
        self.engine = options;
        Ok(())
    }
}

/// Splits the arguments of `setoption`, `name NAME value VALUE`; the value may be empty or missing.
pub(super) fn name_and_value(text: &str) -> Result<(&str, &str), String> {
    let text = text.strip_prefix("name ").ok_or("setoption needs: name NAME value VALUE")?;
    let without_value = || (text.strip_suffix(" value").unwrap_or(text), "");
    let (name, value) = text.split_once(" value ").unwrap_or_else(without_value);
    Ok((name.trim(), value.trim()))
}

/// Checks that the machine has `mebibytes` MiB for tables.
pub fn check_hash(mebibytes: usize) -> Result<(), String> {
    let room = Vec::<u8>::new().try_reserve_exact(mebibytes << 20);
    room.map_err(|_| format!("Hash: this machine does not give {mebibytes} MiB"))
}

fn whole_number(name: &str, value: &str, min: i64, max: i64) -> Result<i64, String> {
    value
        .parse()
        .ok()
        .filter(|number| (min..=max).contains(number))
        .ok_or_else(|| format!("{name}: {value:?} (accepted: {min} to {max})"))
}

fn truth(name: &str, value: &str) -> Result<bool, String> {
    value.parse().map_err(|_| format!("{name}: {value:?} (accepted: true, false)"))
}
