//! The official examples, where a checkout of them stands beside this one.

use std::path::Path;

use super::{explorer::ExplorerAnswer, tablebase::TablebaseAnswer};

#[test]
fn every_official_example_is_understood() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/lichess-api/examples");
    let Ok(files) = std::fs::read_dir(folder) else { return };
    for path in files.flatten().map(|file| file.path()) {
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        let text = std::fs::read_to_string(&path).expect("readable");
        let wrong = match name.as_str() {
            _ if name.starts_with("openingExplorer") => serde_json::from_str::<ExplorerAnswer>(&text).err(),
            _ if name.starts_with("tablebase") => serde_json::from_str::<TablebaseAnswer>(&text).err(),
            _ => continue,
        };
        assert!(wrong.is_none(), "{name}: {wrong:?}");
    }
}
