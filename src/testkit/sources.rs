//! Rules for the sources of tests, checked by reading them: no test is lost, returns before it asserts anything, or reads
//! what is not in the repository.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::needs::workspace;

struct Source {
    path: PathBuf,
    text: String,
}

impl Source {
    fn new(path: &str, text: &str) -> Self {
        Self { path: path.into(), text: text.to_owned() }
    }

    /// The lines without their indentation, with the place of each.
    fn lines(&self) -> impl Iterator<Item = (String, &str)> {
        let place = move |number| format!("{}:{}", self.path.display(), number + 1);
        self.text.lines().enumerate().map(move |(number, line)| (place(number), line.trim()))
    }

    /// The lines inside the functions of tests.
    fn lines_of_tests(&self) -> Vec<(String, &str)> {
        let mut end = None;
        let mut inside = Vec::new();
        for ((place, line), whole) in self.lines().zip(self.text.lines()) {
            let indentation = whole.len() - whole.trim_start().len();
            if is_plain(line) || is_ours(line) {
                end = Some(format!("{}}}", " ".repeat(indentation)));
            } else if end.as_deref() == Some(whole) {
                end = None;
            } else if end.is_some() {
                inside.push((place, line));
            }
        }
        inside
    }
}

/// An attribute of libtest, or one that becomes it.
fn is_plain(line: &str) -> bool {
    line == "#[test]" || line.starts_with("#[tokio::test")
}

fn is_ours(line: &str) -> bool {
    line.starts_with("#[testkit::test")
}

/// Every file of the repository with the extension except this one: it has bad examples.
fn files(extension: &str) -> Vec<Source> {
    let (mut folders, mut found) = (vec![PathBuf::new()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(workspace().join(&folder)).expect("a folder").map(|entry| entry.expect("an entry")) {
            let path = folder.join(entry.file_name());
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            if entry.file_type().expect("a type").is_dir() {
                if !hidden && entry.file_name() != "target" {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|found| found == extension) && !path.ends_with("testkit/sources.rs")
            {
                let text = fs::read_to_string(entry.path()).expect("text");
                found.push(Source { path, text });
            }
        }
    }
    found
}

/// The folders with tests of targets without libtest.
fn folders_without_libtest(manifests: &[Source]) -> BTreeSet<PathBuf> {
    let mut folders = BTreeSet::new();
    for manifest in manifests {
        let package = manifest.path.parent().unwrap_or(Path::new(""));
        for target in manifest.text.split("[[test]]").skip(1) {
            let target = target.split("\n[").next().unwrap_or_default();
            let path = target.lines().find_map(|line| line.strip_prefix("path = \"")?.strip_suffix('"'));
            if target.contains("harness = false") {
                let root = package.join(path.expect("a target without libtest has a path"));
                folders.extend(root.parent().map(Path::to_owned));
            }
        }
    }
    folders
}

/// Tests that no harness would run.
fn lost(sources: &[Source], manifests: &[Source]) -> Vec<String> {
    let folders = folders_without_libtest(manifests);
    let mut faults = Vec::new();
    for source in sources {
        let without = folders.iter().any(|folder| source.path.starts_with(folder));
        for (place, line) in source.lines() {
            if without && is_plain(line) {
                faults.push(format!("{place}: {line} is not run here: write #[testkit::test]"));
            } else if !without && is_ours(line) {
                faults.push(format!("{place}: {line} is not run here: the target has libtest, see src/testkit/lib.rs"));
            }
        }
    }
    faults
}

/// Tests that end before they assert anything.
fn silent(source: &Source) -> Vec<String> {
    let mut faults = Vec::new();
    for (place, line) in source.lines_of_tests() {
        let code = line.split("//").next().unwrap_or_default();
        if ["return;", "{ return }", "return Ok(())"].iter().any(|end| code.contains(end)) {
            faults.push(format!("{place}: a test must not return early; name what it needs, see src/testkit/lib.rs"));
        }
    }
    for (place, line) in source.lines() {
        if line.contains("println!(\"skip") {
            faults.push(format!("{place}: a test that cannot run is ignored with its reason, see src/testkit/lib.rs"));
        }
    }
    faults
}

/// Paths that lead out of the repository.
fn outside(source: &Source) -> Vec<String> {
    let depth = source.path.parent().map_or(0, |folder| folder.components().count());
    let mut faults = Vec::new();
    for (place, line) in source.lines() {
        let up = line.split('"').map(|text| text.matches("../").count()).max().unwrap_or(0);
        let climbs = up > depth || line.contains(concat!("CARGO_MANIFEST", "_DIR\")).ancestors"));
        if climbs || line.contains(concat!("../", "shared")) || line.contains(concat!("\"shared", "/")) {
            faults.push(format!("{place}: leads out of the repository: {line}"));
        }
    }
    faults
}

#[test]
fn no_test_is_lost() {
    let (sources, manifests) = (files("rs"), files("toml"));
    assert!(sources.len() > 100 && folders_without_libtest(&manifests).contains(Path::new("tests/stories")));
    assert_eq!(lost(&sources, &manifests), Vec::<String>::new());
}

#[test]
fn no_test_returns_early() {
    assert_eq!(files("rs").iter().flat_map(silent).collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn sources_stay_in_the_repository() {
    let sources = ["rs", "toml", "py", "sh", "yml", "yaml"].into_iter().flat_map(files);
    assert_eq!(sources.flat_map(|source| outside(&source)).collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn faults_are_found() {
    let manifest = "[[test]]\nname = \"a\"\npath = \"tests/a/main.rs\"\nharness = false\n\n[lints]\n";
    let manifests = [Source::new("src/x/Cargo.toml", manifest)];
    let attributes = format!("#[{0}]\n#[testkit::{0}]\n    #[tokio::{0}(flavor = \"multi_thread\")]\n", "test");
    for (path, count) in [("src/x/tests/a/b.rs", 2), ("src/x/tests/b/a.rs", 1), ("src/x/lib.rs", 1)] {
        assert_eq!(lost(&[Source::new(path, &attributes)], &manifests).len(), count, "{path}");
    }

    for body in ["    return;", "    let Some(a) = b() else { return };", "    println!(\"skipped: no a\");"] {
        let text = format!("#[{}]\nfn a() {{\n{body}\n}}\n", "test");
        assert_eq!(silent(&Source::new("src/a.rs", &text)).len(), 1, "{body}");
    }
    let fine = format!("#[{}]\nfn a() {{\n    let b = loop {{ return 1 }};\n}}\nfn c() {{\n    return;\n}}\n", "test");
    assert_eq!(silent(&Source::new("src/a.rs", &fine)), Vec::<String>::new());

    for (text, count) in [("\"../../a\"", 0), ("\"../../../a\"", 1), ("\"../../../../a\"", 1)] {
        assert_eq!(outside(&Source::new("src/a/b.rs", text)).len(), count, "{text}");
    }
}
