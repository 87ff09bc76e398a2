use std::time::Duration;

use util::values::{Decimal, FractionalSeconds};

util::settings! {
    /// The `clock` table: how time is spent. All times are in seconds, with fractions.
    pub struct ClockSettings {
        /// Fixed time of every move, as far as the clock allows; 0 follows the clock. 0 to 86400.
        #[serde(with = "FractionalSeconds::<0, 86_400_000>")]
        pub move_time: Duration = Duration::ZERO,
        /// The time of a move in correspondence and unlimited games. 0 to 86400.
        #[serde(with = "FractionalSeconds::<0, 86_400_000>")]
        pub correspondence_move_time: Duration = Duration::from_secs(20),
        /// The most that the first move of either side may take: it costs no time on the clock, but the
        /// opponent waits. 0 sets no bound. 0 to 86400.
        #[serde(with = "FractionalSeconds::<0, 86_400_000>")]
        pub first_move: Duration = Duration::from_secs(1),
        /// Time left on the clock in addition to the measured lag. 0 to 86400.
        #[serde(with = "FractionalSeconds::<0, 86_400_000>")]
        pub reserve: Duration = Duration::from_millis(30),
        /// The time of a move for which there is no time. 0.001 to 1.
        #[serde(with = "FractionalSeconds::<1, 1000>")]
        pub minimum: Duration = Duration::from_millis(5),
        /// Extra time as a multiple of the usual time of a move (docs/method.md §5). 0 to 10.
        #[serde(with = "Decimal::<0, 10_000>")]
        pub extra: f64 = 1.5,
        /// The most one move may take of what is left on the clock, as a share. 0.01 to 1.
        #[serde(with = "Decimal::<10, 1000>")]
        pub most: f64 = 0.25,
        /// Delay moves that needed no thought, such as book moves, for as long as a person might think:
        /// a part of the time that the clock gives them, and at most 5 seconds.
        pub fake_think_time: bool = false,
    }
}
