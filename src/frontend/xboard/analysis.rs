use std::io::{self, Write};

use super::{Purpose, XboardSession};

impl<W: Write> XboardSession<W> {
    /// `analyze`: analyses any position on the board.
    pub(super) fn analyze(&mut self) {
        self.analyzing = true;
        self.ours = None;
        self.switches.post = true;
    }

    pub(super) const fn stop_analyzing(&mut self) {
        self.analyzing = false;
    }

    /// `.`: how far the analysis has come. Root moves are not counted by a council: electors are at different ones.
    pub(super) fn tell_status(&mut self) -> io::Result<()> {
        let search = self.search.as_ref().filter(|search| search.purpose == Purpose::Analysis);
        let Some(standing) = search.and_then(|search| search.progress.standing_or_deepest()) else { return Ok(()) };
        let text =
            format!("stat01: {} {} {} 0 0", standing.time.as_millis() / 10, standing.nodes, standing.proposal.depth,);
        self.say(text)
    }
}
