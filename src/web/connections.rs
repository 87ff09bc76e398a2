//! The connections of one listener: their number, together and from one address, and the choice of
//! the connection to close for a new one.
//!
//! No address can have all places, so that others always find one. For a new connection, an idle one
//! is closed: a browser opens another when it needs it. A connection with a running answer is never
//! closed for a new one. Without a free place, some connections wait, the newest of each address
//! first: in a flood the older ones are closed.

use std::{
    collections::BTreeMap,
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

/// The time for the first request of a connection; later its place may go to another one.
const TIME_TO_ASK: Duration = Duration::from_millis(250);

/// Maximum number of waiting connections, together and from one address.
const MOST_WAITING: usize = 192;
const MOST_WAITING_FROM_ONE: usize = 160;

#[derive(Debug)]
pub(crate) struct Places {
    /// Maximum number of admitted connections, together and from one address.
    most: usize,
    most_from_one: usize,
    open: Mutex<OpenConnections>,
    /// Notified when a place has become free, or a connection idle.
    changed: Notify,
}

#[derive(Debug, Default)]
struct OpenConnections {
    next: u64,
    /// The oldest first.
    by_number: BTreeMap<u64, OpenConnection>,
}

#[derive(Debug)]
struct OpenConnection {
    from: Option<IpAddr>,
    /// False while it waits for a place.
    admitted: bool,
    answering: usize,
    has_asked: bool,
    idle_since: Instant,
    close: CancellationToken,
}

impl OpenConnection {
    fn may_be_closed(&self, now: Instant) -> bool {
        self.admitted
            && self.answering == 0
            && (self.has_asked || now.saturating_duration_since(self.idle_since) >= TIME_TO_ASK)
    }
}

/// The place of a connection, or its place among the waiting ones. Dropping it frees the place.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<Places>,
    number: u64,
    /// Cancelled when the connection must give up its place.
    pub(crate) close: CancellationToken,
}

impl Places {
    pub(crate) fn new(most: usize, most_from_one: usize) -> Arc<Self> {
        Arc::new(Self { most, most_from_one, open: Mutex::default(), changed: Notify::new() })
    }

    /// Finds a place for a connection from this address (`None` for the Unix socket), or waits for
    /// one. Returns `None` if too many newer connections wait.
    pub(crate) async fn admit(self: &Arc<Self>, from: Option<IpAddr>) -> Option<Arc<Place>> {
        let from = from.map(subscriber);
        let close = CancellationToken::new();
        let place = {
            let mut open = self.open();
            let number = open.add(from, close.clone());
            let place = Place { places: Arc::clone(self), number, close: close.clone() };
            if self.try_to_admit(&mut open, number) {
                return Some(Arc::new(place));
            }
            open.limit_waiting(from);
            place
        };
        let admitted = async move {
            loop {
                let changed = self.changed.notified();
                if self.try_to_admit_waiting(place.number) {
                    self.changed.notify_waiters();
                    return Arc::new(place);
                }
                // A connection without requests becomes idle without a notification.
                let _ = timeout(TIME_TO_ASK / 4, changed).await;
            }
        };
        close.run_until_cancelled(admitted).await
    }

    fn try_to_admit_waiting(&self, number: u64) -> bool {
        let mut open = self.open();
        open.is_newest_waiting(number) && self.try_to_admit(&mut open, number)
    }

    fn try_to_admit(&self, open: &mut OpenConnections, number: u64) -> bool {
        let now = Instant::now();
        let Some(from) = open.by_number.get(&number).map(|connection| connection.from) else { return false };
        let admitted = open.by_number.values().filter(|other| other.admitted);
        let (all, from_there) = (admitted.clone().count(), admitted.filter(|other| other.from == from).count());
        let closes_own = from.is_some() && from_there >= self.most_from_one;
        if closes_own && !open.close_one(now, |other| other.from == from) {
            return false;
        }
        if all - usize::from(closes_own) >= self.most && !open.close_one(now, |_| true) {
            return false;
        }
        if let Some(connection) = open.by_number.get_mut(&number) {
            (connection.admitted, connection.idle_since) = (true, now);
        }
        true
    }

    fn open(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenConnections {
    fn add(&mut self, from: Option<IpAddr>, close: CancellationToken) -> u64 {
        let number = self.next;
        self.next += 1;
        let idle_since = Instant::now();
        let connection = OpenConnection { from, admitted: false, answering: 0, has_asked: false, idle_since, close };
        self.by_number.insert(number, connection);
        number
    }

    fn is_newest_waiting(&self, number: u64) -> bool {
        let Some(connection) = self.by_number.get(&number) else { return false };
        let mut newer = self.by_number.range(number + 1..);
        newer.all(|(_, other)| other.admitted || other.from != connection.from)
    }

    /// Closes the oldest waiting connection from this address, or else from any, if too many wait.
    fn limit_waiting(&mut self, from: Option<IpAddr>) {
        let waiting = || self.by_number.iter().filter(|(_, other)| !other.admitted);
        let mut from_there = waiting().filter(|(_, other)| other.from == from);
        let oldest = if from.is_some() && from_there.clone().count() > MOST_WAITING_FROM_ONE {
            from_there.next()
        } else {
            waiting().next().filter(|_| waiting().count() > MOST_WAITING)
        };
        if let Some(number) = oldest.map(|(number, _)| *number) {
            self.close(number);
        }
    }

    /// Closes the longest idle connection among `these`, first those without any request. Returns
    /// true if there was one.
    fn close_one(&mut self, now: Instant, these: impl Fn(&OpenConnection) -> bool) -> bool {
        let idle = self.by_number.iter().filter(|(_, other)| other.may_be_closed(now) && these(other));
        let longest = idle.min_by_key(|(number, other)| (other.has_asked, other.idle_since, **number));
        let Some(number) = longest.map(|(number, _)| *number) else { return false };
        self.close(number);
        true
    }

    fn close(&mut self, number: u64) {
        if let Some(closed) = self.by_number.remove(&number) {
            closed.close.cancel();
        }
    }
}

/// Returns the address for counting: a customer of a provider has a whole /64 of IPv6.
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
        self.places.changed.notify_waiters();
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
        place.places.changed.notify_waiters();
    }
}

/// Counts a request as being answered until its answer is sent.
pub(crate) async fn answering(State(place): State<Arc<Place>>, request: Request, next: Next) -> Response {
    let held = place.asks();
    next.run(request).await.map(|body| Body::new(HeldBody { body, _held: held }))
}

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

    async fn admitted(places: &Arc<Places>, from: Option<IpAddr>) -> Arc<Place> {
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
        let waiting = places.open().by_number.values().filter(|other| !other.admitted).count();
        assert!(waiting < MOST_WAITING_FROM_ONE);
    }

    #[test]
    fn a_customer_is_one_address() {
        let [one, other, mapped] = ["2001:db8::1", "2001:db8::2:3", "::ffff:192.0.2.1"];
        let of = |text: &str| subscriber(text.parse().expect("an address"));
        assert_eq!(of(one), of(other));
        assert_eq!(Some(of(mapped)), from(1));
    }
}
