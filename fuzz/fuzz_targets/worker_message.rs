//! Messages between daemons and workers under arbitrary bytes: reading never panics, and the values
//! read are within their bounds. Run with `cargo +nightly fuzz run worker_message`.

#![no_main]

use std::{collections::BTreeMap, sync::Arc};

use council::electors::Task;
use domain::{GameId, Line, MachineName, Phase, SearchId, Variant};
use cluster::{
    ProcessIdentity,
    wire::{self, Heartbeat, Poll, SearchEvent, SearchEventKind, WorkerCommand},
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let identity = ProcessIdentity::new("fuzz");
    // As they are, where hardly any has the right head, and with a head that is right.
    let mut sealed = wire::encode(&identity, &()).to_vec();
    sealed.extend_from_slice(bytes);
    for message in [bytes, &sealed] {
        let _ = wire::decode::<Heartbeat>("fuzz", message, &identity.version);
        let _ = wire::decode::<Poll>("fuzz", message, &identity.version);
        if let Ok((_, WorkerCommand::Search(order))) = wire::decode::<WorkerCommand>("fuzz", message, &identity.version)
        {
            if let Ok(spec) = order.elector.spec(order.threads, &BTreeMap::new()) {
                assert!(spec.threads >= 1 && spec.hash >= 1);
            }
            if let Ok(task) = order.task() {
                assert!(task.root_moves.iter().all(|uci| task.line.is_legal(*uci)));
            }
        }
        if let Ok((_, SearchEvent { elector, kind: SearchEventKind::Proposal(text), .. })) =
            wire::decode::<SearchEvent>("fuzz", message, &identity.version)
        {
            let id = SearchId { game: GameId::new("fuzz"), ply: 0, serial: 1, phase: Phase::First };
            let task = Task::new(id, Arc::new(Line::start(Variant::Standard)));
            if let Ok(proposal) = text.proposal(&task, &elector, &MachineName::new("fuzz")) {
                assert!(task.line.is_legal(proposal.best));
            }
        }
    }
});
