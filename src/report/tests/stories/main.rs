//! Games in a journal, and what a report says of them.

extern crate concilio_report as report;

mod council;
mod journal;
mod pages;
mod resuming;
