use std::io;

use super::{
    FicsContext,
    lobby::{Rank, Visitor},
    telnet::{Incoming, TelnetConnection},
};
use crate::{account::AccountId, dialect::Dialect};

const BANNER: &str = "\n\r           Welcome to the practice server of Concilio\n\r\
    \n\rIt speaks the language of the Free Internet Chess Server (freechess.org), and forgets everything when it stops.\n\r\
    If you are not a registered player, enter the login name \"guest\".\n\r\n\r";
/// Telnet's `WILL ECHO` and `WONT ECHO`, so that no password shows on a screen.
const HIDE: &[u8] = b"\xff\xfb\x01";
const SHOW: &[u8] = b"\xff\xfc\x01";
const ATTEMPTS: usize = 5;

/// Logs a visitor in; returns the interface variables set by `%b` before the name as well. `None` if
/// it gave up.
pub(crate) async fn enter(
    context: &FicsContext,
    telnet: &mut TelnetConnection,
) -> io::Result<Option<(Visitor, Option<String>)>> {
    telnet.write(BANNER.as_bytes()).await?;
    let mut bits = None;
    for _ in 0..ATTEMPTS {
        telnet.write(b"login: ").await?;
        let name = line(telnet).await?;
        if let Some(given) = name.strip_prefix("%b") {
            bits = Some(given.to_owned());
            telnet.write(b"#Ivars set.\n\r").await?;
            continue;
        }
        if matches!(name.as_str(), "" | "%i") {
            continue;
        }
        if matches!(name.to_lowercase().as_str(), "quit" | "exit" | "%q") {
            return Ok(None);
        }
        match ask(context, telnet, &name).await? {
            Some(visitor) => return Ok(Some((visitor, bits))),
            None if context.faults.plan().dialect != Dialect::Uhlin => {}
            None => return Ok(None),
        }
    }
    telnet.write(b"\n\r**** Too many attempts. ****\n\r").await?;
    Ok(None)
}

/// Reads a line. No pong is due here, and no faults apply yet.
async fn line(telnet: &mut TelnetConnection) -> io::Result<String> {
    loop {
        match telnet.next().await? {
            Incoming::Line(line) => return Ok(line),
            Incoming::TooLong => return Ok(String::new()),
            Incoming::Due => telnet.send_due().await?,
            Incoming::Pong | Incoming::Fault(_) => {}
        }
    }
}

async fn hidden_line(telnet: &mut TelnetConnection, question: &str) -> io::Result<String> {
    telnet.write(question.as_bytes()).await?;
    telnet.write(HIDE).await?;
    let answer = line(telnet).await?;
    telnet.write(SHOW).await?;
    telnet.write(b"\n\r").await?;
    Ok(answer)
}

/// Identifies the visitor; `None` if refused.
async fn ask(context: &FicsContext, telnet: &mut TelnetConnection, name: &str) -> io::Result<Option<Visitor>> {
    if let Some(fault) = fault_of(name) {
        telnet.write(format!("\n\r{fault}\n\r").as_bytes()).await?;
        return Ok(None);
    }
    let id = AccountId::of(name);
    let wanted = id.clone();
    let account =
        context.server_state.ask(move |state| state.account(&wanted).cloned()).await.map_err(io::Error::other)?;
    match account {
        Some(account) if !context.lobby.is_guest(&id) => {
            let rank = if account.bot { Rank::Computer } else { Rank::Registered };
            let admitted = registered(context, telnet, &account.name).await?;
            Ok(admitted.then_some(Visitor { id, name: account.name, rank }))
        }
        _ => guest(context, telnet, name).await,
    }
}

fn fault_of(name: &str) -> Option<&'static str> {
    match name.len() {
        _ if !name.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
            Some("Sorry, names can only consist of lower and upper case letters.  Try again.")
        }
        ..3 => Some("A name should be at least three characters long!  Try again."),
        18.. => Some("Sorry, names may be at most 17 characters long.  Try again."),
        _ => None,
    }
}

async fn registered(context: &FicsContext, telnet: &mut TelnetConnection, name: &str) -> io::Result<bool> {
    let question = format!(
        "\n\r\"{name}\" is a registered name.  If it is yours, type the password.\n\r\
         If not, just hit return to try another name.\n\r\n\rpassword: "
    );
    let answer = hidden_line(telnet, &question).await?;
    if answer.is_empty() {
        return Ok(false);
    }
    let right = context.lobby.password(&AccountId::of(name)).is_some_and(|password| password == answer);
    if !right {
        telnet.write(b"\n\r**** Invalid password! ****\n\r\n\r").await?;
    }
    Ok(right)
}

async fn guest(context: &FicsContext, telnet: &mut TelnetConnection, name: &str) -> io::Result<Option<Visitor>> {
    let (name, words) = if name.eq_ignore_ascii_case("guest") || name.eq_ignore_ascii_case("g") {
        let name = context.lobby.guest_name();
        let words = format!("Logging you in as \"{name}\"; you may use this name to play unrated games.");
        (name, words)
    } else {
        let words = format!("\"{name}\" is not a registered name.  You may play unrated games as a guest.");
        (name.to_owned(), words)
    };
    let id = AccountId::of(&name);
    if context.lobby.find(&id).is_some() {
        let words = format!("\n\rSorry, {name} is already logged in.  Try again.\n\r");
        telnet.write(words.as_bytes()).await?;
        return Ok(None);
    }
    let question = format!(
        "\n\r{words}\n\r(After logging in, do \"help register\" for more info on how to register.)\n\r\n\r\
         Press return to enter the server as \"{name}\":\n\r"
    );
    let _ = hidden_line(telnet, &question).await?;
    context.lobby.note_guest(&id);
    let owned = name.clone();
    // An earlier visitor may have had the same name.
    let _ = context.server_state.ask(move |state| state.add_account(&owned, false)).await.map_err(io::Error::other)?;
    Ok(Some(Visitor { id, name, rank: Rank::Guest }))
}
