//! A player's variables: `set` for people, `iset` for programs.

use std::collections::BTreeMap;

use crate::dialect::Dialect;

/// Switches, each with its usual value and the server's messages when it goes on or off.
const SWITCHES: [(&str, bool, &str, &str); 26] = [
    ("autoflag", true, "Auto-flagging enabled.", "Auto-flagging disabled."),
    ("automail", false, "Your games will be mailed to you.", "Your games will not be mailed to you."),
    ("bell", false, "You will now hear beeps.", "You will not hear beeps."),
    ("chanoff", false, "You will not hear channel tells.", "You will now hear channel tells."),
    ("cshout", true, "You will now hear cshouts.", "You will not hear cshouts."),
    (
        "ctell",
        true,
        "You will now hear channel tells from unregistered users.",
        "You will not hear channel tells from unregistered users.",
    ),
    ("echo", true, "You will now hear your own communications.", "You will not hear your own communications."),
    (
        "examine",
        false,
        "You will now enter examine mode after a game.",
        "You will not enter examine mode after a game.",
    ),
    ("flip", false, "Flip on.", "Flip off."),
    ("gin", false, "You will now hear game results.", "You will not hear game results."),
    ("kibitz", true, "You will now hear kibitzes.", "You will not hear kibitzes."),
    ("mailmess", false, "Your messages will be mailed to you.", "Your messages will not be mailed to you."),
    (
        "messreply",
        false,
        "People can now respond to your messages via email.",
        "People cannot respond to your messages via email.",
    ),
    (
        "noescape",
        false,
        "You will request noescape when playing matches.",
        "You will not request noescape when playing matches.",
    ),
    ("notakeback", false, "You will not allow takebacks.", "You will allow takebacks."),
    ("open", true, "You are now receiving match requests.", "You are no longer receiving match requests."),
    ("pgn", true, "Games will now be mailed to you in PGN.", "Games will now be mailed to you in FICS format."),
    ("pin", false, "You will now hear logins/logouts.", "You will not hear logins/logouts."),
    ("private", false, "Your games will be private.", "Your games will not be private."),
    ("provshow", false, "Provisional ratings will now be shown.", "Provisional ratings will not be shown."),
    ("ptime", false, "Your prompt will now show the time.", "Your prompt will now not show the time."),
    ("rated", true, "Your games will be rated by default.", "Your games will be unrated by default."),
    ("seek", false, "You will now see seek ads.", "You will not see seek ads."),
    ("shout", true, "You will now hear shouts.", "You will not hear shouts."),
    (
        "simopen",
        false,
        "You are now open for simultaneous exhibitions.",
        "You are no longer open for simultaneous exhibitions.",
    ),
    (
        "tell",
        true,
        "You will now hear direct tells from unregistered users.",
        "You will not hear direct tells from unregistered users.",
    ),
];

/// Numbers, each with its usual value and bounds.
const NUMBERS: [(&str, u32, u32, u32); 12] = [
    ("availinfo", 0, 0, 7),
    ("availmax", 0, 0, 9999),
    ("availmin", 0, 0, 9999),
    ("height", 24, 5, 240),
    ("highlight", 0, 0, 15),
    ("inc", 12, 0, 999),
    ("kiblevel", 0, 0, 9999),
    ("minmovetime", 1, 0, 1),
    ("silence", 0, 0, 1),
    ("style", 1, 1, 13),
    ("time", 2, 0, 999),
    ("width", 79, 32, 240),
];

const TEXTS: [&str; 9] = ["busy", "formula", "interface", "language", "lang", "partner", "prompt", "tourney", "tzone"];

/// Interface variables in the order of the bits that `%b` sets at the login.
const INTERFACE: &str = "compressmove audiochat seekremove defprompt lock startpos block gameinfo xdr pendinfo graph seekinfo \
    extascii nohighlight vthighlight showserver pin ms pinginfo boardinfo extuserinfo seekca showownseek \
    premove smartmove movecase suicide crazyhouse losers wildcastle fr nowrap allresults obsping singleboard";

