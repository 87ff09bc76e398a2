//! Reports on games in a journal.

extern crate concilio_report as report;

mod council;
mod journal;
mod pages;
mod resuming;
