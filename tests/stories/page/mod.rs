//! The page in a real browser, in front of the program as it is started by its command.

mod demo;