/// Variables that change the whole format, and are not supported.
const NOT_SPOKEN: [&str; 3] = ["compressmove", "block", "xdr"];

#[derive(Clone, Debug)]
pub(crate) struct Variables {
    switches: BTreeMap<&'static str, bool>,
    numbers: BTreeMap<&'static str, u32>,
    texts: BTreeMap<&'static str, String>,
    pub notes: BTreeMap<u8, String>,
    interface: BTreeMap<&'static str, bool>,
    dialect: Dialect,
}

impl Variables {
    /// Creates the defaults; `bits` are those of `%b`.
    pub(crate) fn new(bits: Option<&str>, dialect: Dialect) -> Self {
        let interface = INTERFACE.split(' ').map(|name| (name, false)).collect();
        let mut variables = Self {
            switches: SWITCHES.iter().map(|(name, value, ..)| (*name, *value)).collect(),
            numbers: NUMBERS.iter().map(|(name, value, ..)| (*name, *value)).collect(),
            texts: BTreeMap::new(),
            notes: BTreeMap::new(),
            interface,
            dialect,
        };
        // The lock holds from the end of the login on, wherever its bit is.
        for (name, bit) in INTERFACE.split(' ').zip(bits.unwrap_or_default().chars()) {
            if !NOT_SPOKEN.contains(&name) {
                variables.interface.insert(name, bit == '1');
            }
        }
        variables
    }

    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.switches.get(name).copied().unwrap_or(false)
    }

    pub(crate) fn number(&self, name: &str) -> u32 {
        self.numbers.get(name).copied().unwrap_or(0)
    }

    pub(crate) fn interface(&self, name: &str) -> bool {
        !self.dialect.is_plain() && self.interface.get(name).copied().unwrap_or(false)
    }

    /// `set NAME VALUE`; returns the server's words.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> String {
        if let Ok(number) = name.parse::<u8>() {
            return self.note(number, value);
        }
        let name = name.to_lowercase();
        let Some(known) = self.known(&name) else { return format!("No such variable name {name}.") };
        if let Some((_, _, on, off)) = SWITCHES.iter().find(|(switch, ..)| *switch == known) {
            let current = self.is_on(known);
            let Some(wanted) = read_switch(value, current) else { return bad_value(known) };
            self.switches.insert(known, wanted);
            return if wanted { on } else { off }.to_string();
        }
        if let Some((_, _, least, most)) = NUMBERS.iter().find(|(number, ..)| *number == known) {
            let Some(wanted) = value.parse().ok().filter(|wanted| (least..=most).contains(&wanted)) else {
                return bad_value(known);
            };
            self.numbers.insert(known, wanted);
            return if known == "style" { format!("Style {wanted} set.") } else { format!("{known} set to {wanted}.") };
        }
        self.texts.insert(known, value.to_owned());
        match (known, value) {
            ("formula", "") => "Formula unset.".to_owned(),
            ("formula", value) => format!("Formula set to {value}"),
            (_, "") => format!("{known} unset."),
            (_, value) => format!("{known} set to \"{value}\"."),
        }
    }

    fn note(&mut self, number: u8, text: &str) -> String {
        match (number, text) {
            (1..=10, "") => {
                self.notes.remove(&number);
                format!("Note {number} unset.")
            }
            (1..=10, text) => {
                self.notes.insert(number, text.to_owned());
                format!("Note {number} set: {text}")
            }
            _ => format!("No such variable name {number}."),
        }
    }

    /// The variable that a name or its beginning means.
    fn known(&self, name: &str) -> Option<&'static str> {
        let names = || self.switches.keys().chain(self.numbers.keys()).copied().chain(TEXTS);
        let names = || names().filter(|name| *name != "autoflag" || !self.dialect.is_plain());
        names().find(|known| *known == name).or_else(|| names().find(|known| known.starts_with(name)))
    }

    /// `iset NAME VALUE`; returns the server's words.
    pub(crate) fn set_interface(&mut self, name: &str, value: &str) -> String {
        match self.dialect {
            Dialect::Freechess | Dialect::Fatics => {}
            Dialect::Capablanca => return format!("{name} {}", if value == "0" { "unset" } else { "set" }),
            Dialect::Uhlin => return format!("com_iset: {name} {value}"),
        }
        let name = name.to_lowercase();
        let Some(known) = INTERFACE.split(' ').find(|known| *known == name) else {
            return format!("No such ivariable \"{name}\".");
        };
        if self.interface("lock") {
            return "Cannot alter: Interface setting locked.".to_owned();
        }
        let Some(wanted) = read_switch(value, self.interface(known)) else { return bad_value(known) };
        if wanted && NOT_SPOKEN.contains(&known) {
            return format!("Cannot alter: {known} is not spoken here.");
        }
        self.interface.insert(known, wanted);
        format!("{known} {}.", if wanted { "set" } else { "unset" })
    }

    pub(crate) fn shown(&self, of: &str) -> String {
        let switches = self.switches.iter().map(|(name, value)| format!("{name}={}", u8::from(*value)));
        let numbers = self.numbers.iter().map(|(name, value)| format!("{name}={value}"));
        let mut text = format!("Variable settings of {of}:\n\n{}", in_columns(switches.chain(numbers)));
        for (name, value) in self.texts.iter().filter(|(_, value)| !value.is_empty()) {
            text.push_str(&format!("\n{}{}: {value}", name[..1].to_uppercase(), &name[1..]));
        }
        text
    }

    pub(crate) fn interface_shown(&self, of: &str) -> String {
        let all = self.interface.iter().map(|(name, value)| format!("{name}={}", u8::from(*value)));
        format!("Interface variable settings of {of}:\n\n{}", in_columns(all))
    }
}

