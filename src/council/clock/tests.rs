use std::time::Duration;

use proptest::prelude::*;

use super::*;

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// A game on the clock of `control`, at its first counted move.
fn moment(control: &str) -> Moment {
    let control: TimeControl = control.parse().expect("a time control");
    let clocks = match control {
        TimeControl::RealTime { initial, increment } => Some(Clocks::both(Clock { remaining: initial, increment })),
        TimeControl::Correspondence { days } => Some(Clocks::both(Clock {
            remaining: Duration::from_secs(86_400 * u64::from(days)),
            increment: Duration::ZERO,
        })),
        TimeControl::Unlimited => None,
    };
    Moment { control, clocks, color: Color::White, ply: 2, moves_to_go: None, spent: Duration::ZERO }
}

fn steady(round_trip: Duration) -> Lag {
    let mut lag = Lag::default();
    (0..100).for_each(|_| lag.record(round_trip));
    lag
}

fn budget(moment: &Moment) -> Budget {
    ClockSettings::default().budget(moment, &steady(seconds(0.03)))
}

#[test]
fn response_times_are_sensible() {
    for (control, least, most) in [
        ("15+0", 0.25, 0.45),
        ("0+1", 0.005, 0.02),
        ("60+0", 1.3, 1.9),
        ("60+1", 2.4, 3.2),
        ("180+2", 6.8, 8.2),
        ("600+5", 22.0, 26.0),
        ("10800+0", 310.0, 365.0),
    ] {
        let budget = budget(&moment(control));
        assert!((seconds(least)..=seconds(most)).contains(&budget.response), "{control}: {budget:?}");
    }
}

#[test]
fn zero_plus_one_uses_its_increment() {
    let mut now = moment("0+1");
    let mut response = Duration::ZERO;
    for ply in 0..40 {
        now.ply = ply * 2 + 2;
        response = budget(&now).response;
        let clock = now.clocks.as_mut().expect("a clock").of_mut(Color::White);
        clock.remaining = clock.remaining.saturating_sub(response) + clock.increment;
    }
    assert!(response > seconds(0.8), "{response:?}");
}

#[test]
fn slow_games_take_the_configured_time() {
    let settings = ClockSettings { correspondence_move_time: seconds(12.0), ..ClockSettings::default() };
    for control in ["3d", "unlimited"] {
        let budget = settings.budget(&moment(control), &Lag::default());
        assert_eq!(budget, Budget::fixed(Duration::ZERO, seconds(12.0)), "{control}");
    }
    let mut late = moment("1d");
    late.clocks = Some(Clocks::both(Clock { remaining: seconds(3.0), increment: Duration::ZERO }));
    assert!(settings.budget(&late, &Lag::default()).hard < seconds(3.0), "the last seconds of a day are respected");
}

#[test]
fn fixed_time_yields_to_the_clock() {
    let settings = ClockSettings { move_time: seconds(5.0), ..ClockSettings::default() };
    assert_eq!(settings.budget(&moment("60+0"), &Lag::default()).response, seconds(5.0));
    assert!(settings.budget(&moment("3+0"), &Lag::default()).hard < seconds(3.0));
}

#[test]
fn first_move_is_quick() {
    let mut first = moment("10800+0");
    first.ply = 1;
    assert_eq!(budget(&first).response, seconds(1.0));
    assert_eq!(budget(&first).extra, Duration::ZERO);
}

#[test]
fn empty_clock_still_gets_a_reply() {
    let mut empty = moment("15+0");
    empty.clocks = Some(Clocks::default());
    let budget = budget(&empty);
    assert_eq!((budget.response, budget.extra, budget.hard), (seconds(0.005), Duration::ZERO, seconds(0.005)));
}

#[test]
fn lost_time_is_not_spent_twice() {
    let mut late = moment("10+0");
    late.spent = seconds(9.0);
    let budget = budget(&late);
    assert!(budget.spent == seconds(9.0) && budget.hard < seconds(10.0), "{budget:?}");
}

#[test]
fn near_control_gives_more_time() {
    let with = |moves_to_go| budget(&Moment { moves_to_go, ..moment("300+0") }).response;
    assert!(with(Some(10)) > with(Some(40)) && with(Some(40)) > with(None));
    assert_eq!(with(Some(0)), with(Some(1)), "a control that says nothing sensible is the last move's");
}

#[test]
fn a_lead_on_the_clock_may_be_spent() {
    let mut ahead = moment("60+0");
    ahead.clocks.as_mut().expect("a clock").black.remaining = seconds(10.0);
    assert!(budget(&ahead).response > budget(&moment("60+0")).response);
}

