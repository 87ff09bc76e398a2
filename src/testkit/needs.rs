use std::{
    env,
    fs::File,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

pub struct Need {
    missing: &'static str,
    find: fn() -> Option<PathBuf>,
    found: OnceLock<Option<PathBuf>>,
}

impl Need {
    const fn new(missing: &'static str, find: fn() -> Option<PathBuf>) -> Self {
        Self { missing, find, found: OnceLock::new() }
    }

    /// Returns the program for a test that declares the need.
    ///
    /// # Panics
    /// Without the program: the test does not declare the need.
    #[track_caller]
    pub fn path(&self) -> &Path {
        self.found()
            .unwrap_or_else(|| panic!("{}; #[testkit::test(needs(…))] would have ignored this test", self.missing))
    }

    pub(crate) fn missing(&self) -> Option<String> {
        self.found().is_none().then(|| self.missing.to_owned())
    }

    fn found(&self) -> Option<&Path> {
        self.found.get_or_init(self.find).as_deref()
    }
}

/// A program of the same name in Debian, or of the named package.
macro_rules! program {
    ($name:ident, $program:literal) => {
        program!($name, $program, $program);
    };
    ($name:ident, $program:literal, $package:literal) => {
        pub static $name: Need = Need::new(
            concat!($program, " not found: run tests/install-tools as root, or install the package ", $package),
            || program($program),
        );
    };
}

/// A Python that has all of these modules.
macro_rules! python {
    ($name:ident, $($module:literal),+) => {
        pub static $name: Need = Need::new(
            concat!("Python with ", $($module, " ",)+ "not found: run tests/install-tools"),
            || python(concat!("import sys" $(, ", ", $module)+)),
        );
    };
}

/// The NATS server; PyPI has it, too.
pub static NATS_SERVER: Need = Need::new("nats-server not found: run tests/install-tools", || program("nats-server"));

// UCI engines; the last one plays variants, and speaks CECP too.
program!(STOCKFISH, "stockfish");
program!(ETHEREAL, "ethereal-chess");
program!(FAIRY_STOCKFISH, "fairy-stockfish");

// CECP engines; the last one plays variants.
program!(GNUCHESS, "gnuchess");
program!(FAIRYMAX, "fairymax");
program!(PHALANX, "phalanx");
program!(HOICHESS, "hoichess");
program!(SJENG, "sjeng");

program!(CHROMIUM, "chromium");
program!(CHROMEDRIVER, "chromedriver", "chromium-driver");
program!(SYSTEMD_ANALYZE, "systemd-analyze", "systemd");
program!(PYTHON, "python3");

python!(PYTHON_CHESS, "chess");
python!(PYTHON_BERSERK, "berserk", "chess");
python!(PYTHON_DRAUGHTS, "draughts");

/// A folder with the Syzygy tables of up to four men, WDL and DTZ.
pub static SYZYGY: Need = Need::new("Syzygy tables not found: run tests/install-tools", || {
    Some(tools().join("syzygy")).filter(|folder| folder.join("KQvK.rtbw").is_file())
});

/// The published types of the Lichess API, as a JSON schema.
pub static LICHESS_API: Need = Need::new("schema of the Lichess API not found: run tests/install-tools", || {
    Some(tools().join("lichess-api.json")).filter(|file| file.is_file())
});

/// The accessibility checker axe-core, a script for browsers.
pub static AXE: Need = Need::new("axe-core not found: run tests/install-tools", || {
    Some(tools().join("axe.min.js")).filter(|file| file.is_file())
});

/// The system's pseudo-terminals; a chroot has them only with `/dev/pts`.
pub static PSEUDO_TERMINAL: Need = Need::new("no pseudo-terminals here: mount /dev/pts", || {
    let multiplexer = PathBuf::from("/dev/ptmx");
    File::options().read(true).write(true).open(&multiplexer).is_ok().then_some(multiplexer)
});

pub(crate) fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Folder of the programs that `tests/install-tools` installs.
fn tools() -> PathBuf {
    workspace().join("target/test-tools")
}

/// Finds a program on the `PATH`, where Debian keeps games and servers, or in `target/test-tools`.
fn program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(["/usr/games".into(), "/usr/sbin".into(), tools().join("bin")]);
    folders.map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Finds a Python that can run a line: that of `target/test-tools`, or the one on the `PATH`.
fn python(line: &str) -> Option<PathBuf> {
    let runs = |python: &PathBuf| {
        let status = Command::new(python).args(["-c", line]).stdin(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    [Some(tools().join("bin/python")), program("python3")].into_iter().flatten().find(runs)
}
