//! Set-up after the login, one command a prompt, with a check: servers ignore unknown commands, and
//! a missing setting costs a game later.

use std::collections::{BTreeMap, VecDeque};

use super::{for_people, message::FicsMessage, settings::FicsSettings};

/// Variables whose value we need, with the command that shows them all.
const VARIABLES: &str = "style=12 bell=0 shout=0 cshout=0 seek=0 gin=0 pin=0 ptime=0 width=240 height=240 highlight=0 \
                         kibitz=1 tell=1 autoflag=1 noescape=0";

/// Interface variables: milliseconds, no wrapped lines, a prompt we know, starting positions in lists of moves, games and
/// offers told to programs.
const INTERFACE: &str = "ms=1 nowrap=1 defprompt=1 startpos=1 gameinfo=1 pendinfo=1 movecase=1 nohighlight=1";

const SHOW_VARIABLES: &str = "variables";
const SHOW_INTERFACE: &str = "ivariables";

/// Names and values, as the server shows them.
fn pairs(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.split_ascii_whitespace().filter_map(|word| word.split_once('='))
}

#[derive(Clone, Debug, Default)]
pub(super) struct SetUp {
    commands: VecDeque<String>,
    current: Option<String>,
    shown: BTreeMap<String, String>,
    pub shown_interface: BTreeMap<String, String>,
    repeated: bool,
    refused: Vec<String>,
    /// Variants that are let through, as interface variables.
    variants: Vec<String>,
}

impl SetUp {
    pub(super) fn new(settings: &FicsSettings) -> Self {
        let mut commands: VecDeque<String> =
            pairs(VARIABLES).map(|(name, value)| format!("set {name} {value}")).collect();
        commands.push_back(format!("set interface concilio {}", env!("CARGO_PKG_VERSION")));
        commands.extend(pairs(INTERFACE).map(|(name, value)| format!("iset {name} {value}")));
        commands.extend(settings.variants.iter().map(|name| format!("iset {name} 1")));
        commands.push_back(format!("set formula {}", settings.formula).trim_end().to_owned());
        let notes = settings.notes.iter().take(10).zip(1..);
        commands.extend(notes.map(|(note, number)| format!("set {number} {}", for_people(note))));
        commands.extend(settings.variables.iter().map(|(name, value)| format!("set {name} {value}")));
        commands.extend(settings.channels.iter().map(|channel| format!("+channel {channel}")));
        commands.extend([SHOW_VARIABLES, SHOW_INTERFACE].map(str::to_owned));
        Self { commands, variants: settings.variants.clone(), ..Self::default() }
    }

    /// The command to send now; `None` when all is done. To be called at each prompt.
    pub(super) fn next_command(&mut self) -> Option<String> {
        if self.commands.is_empty() && !self.repeated {
            self.repeated = true;
            let again: Vec<String> = self.missing().into_iter().map(|(command, ..)| command).collect();
            if !again.is_empty() {
                self.commands.extend(again);
                self.commands.extend([SHOW_VARIABLES, SHOW_INTERFACE].map(str::to_owned));
            }
            // Interface variables cannot be changed after this one.
            self.commands.push_back("iset lock 1".to_owned());
            // Only now may others challenge us.
            self.commands.push_back("set open 1".to_owned());
        }
        self.current = self.commands.pop_front();
        self.current.clone()
    }

    pub(super) fn on(&mut self, message: &FicsMessage) {
        match message {
            FicsMessage::SettingRefused(words) => self.refused.push(words.clone()),
            FicsMessage::Unknown(line) => {
                let shown = match self.current.as_deref() {
                    Some(SHOW_VARIABLES) => &mut self.shown,
                    Some(SHOW_INTERFACE) => &mut self.shown_interface,
                    _ => return,
                };
                shown.extend(pairs(line).map(|(name, value)| (name.to_owned(), value.to_owned())));
            }
            _ => {}
        }
    }

    /// Returns true if the server numbers offers; otherwise only sentences describe them.
    pub(super) fn tells_offers(&self) -> bool {
        self.shown_interface.get("pendinfo").is_some_and(|value| value == "1")
    }

    /// Returns the settings that the server has refused or holds otherwise, in one line for the
    /// log; `None` if there are none. A refusal of an unknown variable is final.
    pub(super) fn shortcomings(&self) -> Option<String> {
        let differing =
            self.missing().into_iter().map(|(command, shown)| format!("{command}: the server shows {shown}"));
        let all: Vec<String> = self.refused.iter().cloned().chain(differing).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    /// Commands whose effect the server does not show, with what it shows.
    fn missing(&self) -> Vec<(String, String)> {
        let variables = pairs(VARIABLES).map(|wanted| ("set", &self.shown, wanted));
        let interface = pairs(INTERFACE).chain(self.variants.iter().map(|name| (name.as_str(), "1")));
        let interface = interface.map(|wanted| ("iset", &self.shown_interface, wanted));
        let differing = variables.chain(interface).filter_map(|(command, shown, (name, value))| {
            let shown = shown.get(name).filter(|shown| shown.as_str() != value && shown.as_str() != "?")?;
            Some((format!("{command} {name} {value}"), shown.clone()))
        });
        differing.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers every command by `server`; gives the commands in their order.
    fn run(setup: &mut SetUp, mut server: impl FnMut(&str) -> Vec<&'static str>) -> Vec<String> {
        let mut sent = Vec::new();
        while let Some(command) = setup.next_command() {
            for line in server(&command) {
                setup.on(&FicsMessage::read(line.to_owned()));
            }
            sent.push(command);
        }
        sent
    }

    #[test]
    fn lock_and_open_come_last() {
        let settings = FicsSettings {
            notes: vec!["A bot; of mine".to_owned()],
            variables: BTreeMap::from([("tzone".to_owned(), "UTC".to_owned())]),
            channels: vec![53],
            ..FicsSettings::default()
        };
        let mut setup = SetUp::new(&settings);
        let sent = run(&mut setup, |_| Vec::new());
        assert_eq!(sent.first().map(String::as_str), Some("set style 12"));
        for command in ["set 1 A bot, of mine", "set tzone UTC", "+channel 53", "set formula"] {
            assert!(sent.iter().any(|sent| sent == command), "{command}");
        }
        assert_eq!(sent[sent.len() - 4..], ["variables", "ivariables", "iset lock 1", "set open 1"]);
    }

    #[test]
    fn failed_settings_are_repeated() {
        let mut setup = SetUp::new(&FicsSettings::default());
        let sent = run(&mut setup, |command| match command {
            "variables" => vec!["style=1     bell=0   gin=?", "width=79"],
            "ivariables" => vec!["ms=1  nowrap=0    pendinfo=1  fr=0"],
            "set autoflag 1" => vec!["No such variable name autoflag."],
            _ => vec![],
        });
        assert_eq!(sent.iter().filter(|command| *command == "set style 12").count(), 2);
        assert_eq!(sent.iter().filter(|command| *command == "set gin 0").count(), 1);
        assert_eq!(
            setup.shortcomings().as_deref(),
            Some(
                "No such variable name autoflag.; set style 12: the server shows 1; set width 240: the server shows 79; \
                 iset nowrap 1: the server shows 0; iset fr 1: the server shows 0"
            )
        );
        assert!(setup.tells_offers());
    }
}