#[test]
fn extra_time_follows_trouble() {
    let budget = budget(&moment("60+0"));
    let Budget { response, extra, .. } = budget;
    let stop = |progress| budget.stop_at(&progress);
    let usual = MoveProgress::default();

    assert_eq!(stop(usual), response);
    assert!(stop(MoveProgress { easy_recapture: true, ..usual }) < response, "an easy recapture");
    let settled = |led_for| stop(MoveProgress { led_for, ..usual });
    assert!(settled(2) == response && settled(5) < response && settled(9) < settled(5), "the same move leads for long");
    assert!(settled(1000) > response / 2, "but not everything is saved");
    let took = |effort| stop(MoveProgress { effort: Some(effort), ..usual });
    assert!(took(0.9) < took(0.6) && took(0.6) < response && took(0.1) > response, "what the best move took");
    assert!(stop(MoveProgress { changes: 2, ..usual }) > response, "the best move changes");
    assert!(stop(MoveProgress { score_fall: 60, ..usual }) > response, "the score falls");
    assert_eq!(stop(MoveProgress { score_fall: 400, changes: 9, ..usual }), response + extra);
}

#[test]
fn short_clocks_wait_for_a_proposal() {
    let control = TimeControl::real_time(seconds(0.1), Duration::ZERO);
    let clocks = Some(Clocks::both(Clock { remaining: seconds(0.1), increment: Duration::ZERO }));
    let moment = Moment { control, clocks, ..moment("60+0") };
    let (settings, lag) = (ClockSettings::default(), Lag::steady(seconds(0.01)));
    assert!(settings.first_word(&moment, &lag) >= seconds(0.03), "{:?}", settings.first_word(&moment, &lag));
    assert!(settings.budget(&moment, &lag).hard < seconds(0.03));
}

#[test]
fn settings_out_of_range_are_errors() {
    let read = |text: &str| toml::from_str::<ClockSettings>(text).map_err(|error| error.to_string());
    assert_eq!(read("").as_ref(), Ok(&ClockSettings::default()));
    assert_eq!(read("move_time = 2").map(|settings| settings.move_time), Ok(seconds(2.0)));
    for text in ["reserve = -1.0", "most = 0.0", "extra = nan", "minimum = 0.0", "move_time = 1e300", "haste = 1"] {
        assert!(read(text).is_err(), "{text} must be refused");
    }
    let error = read("most = 3").expect_err("out of range");
    assert!(error.contains("`3.0`, expected a number from 0.01 to 1"), "{error}");
}

prop_compose! {
    fn any_time()(magnitude in -3.0..6.5_f64, zero in prop::bool::weighted(0.1)) -> Duration {
        if zero { Duration::ZERO } else { seconds(10_f64.powf(magnitude)) }
    }
}

prop_compose! {
    fn any_settings()(
        move_time in prop_oneof![Just(Duration::ZERO), any_time()],
        first_move in any_time(),
        reserve in 0.0..0.5_f64,
        minimum in 0.001..0.1_f64,
        extra in 0.0..=10.0_f64,
        most in 0.01..=1.0_f64,
    ) -> ClockSettings {
        ClockSettings {
            move_time, first_move, reserve: seconds(reserve), minimum: seconds(minimum), extra, most,
            ..ClockSettings::default()
        }
    }
}

prop_compose! {
    fn any_lag()(round_trips in prop::collection::vec(0.0..2.0_f64, 0..40)) -> Lag {
        let mut lag = Lag::default();
        round_trips.into_iter().for_each(|round_trip| lag.record(seconds(round_trip)));
        lag
    }
}

prop_compose! {
    fn any_moment()(
        control in prop_oneof![
            (any_time(), any_time()).prop_map(|(initial, increment)| TimeControl::real_time(initial, increment)),
            (1..=14_u32).prop_map(|days| TimeControl::Correspondence { days }),
            Just(TimeControl::Unlimited),
        ],
        clocks in prop::option::weighted(0.9, (any_time(), any_time(), any_time())),
        ply in prop_oneof![0..700_usize, Just(usize::MAX)],
        moves_to_go in prop::option::of(prop_oneof![0..80_u32, Just(u32::MAX)]),
        spent in any_time(),
    ) -> Moment {
        let clocks = clocks.map(|(white, black, increment)| Clocks {
            white: Clock { remaining: white, increment },
            black: Clock { remaining: black, increment },
        });
        Moment { control, clocks, color: Color::White, ply, moves_to_go, spent }
    }
}

prop_compose! {
    fn any_progress()(
        easy_recapture: bool,
        changes in prop_oneof![0..10_u32, Just(u32::MAX)],
        led_for in prop_oneof![0..20_u32, Just(u32::MAX)],
        effort in prop::option::of(prop_oneof![0.0..=1.0_f64, Just(f64::NAN)]),
        score_fall: i32,
    ) -> MoveProgress {
        MoveProgress { easy_recapture, changes, led_for, effort, score_fall }
    }
}