fn bad_value(name: &str) -> String {
    format!("Bad value given for variable {name}.")
}

/// An empty value turns a switch over.
fn read_switch(value: &str, current: bool) -> Option<bool> {
    match value.to_lowercase().as_str() {
        "" => Some(!current),
        "1" | "on" | "true" | "yes" => Some(true),
        "0" | "off" | "false" | "no" => Some(false),
        _ => None,
    }
}

fn in_columns(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.collect();
    let rows = words.chunks(4).map(|row| {
        let row: String = row.iter().map(|word| format!("{word:<18}")).collect();
        row.trim_end().to_owned()
    });
    rows.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_in_the_servers_words() {
        let mut variables = Variables::new(None, Dialect::Freechess);
        for (name, value, words) in [
            ("style", "12", "Style 12 set."),
            ("shout", "0", "You will not hear shouts."),
            ("height", "1000", "Bad value given for variable height."),
            ("wid", "240", "width set to 240."),
            ("interface", "probe 0.1", "interface set to \"probe 0.1\"."),
            ("colour", "1", "No such variable name colour."),
            ("1", "I am a bot", "Note 1 set: I am a bot"),
        ] {
            assert_eq!(variables.set(name, value), words);
        }
        assert!(variables.shown("Ann").contains("style=12") && variables.shown("Ann").contains("shout=0"));
    }

    #[test]
    fn the_lock_locks() {
        let mut variables = Variables::new(None, Dialect::Freechess);
        for (name, value, words) in [
            ("ms", "1", "ms set."),
            ("ms", "0", "ms unset."),
            ("mss", "1", "No such ivariable \"mss\"."),
            ("lock", "1", "lock set."),
            ("ms", "1", "Cannot alter: Interface setting locked."),
        ] {
            assert_eq!(variables.set_interface(name, value), words);
        }
    }

    #[test]
    fn login_bits_follow_server_order() {
        let variables = Variables::new(Some("0010010101"), Dialect::Freechess);
        let on: Vec<_> = INTERFACE.split(' ').filter(|name| variables.interface(name)).collect();
        assert_eq!(on, ["seekremove", "startpos", "gameinfo", "pendinfo"]);
    }
}
