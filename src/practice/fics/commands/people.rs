use std::io;

use super::{NO_BOARD, help::help};
use crate::{
    account::AccountId,
    fics::{
        lobby::Notice,
        session::{VisitorSession, opponent_of},
    },
};
use domain::ChatRoom;

impl VisitorSession {
    /// Commands that are about people, and what needs no more than an answer.
    pub(super) async fn talk(&mut self, command: &str, rest: &str) -> io::Result<()> {
        match command {
            "tell" | "t" | "xtell" => self.tell(rest).await?,
            "say" => self.say(rest).await?,
            "kibitz" => self.kibitz(rest),
            "whisper" => self.whisper(rest).await?,
            "shout" => self.shout("shout", &format!("{} shouts: {rest}", self.me.titled()), "shouted"),
            "it" => self.shout("shout", &format!("--> {} {rest}", self.me.titled()), "it-shouted"),
            "cshout" => self.shout("cshout", &format!("{} c-shouts: {rest}", self.me.titled()), "c-shouted"),
            "finger" => self.finger(rest).await?,
            "who" => self.who(),
            "date" => self.line(date()),
            "uptime" => self.line(format!("You have been here for {} seconds.", self.since.elapsed().as_secs())),
            "help" => self.line(help(rest)),
            "news" => self.line("There are no new news items."),
            "announce" => self.context.lobby.tell_everybody(&Notice::Text(announcement(&self.me.name, rest))),
            "+channel" | "-channel" | "inchannel" => self.channel(command, rest),
            "notify" | "+notify" | "-notify" | "+censor" | "-censor" => self.line("Your list is as it was."),
            "alias" => self.line("There are no aliases on this server."),
            "message" => self.line("This server does not store messages."),
            "next" => self.line("There is no more."),
            "td" => self.line("There is no tournament manager on this server."),
            _ => {}
        }
        Ok(())
    }

    pub(super) async fn set(&mut self, rest: &str) -> io::Result<()> {
        let (name, value) = rest.split_once(' ').unwrap_or((rest, ""));
        let words = self.variables.set(name, value.trim());
        self.line(words);
        let open = self.variables.is_on("open");
        self.context.lobby.set_open(&self.me.id, open);
        if !open && self.offers.standing.iter().any(|offer| !offer.ours && !offer.what.is_of_game()) {
            self.decline("t match").await?;
        }
        Ok(())
    }

    async fn tell(&mut self, rest: &str) -> io::Result<()> {
        let (to, text) = rest.split_once(' ').unwrap_or((rest, ""));
        if to.is_empty() || text.is_empty() {
            return self.answer("Usage: tell player text");
        }
        if let Ok(channel) = to.parse::<u16>() {
            let said = Notice::Channel(channel, format!("{}({channel}): {text}", self.me.titled()));
            let heard = self.context.lobby.tell_others(&self.me.id, &said);
            return self.answer(format!("(told {heard} players in channel {channel})"));
        }
        let id = AccountId::of(to);
        if !self.is_here(&id).await? {
            return self.answer(format!("{to} is not logged in."));
        }
        // Players inside the server, or on the other protocol, do not receive tells.
        self.context.lobby.tell(&id, Notice::Text(format!("{} tells you: {text}", self.me.titled())));
        self.told(&id).await
    }

    async fn told(&mut self, id: &AccountId) -> io::Result<()> {
        let name = self.shown_name(id).await?;
        let wanted = id.clone();
        let playing = self.ask(move |state| state.is_playing(&wanted)).await?;
        self.answer(format!("(told {name}{})", if playing { ", who is playing" } else { "" }))
    }

    async fn say(&mut self, text: &str) -> io::Result<()> {
        let Some(id) = self.last_game.as_ref().and_then(|view| opponent_of(view, &self.me.id)) else {
            return self.answer("You haven't played anyone yet.");
        };
        match &self.playing {
            Some(board) => {
                let (game, me, text) = (board.id.clone(), self.me.id.clone(), text.to_owned());
                let _ = self.ask(move |state| state.say(&game, &me, ChatRoom::Player, &text)).await?;
            }
            None => {
                self.context.lobby.tell(&id, Notice::Text(format!("{} says: {text}", self.me.titled())));
            }
        }
        self.told(&id).await
    }

