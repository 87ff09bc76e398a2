//! The smallest step beyond one machine: an engine on another one, through a remote shell, without any server. Here a script stands for the
//! shell; the way through it takes a tenth of a second, and breaks.

use std::{
    fs,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use council::{Council, CouncilSettings, CriterionName, ElectorSettings, Progress, Question, Roster, electors::Pool};
use domain::{GameId, Line, Variant};
use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::lichess::electors::program;

use super::processes::PATIENCE;

/// Runs a command on the machine `attic`, if it is there; the input of the command arrives later.
const SHELL: &str = r#"
[ -e "$(dirname "$0")/off" ] && { echo 'ssh: connect to host attic port 22: No route to host' >&2; exit 255; }
echo $$ >> "$(dirname "$0")/pids"
[ "$1 $2" = '-T attic' ] || exit 255
shift 2
while IFS= read -r line; do sleep 0.1; printf '%s\n' "$line"; done | "$@""#;

/// A council of our engine here and of another one elsewhere.
struct Scene {
    folder: TempDir,
    council: Council,
    line: Line,
}

impl Scene {
    fn set() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let shell = program(folder.path(), "ssh", SHELL);
        let engine = format!("{} -T attic {} uci --single", shell.display(), env!("CARGO_BIN_EXE_concilio"));
        let ours = ElectorSettings { knowledge: "mbxkcpar".parse().ok(), ..ElectorSettings::default() };
        let theirs = ElectorSettings {
            name: Some("attic".to_owned()),
            engine: Some(PathBuf::from(engine)),
            ..ElectorSettings::default()
        };
        let settings = CouncilSettings {
            roster: "custom".to_owned(),
            electors: vec![ours, theirs],
            criterion: CriterionName::Majority,
            hash: 1,
            ..CouncilSettings::default()
        };
        let roster = Roster::from_settings(&settings).expect("a roster");
        let council = Council::new(&Pool::new(1), &roster, &settings, Variant::Standard);
        Self { folder, council, line: Line::start(Variant::Standard) }
    }

    /// Makes a move in half a second, or at the first proposal if that is later, and returns the voters.
    async fn plays(&mut self) -> Vec<String> {
        if self.line.legal_moves().is_empty() {
            self.line = Line::start(Variant::Standard);
        }
        let time = |progress: &Progress| if progress.proposals == 0 { PATIENCE } else { Duration::from_millis(500) };
        let timing = Some(Box::new(time) as _);
        let question = Question { timing, ..Question::new(GameId::new("shell"), Arc::new(self.line.clone())) };
        let decided = self.council.decide(question, &CancellationToken::new(), &mut |_| {}).await;
        let decision = decided.expect("a decision");
        self.line.play(decision.best).expect("a legal move");
        decision.votes.iter().map(|vote| vote.proposal.elector.to_string()).collect()
    }

    async fn is_voted_by(&mut self, electors: &[&str]) {
        let begun = Instant::now();
        loop {
            let votes = self.plays().await;
            if votes == electors {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "{votes:?} vote");
        }
    }

    /// The way to the other machine breaks.
    fn is_cut(&self) {
        let pids = fs::read_to_string(self.folder.path().join("pids")).expect("it was begun");
        let last = pids.lines().last().and_then(|pid| Pid::from_raw(pid.parse().ok()?)).expect("a process");
        // Perhaps it was ended already, because it did not answer in time.
        let _ = kill_process_group(last, Signal::KILL);
    }
}

#[testkit::test(needs(NATS_SERVER))]
async fn lost_remote_engine_is_found_again() {
    let mut scene = Scene::set();
    scene.is_voted_by(&["mbxkcpar", "attic"]).await;
    // Lost for a moment: it is started anew.
    scene.is_cut();
    scene.is_voted_by(&["mbxkcpar", "attic"]).await;
    // Lost for longer: the others decide, until it is back.
    let off = scene.folder.path().join("off");
    fs::write(&off, "").expect("written");
    scene.is_cut();
    scene.is_voted_by(&["mbxkcpar"]).await;
    for _ in 0..5 {
        assert!(scene.plays().await.iter().any(|elector| elector == "mbxkcpar"));
    }
    fs::remove_file(&off).expect("removed");
    scene.is_voted_by(&["mbxkcpar", "attic"]).await;
}
