//! Links the programs with packed relocations where the C library of this machine reads them (glibc from 2.36 on): they
//! are 1.4 MB smaller and start 0.7 ms sooner. Published archives have those that every system reads.

use std::{env, process::Command};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=CONCILIO_ARCHIVE");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let for_here = env::var("HOST").ok() == env::var("TARGET").ok() && env::var_os("CONCILIO_ARCHIVE").is_none();
    if for_here && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") && glibc() >= Some((2, 36)) {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The version of this machine's glibc; `None` if it does not say.
fn glibc() -> Option<(u32, u32)> {
    let told = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let told = String::from_utf8(told.stdout).ok()?;
    let (major, minor) = told.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
