pub(super) struct Command {
    pub name: &'static str,
    pub usage: &'static str,
    pub purpose: &'static str,
}

const fn command(name: &'static str, usage: &'static str, purpose: &'static str) -> Command {
    Command { name, usage, purpose }
}

/// Every command, in the order in which abbreviations are resolved: `m` is `match`, not `moves`.
pub(super) const COMMANDS: [Command; 72] = [
    command("accept", "[n|player|kind|all]", "accepts an offer"),
    command("abort", "", "aborts the game, or asks the opponent for it"),
    command("adjourn", "", "asks the opponent to go on another time"),
    command("alias", "", "there are no aliases here"),
    command("back", "[n]", "goes back in the game you examine"),
    command("bell", "", "turns beeps on or off"),
    command("cshout", "text", "shouts to those who hear chess talk"),
    command("date", "", "shows the server's time"),
    command("decline", "[n|player|kind|all]", "declines an offer"),
    command("draw", "", "offers a draw, or accepts one"),
    command("examine", "[player] [n]", "looks through a finished game: the last one, or by its number in the history"),
    command("finger", "[player]", "shows information about a player"),
    command("flag", "", "claims that the opponent's time is over"),
    command("flip", "", "turns the board round"),
    command("forward", "[n]", "goes forward in the game you examine"),
    command("games", "", "lists the games that are played"),
    command("help", "[command]", "shows all commands, or what one does"),
    command("history", "[player]", "lists a player's last ten games"),
    command("inchannel", "", "lists your channels"),
    command("iset", "variable value", "sets an interface variable, which programs use"),
    command("it", "text", "shouts what you do"),
    command("ivariables", "", "shows your interface variables"),
    command("kibitz", "text", "says something to all at the board"),
    command("match", "player [time inc] [rated|unrated] [white|black] [wild type]", "challenges a player"),
    command("moves", "[l] [n]", "lists the moves of a game that is played; with l as coordinates"),
    command("moretime", "seconds", "is not spoken here"),
    command("news", "", "shows what is new: nothing"),
    command("notify", "[player]", "your list is always as it was"),
    command("observe", "n|player", "watches a game"),
    command("pause", "", "is not spoken here"),
    command("pending", "", "lists the offers that stand"),
    command("play", "n|player", "answers a seek"),
    command("quit", "", "leaves the server"),
    command("exit", "", "leaves the server"),
    command("logout", "", "leaves the server"),
    command("refresh", "", "shows the board again"),
    command("rematch", "", "challenges your last opponent on the same terms"),
    command("resign", "", "gives the game up"),
    command("resume", "[player]", "goes on with an adjourned game"),
    command("say", "text", "says something to your opponent"),
    command(
        "seek",
        "[time inc] [rated|unrated] [white|black] [wild type] [manual] [formula] [low-high]",
        "seeks a game",
    ),
    command("set", "variable value", "sets a variable"),
    command("shout", "text", "shouts to everybody"),
    command(
        "smoves",
        "[player] [n]",
        "lists the moves of a finished game: the last one, or by its number in the history",
    ),
    command("sought", "", "lists the seeks that stand"),
    command("stored", "", "lists your adjourned games"),
    command("style", "n", "sets the style of your boards: 1 for people, 12 for programs"),
    command("switch", "", "is not spoken here"),
    command("takeback", "[n]", "asks to take back n half moves"),
    command("tell", "player|channel text", "sends a message to a player or channel"),
    command("time", "", "shows the clocks"),
    command("td", "", "there is no tournament manager here"),
    command("t", "player|channel text", "sends a message to a player or channel"),
    command("unexamine", "", "stops looking through a game"),
    command("unobserve", "", "stops watching a game"),
    command("unpause", "", "is not spoken here"),
    command("unseek", "[n]", "removes your seeks, or one"),
    command("uptime", "", "shows how long you have been here"),
    command("variables", "", "shows your variables"),
    command("whisper", "text", "says something to all who watch the game"),
    command("who", "", "lists who is here"),
    command("withdraw", "[n|player|kind|all]", "withdraws an offer"),
    command("xtell", "player text", "sends a message to a player"),
    command("+channel", "n", "joins a channel"),
    command("-channel", "n", "leaves a channel"),
    command("+notify", "player", "your list is always as it was"),
    command("-notify", "player", "your list is always as it was"),
    command("+censor", "player", "your list is always as it was"),
    command("-censor", "player", "your list is always as it was"),
    command("next", "", "shows the next page: there is none"),
    command("message", "player text", "messages are not stored on this server"),
    command("announce", "text", "announces something to everybody, indented, as administrators do"),
];

/// Returns the command of a word: the one of that name, or the first whose name begins so.
pub(super) fn command_of(word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    let exact = COMMANDS.iter().find(|command| command.name == word);
    exact.or_else(|| COMMANDS.iter().find(|command| command.name.starts_with(&word))).map(|command| command.name)
}

/// The answer to `help`, or to `help` with the name of a command.
pub(super) fn help(word: &str) -> String {
    if word.is_empty() {
        let names: Vec<&str> = COMMANDS.iter().map(|command| command.name).collect();
        let rows: Vec<String> = names
            .chunks(6)
            .map(|row| row.iter().map(|name| format!("{name:<13}")).collect::<String>().trim_end().to_owned())
            .collect();
        return format!(
            "Commands (\"help command\" tells more):\n\n{}\n\nMoves: e2e4, e7e8=Q, o-o, Nf3 or nf3.",
            rows.join("\n")
        );
    }
    let known = command_of(word).and_then(|name| COMMANDS.iter().find(|command| command.name == name));
    match known {
        Some(Command { name, usage, purpose }) => {
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
        for Command { name, .. } in &COMMANDS {
            assert!(help(name).starts_with(&format!("Command:  {name}\nPurpose:  ")), "{name}");
        }
        assert!(help("frob").starts_with("There is no help"));
        assert!(help("").contains("smoves"));
    }
}