proptest! {
    #[test]
    fn budgets_leave_the_reserve(
        settings in any_settings(), moment in any_moment(), lag in any_lag(),
    ) {
        let budget = settings.budget(&moment, &lag);
        prop_assert!(budget.spent < budget.response);
        prop_assert!(budget.response + budget.extra <= budget.hard, "{budget:?}");
        if let Some(clocks) = moment.clocks {
            let reserve = lag.reserve() + settings.reserve;
            let shortest = budget.spent + settings.minimum;
            prop_assert!(budget.hard <= shortest.max(clocks.white.remaining.saturating_sub(reserve)), "{budget:?}");
        }
    }

    #[test]
    fn proposal_wait_respects_the_reserve(
        settings in any_settings(), moment in any_moment(), lag in any_lag(),
    ) {
        let (budget, until) = (settings.budget(&moment, &lag), settings.first_word(&moment, &lag));
        prop_assert!(budget.hard <= until);
        if let Some(clocks) = moment.clocks {
            let reserve = lag.reserve() + settings.reserve;
            prop_assert!(until <= budget.hard.max(clocks.white.remaining.saturating_sub(reserve)), "{until:?}");
        }
    }

    #[test]
    fn largest_times_do_not_overflow(settings in any_settings(), lag in any_lag(), ply: usize) {
        let longest = Clock { remaining: Duration::MAX, increment: Duration::MAX };
        for control in [TimeControl::real_time(Duration::MAX, Duration::MAX), TimeControl::Unlimited] {
            let clocks = Some(Clocks::both(longest));
            let moment =
                Moment { control, clocks, color: Color::Black, ply, moves_to_go: Some(ply as u32), spent: Duration::MAX };
            let budget = settings.budget(&moment, &lag);
            prop_assert!(budget.spent < budget.response && budget.response <= budget.hard);
        }
    }

    #[test]
    fn allotment_stays_within_budget(
        settings in any_settings(), moment in any_moment(), lag in any_lag(), progress in any_progress(),
    ) {
        let budget = settings.budget(&moment, &lag);
        let Budget { spent, response, extra, .. } = budget;
        let stop = budget.stop_at(&progress);
        prop_assert!(spent <= stop && stop <= response + extra, "{stop:?}");
    }

    #[test]
    fn more_trouble_means_no_less_time(
        settings in any_settings(), moment in any_moment(), lag in any_lag(), progress in any_progress(),
        changes in 0..5_u32, fall in 0..300_i32,
    ) {
        let budget = settings.budget(&moment, &lag);
        let worse = MoveProgress {
            changes: progress.changes.saturating_add(changes),
            score_fall: progress.score_fall.saturating_add(fall),
            ..progress
        };
        prop_assert!(budget.stop_at(&progress) <= budget.stop_at(&worse));
    }

    /// Promise 4: never a forfeit on time that a faster reply could have prevented.
    #[test]
    fn flag_falls_only_if_unavoidable(
        settings in any_settings(), moment in any_moment(), lag in any_lag(), part in 0.0..=1.0_f64,
    ) {
        if let Some(Clocks { white, .. }) = moment.clocks {
            let budget = settings.budget(&moment, &lag);
            let fell = budget.hard + lag.reserve().mul_f64(part) > white.remaining;
            let hopeless = moment.spent + settings.minimum + settings.reserve + lag.reserve() > white.remaining;
            prop_assert!(!fell || hopeless, "{budget:?}");
        }
    }

    /// The longest game on any clock that can pay for its lag, played by an engine that always takes all it may have.
    #[test]
    fn clock_lasts_three_hundred_moves(
        settings in any_settings(), lag in any_lag(), initial in any_time(), increment in any_time(),
        parts in prop::collection::vec(0.0..=1.0_f64, 300), to_go in prop::option::of(1..60_u32),
    ) {
        let settings = ClockSettings { move_time: Duration::ZERO, ..settings };
        let cost = lag.typical() + settings.minimum;
        // A clock that runs down by nothing but lag is lost in the end; this one must hold until move 300.
        let initial = if increment >= cost { initial.max(cost) } else { initial.max(cost * 1500 + lag.reserve() + settings.reserve) };
        let mut clock = Clock { remaining: initial, increment };
        for (number, part) in parts.into_iter().enumerate() {
            let moves_to_go = to_go.map(|period| period - number as u32 % period);
            let moment = Moment {
                control: TimeControl::real_time(initial, increment),
                clocks: Some(Clocks::both(clock)),
                color: Color::White,
                ply: number * 2,
                moves_to_go,
                spent: Duration::ZERO,
            };
            let used = settings.budget(&moment, &lag).hard + lag.typical().mul_f64(part);
            prop_assert!(used <= clock.remaining, "move {number}: {used:?} of {clock:?}");
            clock.remaining = clock.remaining - used + increment;
            if moves_to_go == Some(1) {
                clock.remaining += initial;
            }
        }
    }
}
