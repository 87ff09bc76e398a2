//! Memory that only the start of the daemon needs.

use std::time::Duration;

/// Time after its start at which the daemon returns memory to the system: by then it is connected.
const STARTED: Duration = Duration::from_secs(2);

/// Waits until the daemon has started, and gives back the code that ran until then: command line, settings, libraries' setup. It is
/// most of an idle daemon's memory; code in use is mapped again from the system's cache.
pub(super) async fn give_back_after_start() {
    tokio::time::sleep(STARTED).await;
    give_back_code();
}

#[cfg(not(target_os = "linux"))]
fn give_back_code() {}

#[cfg(target_os = "linux")]
fn give_back_code() {
    use std::{
        ffi::{c_int, c_void},
        fs,
        ptr::with_exposed_provenance_mut,
    };

    unsafe extern "C" {
        fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int;
    }
    const MADV_DONTNEED: c_int = 4;

    let (Ok(maps), Ok(program)) = (fs::read_to_string("/proc/self/maps"), fs::read_link("/proc/self/exe")) else {
        return;
    };
    let program = program.to_string_lossy();
    for (start, end) in maps.lines().filter(|line| line.ends_with(&*program)).filter_map(code_of) {
        // SAFETY: this is the program's code, a private mapping of its file that is never written, so the system reads the same
        // bytes again when they are needed.
        let _ = unsafe { madvise(with_exposed_provenance_mut(start), end - start, MADV_DONTNEED) };
    }
}

/// The addresses of a line of `/proc/self/maps` that shows code.
#[cfg(target_os = "linux")]
fn code_of(line: &str) -> Option<(usize, usize)> {
    let mut words = line.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    (words.next()? == "r-xp").then_some((address(start)?, address(end)?))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn code_is_told_from_data() {
        let code = "55d0c000-55d0f000 r-xp 00001000 fd:01 123456   /usr/bin/concilio";
        assert_eq!(code_of(code), Some((0x55d0_c000, 0x55d0_f000)));
        for other in ["55d0c000-55d0f000 r--p 0 fd:01 1 /usr/bin/concilio", "nonsense r-xp", ""] {
            assert_eq!(code_of(other), None);
        }
    }

    #[test]
    fn program_survives_returning_its_code() {
        give_back_code();
        assert_eq!([3, 1, 2].iter().max(), Some(&3));
    }
}
