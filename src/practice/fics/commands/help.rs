/// Every command with its usage and purpose, in the order in which abbreviations are resolved: `m` is `match`, not `moves`.
const COMMANDS: [(&str, &str, &str); 72] = [
    ("accept", "[n|player|kind|all]", "accepts an offer"),
    ("abort", "", "aborts the game, or asks the opponent for it"),
    ("adjourn", "", "asks the opponent to go on another time"),
    ("alias", "", "there are no aliases here"),
    ("back", "[n]", "goes back in the game you examine"),
    ("bell", "", "turns beeps on or off"),
    ("cshout", "text", "shouts to those who hear chess talk"),
    ("date", "", "shows the server's time"),
    ("decline", "[n|player|kind|all]", "declines an offer"),
    ("draw", "", "offers a draw, or accepts one"),
    ("examine", "[player] [n]", "looks through a finished game: the last one, or by its number in the history"),
    ("finger", "[player]", "shows information about a player"),
    ("flag", "", "claims that the opponent's time is over"),
    ("flip", "", "turns the board round"),
    ("forward", "[n]", "goes forward in the game you examine"),
    ("games", "", "lists the games that are played"),
    ("help", "[command]", "shows all commands, or what one does"),
    ("history", "[player]", "lists a player's last ten games"),
    ("inchannel", "", "lists your channels"),
    ("iset", "variable value", "sets an interface variable, which programs use"),
    ("it", "text", "shouts what you do"),
    ("ivariables", "", "shows your interface variables"),
    ("kibitz", "text", "says something to all at the board"),
    ("match", "player [time inc] [rated|unrated] [white|black] [wild type]", "challenges a player"),
    ("moves", "[l] [n]", "lists the moves of a game that is played; with l as coordinates"),
    ("moretime", "seconds", "is not spoken here"),
    ("news", "", "shows what is new: nothing"),
    ("notify", "[player]", "your list is always as it was"),
    ("observe", "n|player", "watches a game"),
    ("pause", "", "is not spoken here"),
    ("pending", "", "lists the offers that stand"),
    ("play", "n|player", "answers a seek"),
    ("quit", "", "leaves the server"),
    ("exit", "", "leaves the server"),
    ("logout", "", "leaves the server"),
    ("refresh", "", "shows the board again"),
    ("rematch", "", "challenges your last opponent on the same terms"),
    ("resign", "", "gives the game up"),
    ("resume", "[player]", "goes on with an adjourned game"),
    ("say", "text", "says something to your opponent"),
    ("seek", "[time inc] [rated|unrated] [white|black] [wild type] [manual] [formula] [low-high]", "seeks a game"),
    ("set", "variable value", "sets a variable"),
    ("shout", "text", "shouts to everybody"),
    ("smoves", "[player] [n]", "lists the moves of a finished game: the last one, or by its number in the history"),
    ("sought", "", "lists the seeks that stand"),
    ("stored", "", "lists your adjourned games"),
    ("style", "n", "sets the style of your boards: 1 for people, 12 for programs"),
    ("switch", "", "is not spoken here"),
    ("takeback", "[n]", "asks to take back n half moves"),
    ("tell", "player|channel text", "sends a message to a player or channel"),
    ("time", "", "shows the clocks"),
    ("td", "", "there is no tournament manager here"),
    ("t", "player|channel text", "sends a message to a player or channel"),
    ("unexamine", "", "stops looking through a game"),
    ("unobserve", "", "stops watching a game"),
    ("unpause", "", "is not spoken here"),
    ("unseek", "[n]", "removes your seeks, or one"),
    ("uptime", "", "shows how long you have been here"),
    ("variables", "", "shows your variables"),
    ("whisper", "text", "says something to all who watch the game"),
    ("who", "", "lists who is here"),
    ("withdraw", "[n|player|kind|all]", "withdraws an offer"),
    ("xtell", "player text", "sends a message to a player"),
    ("+channel", "n", "joins a channel"),
    ("-channel", "n", "leaves a channel"),
    ("+notify", "player", "your list is always as it was"),
    ("-notify", "player", "your list is always as it was"),
    ("+censor", "player", "your list is always as it was"),
    ("-censor", "player", "your list is always as it was"),
    ("next", "", "shows the next page: there is none"),
    ("message", "player text", "messages are not stored on this server"),
    ("announce", "text", "announces something to everybody, indented, as administrators do"),
];

/// Returns the command of a word: the one of that name, or the first whose name begins so.
pub(super) fn command_of(word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    let mut names = COMMANDS.iter().map(|(name, ..)| *name);
    names.clone().find(|name| *name == word).or_else(|| names.find(|name| name.starts_with(&word)))
}

/// The answer to `help`, or to `help` with the name of a command.
pub(super) fn help(word: &str) -> String {
    if word.is_empty() {
        let rows: Vec<String> = COMMANDS
            .chunks(6)
            .map(|row| row.iter().map(|(name, ..)| format!("{name:<13}")).collect::<String>().trim_end().to_owned())
            .collect();
        return format!(
            "Commands (\"help command\" tells more):\n\n{}\n\nMoves: e2e4, e7e8=Q, o-o, Nf3 or nf3.",
            rows.join("\n")
        );
    }
    match command_of(word).and_then(|known| COMMANDS.iter().find(|(name, ..)| *name == known)) {
        Some((name, usage, purpose)) => {
            format!("Command:  {name}\nPurpose:  {purpose}\nUsage:    {}", format!("{name} {usage}").trim_end())
        }
        None => format!("There is no help available on \"{word}\"."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_may_be_shortened() {
        for (word, command) in [
            ("m", Some("match")),
            ("ma", Some("match")),
            ("mo", Some("moves")),
            ("t", Some("t")),
            ("ti", Some("time")),
            ("TELL", Some("tell")),
            ("var", Some("variables")),
            ("res", Some("resign")),
            ("frobnicate", None),
            ("endlogin_4711", None),
        ] {
            assert_eq!(command_of(word), command, "{word}");
        }
    }

    #[test]
    fn help_is_had_of_every_command() {
        for (name, ..) in COMMANDS {
            assert!(help(name).starts_with(&format!("Command:  {name}\nPurpose:  ")), "{name}");
        }
        assert!(help("frob").starts_with("There is no help"));
        assert!(help("").contains("smoves"));
    }
}
