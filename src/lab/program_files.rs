//! The files that a program is made of: with other bytes under the same names it is another program, and the searches of the one
//! before do not count for it.

use std::path::{Path, PathBuf};

use council::electors::EngineProgram;

/// An option with one of these words in its name names a file that an engine reads. Files of other
/// options may be outputs, such as logs; if those counted, no experiment could be continued.
const READ: [&str; 5] = ["eval", "net", "nnue", "weight", "book"];

/// The files that a program is known to read: its own, those among its arguments, and those that options such as `EvalFile` name.
pub(crate) fn files_of_program(program: &EngineProgram) -> Vec<PathBuf> {
    let folder = program.working_dir.as_deref().unwrap_or(Path::new(""));
    let is_read = |option: &str| READ.iter().any(|part| option.to_lowercase().contains(part));
    let options = program.options.iter().filter(|(name, _)| is_read(name)).map(|(_, value)| value.as_str());
    let named = arguments_read(&program.arguments).into_iter().chain(options).map(|name| folder.join(name));
    program.file().into_iter().chain(named.filter(|file| file.is_file())).collect()
}

/// The arguments, and the values of those with an equals sign, but for logs.
fn arguments_read(arguments: &[String]) -> Vec<&str> {
    let mut before = "";
    let mut read = Vec::new();
    for argument in arguments {
        let (name, value) = argument.split_once('=').unwrap_or((before, argument.as_str()));
        if !name.to_lowercase().contains("log") && !value.to_lowercase().ends_with(".log") {
            read.push(value);
        }
        before = if argument.starts_with('-') { argument.as_str() } else { "" };
    }
    read
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn input_files_count_and_logs_do_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str| {
            let path = folder.path().join(name);
            fs::write(&path, name).expect("writable");
            path.to_str().expect("a path in UTF-8").to_owned()
        };
        let [script, net, book] = ["engine.py", "n.nnue", "b.bin"].map(file);
        let [log, talk, debug] = ["a.log", "talk", "debug.txt"].map(file);
        let program = EngineProgram {
            path: file("interpreter").into(),
            arguments: ["-u", &script, "--net=none", "-l", &log, "--log-file", &talk].map(str::to_owned).to_vec(),
            options: [("EvalFile", &net), ("Book File", &book), ("Debug Log File", &debug), ("Threads", &debug)]
                .map(|(name, value)| (name.to_owned(), value.clone()))
                .into(),
            ..EngineProgram::default()
        };
        let mut files = files_of_program(&program);
        files.sort();
        let mut expected = [file("interpreter"), script, net, book].map(PathBuf::from);
        expected.sort();
        assert_eq!(files, expected);
    }

    #[test]
    fn files_resolve_in_working_directory() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("n.nnue"), "a net").expect("writable");
        let program = EngineProgram {
            path: "no such engine".into(),
            options: [("EvalFile".to_owned(), "n.nnue".to_owned())].into(),
            working_dir: Some(folder.path().to_owned()),
            ..EngineProgram::default()
        };
        assert_eq!(files_of_program(&program), [folder.path().join("n.nnue")]);
    }
}
