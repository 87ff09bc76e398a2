//! The connections of one listener: how many may be open, together and from one address, and which of them goes first when one more
//! comes.
//!
//! No address can have all places, so that others always find one. Where a place is wanted, a connection that is idle gives it up: a
//! browser opens another one when it needs it. One on which a request is being answered is never closed for that. While there is no
//! place, a few connections wait for one, of each address the last one first: those of a flood are the older ones, and are closed where
//! too many wait.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use http_body::{Frame, SizeHint};
use tokio::{
    sync::Notify,
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

/// The time that a new connection has to ask for something before its place may go to another one.
const TIME_TO_ASK: Duration = Duration::from_millis(250);

/// Maximum number of waiting connections, together and from one address.
const MOST_WAITING: usize = 192;
const MOST_WAITING_FROM_ONE: usize = 160;

/// The places of one listener. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Places(Arc<SharedPlaces>);

#[derive(Debug)]
struct SharedPlaces {
    /// The most connections together, and from one address.
    most: usize,
    most_from_one: usize,
    open: Mutex<OpenConnections>,
    /// A place has become free, or a connection idle.
    changed: Notify,
}

#[derive(Debug, Default)]
struct OpenConnections {
    next: u64,
    by_number: HashMap<u64, OpenConnection>,
    waiting: Vec<WaitingConnection>,
}

#[derive(Debug)]
struct WaitingConnection {
    number: u64,
    from: Option<IpAddr>,
    close: CancellationToken,
}

#[derive(Debug)]
struct OpenConnection {
    from: Option<IpAddr>,
    answering: usize,
    /// True after its first request.
    has_asked: bool,
    idle_since: Instant,
    close: CancellationToken,
}

impl OpenConnection {
    fn may_be_closed(&self, now: Instant) -> bool {
        self.answering == 0 && (self.has_asked || now.saturating_duration_since(self.idle_since) >= TIME_TO_ASK)
    }
}

/// A connection's place, which is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    places: Places,
    number: u64,
    /// Cancelled when the connection is to give up its place.
    pub(crate) close: CancellationToken,
}

impl Places {
    pub(crate) fn new(most: usize, most_from_one: usize) -> Self {
        let (open, changed) = (Mutex::default(), Notify::new());
        Self(Arc::new(SharedPlaces { most, most_from_one, open, changed }))
    }

    /// Finds a place for a connection from this address, or from this machine's own socket, or waits for one. `None` where too many others
    /// have come to wait.
    pub(crate) async fn admit(&self, from: Option<IpAddr>) -> Option<Arc<Place>> {
        let from = from.map(subscriber);
        if let Some(place) = self.try_to_admit(from) {
            return Some(place);
        }
        let waiting = self.queue(from);
        let close = waiting.close.clone();
        close
            .run_until_cancelled(async move {
                loop {
                    let changed = self.0.changed.notified();
                    if waiting.is_last()
                        && let Some(place) = self.try_to_admit(from)
                    {
                        return place;
                    }
                    // A connection that never asks becomes idle without a sign.
                    let _ = timeout(TIME_TO_ASK / 4, changed).await;
                }
            })
            .await
    }

    fn queue(&self, from: Option<IpAddr>) -> Waiting<'_> {
        let mut open = self.open();
        let from_there = open.waiting.iter().filter(|other| other.from == from).count();
        let one_too_many = if from.is_some() && from_there >= MOST_WAITING_FROM_ONE {
            open.waiting.iter().position(|other| other.from == from)
        } else {
            (open.waiting.len() >= MOST_WAITING).then_some(0)
        };
        if let Some(index) = one_too_many {
            open.waiting.remove(index).close.cancel();
        }
        let (number, close) = (open.next, CancellationToken::new());
        open.next += 1;
        open.waiting.push(WaitingConnection { number, from, close: close.clone() });
        Waiting { places: self, number, from, close }
    }

    fn try_to_admit(&self, from: Option<IpAddr>) -> Option<Arc<Place>> {
        let (mut open, now) = (self.open(), Instant::now());
        let from_there = open.by_number.values().filter(|other| other.from == from).count();
        if from.is_some() && from_there >= self.0.most_from_one && !open.close_one(now, |other| other.from == from) {
            return None;
        }
        if open.by_number.len() >= self.0.most && !open.close_one(now, |_| true) {
            return None;
        }
        let (number, close) = (open.next, CancellationToken::new());
        open.next += 1;
        let connection = OpenConnection { from, answering: 0, has_asked: false, idle_since: now, close: close.clone() };
        open.by_number.insert(number, connection);
        Some(Arc::new(Place { places: self.clone(), number, close }))
    }

    fn open(&self) -> MutexGuard<'_, OpenConnections> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenConnections {
    /// Closes the connection among `these` that has been idle longest; those that never asked for anything go first. Whether there was one.
    fn close_one(&mut self, now: Instant, these: impl Fn(&OpenConnection) -> bool) -> bool {
        let idle = self.by_number.iter().filter(|(_, other)| other.may_be_closed(now) && these(other));
        let longest = idle.min_by_key(|(number, other)| (other.has_asked, other.idle_since, **number));
        let Some(number) = longest.map(|(number, _)| *number) else { return false };
        if let Some(closed) = self.by_number.remove(&number) {
            closed.close.cancel();
        }
        true
    }
}

