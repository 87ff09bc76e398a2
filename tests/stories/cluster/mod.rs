//! Workers on other machines, with a real NATS server that each story starts on a free port, and real worker processes. Whatever
//! becomes of them, every move is made in time and is legal.

mod churn;
mod company;
mod composition;
mod deploy;
mod doors;
mod elasticity;
mod impostors;
mod losses;
mod networks;
mod panics;
mod processes;
mod proxy;
mod shell;
mod table;