    fn kibitz(&mut self, text: &str) {
        let Some(board) = self.board_in_sight() else { return self.line(NO_BOARD) };
        let said = format!("{}[{}] kibitzes: {text}", self.me.titled(), board.number);
        let notice = Notice::Kibitz(board.id.clone(), said);
        self.context.lobby.tell_others(&self.me.id, &notice);
        self.line("(kibitzed to 1 player)");
    }

    async fn whisper(&mut self, text: &str) -> io::Result<()> {
        match (&self.playing, &self.watching) {
            (Some(board), _) => {
                let (game, me, text) = (board.id.clone(), self.me.id.clone(), text.to_owned());
                let _ = self.ask(move |state| state.say(&game, &me, ChatRoom::Spectator, &text)).await?;
            }
            (None, Some(board)) => {
                let said = format!("{}[{}] whispers: {text}", self.me.titled(), board.number);
                self.context.lobby.tell_others(&self.me.id, &Notice::Whisper(board.id.clone(), said));
            }
            (None, None) => return self.answer(NO_BOARD),
        }
        self.answer("(whispered)")
    }

    fn shout(&mut self, variable: &'static str, text: &str, done: &str) {
        let heard = self.context.lobby.tell_others(&self.me.id, &Notice::Talk(variable, text.to_owned()));
        self.line(format!("({done} to {heard} players)"));
    }

    fn channel(&mut self, command: &str, rest: &str) {
        let Ok(channel) = rest.parse::<u16>() else { return self.line(format!("Your channels: {:?}", self.channels)) };
        if command == "-channel" {
            self.channels.remove(&channel);
            self.line(format!("[{channel}] removed from your channel list."));
        } else {
            self.channels.insert(channel);
            self.line(format!("[{channel}] added to your channel list."));
        }
    }

    async fn finger(&mut self, of: &str) -> io::Result<()> {
        let name = of.split(' ').next().filter(|name| !name.is_empty()).unwrap_or(&self.me.name).to_owned();
        let id = AccountId::of(&name);
        let wanted = id.clone();
        let Some(account) = self.ask(move |state| state.account(&wanted).cloned()).await? else {
            return self.answer(format!("There is no player matching the name {name}."));
        };
        let here = self.is_here(&id).await?;
        let title = match (account.bot, self.context.lobby.is_guest(&id)) {
            (_, true) => "(U)",
            (true, _) => "(C)",
            _ => "",
        };
        let mut text = format!("Finger of {}{title}:\n\n", account.name);
        text.push_str(if here { "On for: 1 min   Idle: 0 secs\n" } else { "Last disconnected: today\n" });
        for (category, rating) in &account.ratings {
            text.push_str(&format!("{:<12} {:5}  games {:4}\n", category.key(), rating.points(), rating.games));
        }
        if id == self.me.id {
            let notes = self.variables.notes.iter().map(|(number, note)| format!("\n{number:2}: {note}"));
            text.push_str(&notes.collect::<String>());
        }
        self.answer(text.trim_end().to_owned())
    }

    fn who(&mut self) {
        let visitors = self.context.lobby.visitors();
        let rows: Vec<String> = visitors
            .chunks(3)
            .map(|row| {
                row.iter().map(|visitor| format!("{:<22}", visitor.titled())).collect::<String>().trim_end().to_owned()
            })
            .collect();
        self.line(format!("{}\n\n {} players displayed.", rows.join("\n"), visitors.len()));
    }
}

fn announcement(by: &str, text: &str) -> String {
    format!("\n    **ANNOUNCEMENT** from {by}: {text}\n")
}

fn date() -> String {
    let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).strftime("%a %b %e, %H:%M UTC %Y").to_string();
    format!("Local time     - {now}\nServer time    - {now}\nGMT            - {now}")
}