struct Waiting<'a> {
    places: &'a Places,
    number: u64,
    from: Option<IpAddr>,
    close: CancellationToken,
}

impl Waiting<'_> {
    /// Returns true if it is the newest connection from its address.
    fn is_last(&self) -> bool {
        let open = self.places.open();
        open.waiting.iter().rfind(|other| other.from == self.from).is_some_and(|last| last.number == self.number)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.places.open().waiting.retain(|other| other.number != self.number);
        self.places.0.changed.notify_waiters();
    }
}

/// The address by which connections are counted: providers give every customer a whole /64 of IPv6.
pub(crate) fn subscriber(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
        address => address,
    }
}

impl Place {
    fn asks(self: &Arc<Self>) -> Answering {
        if let Some(connection) = self.places.open().by_number.get_mut(&self.number) {
            connection.answering += 1;
            connection.has_asked = true;
        }
        Answering(Arc::clone(self))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.open().by_number.remove(&self.number);
        self.places.0.changed.notify_waiters();
    }
}

/// Held while a request is being answered.
struct Answering(Arc<Place>);

impl Drop for Answering {
    fn drop(&mut self) {
        let Self(place) = self;
        if let Some(connection) = place.places.open().by_number.get_mut(&place.number) {
            connection.answering -= 1;
            connection.idle_since = Instant::now();
        }
        place.places.0.changed.notify_waiters();
    }
}

/// Counts a request as being answered until the last of its answer is sent.
pub(crate) async fn answering(State(place): State<Arc<Place>>, request: Request, next: Next) -> Response {
    let held = place.asks();
    next.run(request).await.map(|body| Body::new(HeldBody { body, _held: held }))
}

/// A body that holds its connection's place.
struct HeldBody {
    body: Body,
    _held: Answering,
}

impl HttpBody for HeldBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use tokio::time::advance;

    use super::*;

    fn from(last: u8) -> Option<IpAddr> {
        Some(Ipv4Addr::new(192, 0, 2, last).into())
    }

    async fn admitted(places: &Places, from: Option<IpAddr>) -> Arc<Place> {
        places.admit(from).await.expect("a place")
    }

    #[tokio::test(start_paused = true)]
    async fn longest_idle_connection_is_closed() {
        let places = Places::new(3, 3);
        let [first, second, third] =
            [admitted(&places, from(1)).await, admitted(&places, from(1)).await, admitted(&places, from(1)).await];
        drop(first.asks());
        let _busy = second.asks();
        advance(TIME_TO_ASK).await;
        let fourth = admitted(&places, from(2)).await;
        assert!(third.close.is_cancelled() && !first.close.is_cancelled(), "the third never asked for anything");
        let _fifth = admitted(&places, from(3)).await;
        assert!(first.close.is_cancelled() && !fourth.close.is_cancelled(), "the fourth has just come");
        assert!(!second.close.is_cancelled(), "it is busy");
    }

    #[tokio::test(start_paused = true)]
    async fn one_address_cannot_fill_the_pool() {
        let places = Places::new(4, 2);
        let one = [admitted(&places, from(1)).await, admitted(&places, from(1)).await];
        let busy = one.each_ref().map(Place::asks);
        let third = {
            let places = places.clone();
            tokio::spawn(async move { places.admit(from(1)).await })
        };
        let _others = [admitted(&places, from(2)).await, admitted(&places, from(3)).await];
        assert!(!third.is_finished());
        drop(busy);
        assert!(third.await.expect("no panic").is_some());
        assert!(one[0].close.is_cancelled() && !one[1].close.is_cancelled());
    }

    #[tokio::test(start_paused = true)]
    async fn newest_waiting_connection_is_first() {
        let places = Places::new(1, 1);
        let busy = admitted(&places, from(1)).await.asks();
        let wait = |from| {
            let places = places.clone();
            tokio::spawn(async move { places.admit(from).await })
        };
        let mut waiting = Vec::new();
        for _ in 0..=MOST_WAITING_FROM_ONE {
            waiting.push(wait(from(1)));
            tokio::task::yield_now().await;
        }
        assert!(waiting.remove(0).await.expect("no panic").is_none(), "one too many waited");
        let last = waiting.pop().expect("many");
        drop(busy);
        assert!(last.await.expect("no panic").is_some());
        assert!(places.open().waiting.len() < MOST_WAITING_FROM_ONE);
    }

    #[test]
    fn a_customer_is_one_address() {
        let [one, other, mapped] = ["2001:db8::1", "2001:db8::2:3", "::ffff:192.0.2.1"];
        let of = |text: &str| subscriber(text.parse().expect("an address"));
        assert_eq!(of(one), of(other));
        assert_eq!(Some(of(mapped)), from(1));
    }
}
