//! The machine, in words for the chat.

use std::{fs, sync::LazyLock, thread};

/// The processor and the usable cores, such as `Ryzen 7, cores: 8`.
pub(super) static CPU: LazyLock<String> = LazyLock::new(|| {
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
    let model = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| model(&text));
    format!("{}, cores: {cores}", model.as_deref().unwrap_or(std::env::consts::ARCH))
});

/// The memory, such as `16.0 GiB`; empty if unknown.
pub(super) static RAM: LazyLock<String> = LazyLock::new(|| {
    let kibibytes = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total_memory(&text));
    kibibytes.map_or_else(String::new, |kibibytes| format!("{:.1} GiB", kibibytes as f64 / f64::from(1 << 20)))
});

fn model(text: &str) -> Option<String> {
    value(text, "model name").filter(|name| !name.is_empty()).map(str::to_owned)
}

/// Returns all memory in Linux's `/proc/meminfo`, in KiB.
fn total_memory(text: &str) -> Option<u64> {
    value(text, "MemTotal")?.split_whitespace().next()?.parse().ok()
}

fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let mut pairs = text.lines().filter_map(|line| line.split_once(':'));
    pairs.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linux_names_processor_and_memory() {
        let text = "processor\t: 0\nmodel name\t: Zilog Z80\nflags\t\t: none\n";
        assert_eq!(model(text).as_deref(), Some("Zilog Z80"));
        assert_eq!(model("processor : 0\n"), None);
        assert_eq!(total_memory("MemTotal:       16318480 kB\nMemFree: 1 kB\n"), Some(16_318_480));
        assert_eq!(total_memory("garbage"), None);
    }
}
