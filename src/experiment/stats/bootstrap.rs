//! The bootstrap (Efron 1979) over clusters: what belongs to one game is drawn together, because it is not independent.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::Estimate;

const SAMPLES: usize = 2000;

/// Returns the mean of all values with the 95 % interval of its bootstrap; `None` without values. Values with the same key
/// are drawn together, one without a key by itself. The same seed gives the same interval.
pub fn bootstrap<K: Ord>(values: impl IntoIterator<Item = (Option<K>, f64)>, seed: u64) -> Option<Estimate> {
    // The sum of each group, and its number of values.
    let mut groups: Vec<(f64, f64)> = Vec::new();
    let mut known = BTreeMap::new();
    for (key, value) in values {
        let index = match key {
            Some(key) => *known.entry(key).or_insert(groups.len()),
            None => groups.len(),
        };
        match groups.get_mut(index) {
            Some((sum, count)) => (*sum, *count) = (*sum + value, *count + 1.0),
            None => groups.push((value, 1.0)),
        }
    }
    if groups.is_empty() {
        return None;
    }
    let mean = |drawn: &mut dyn Iterator<Item = (f64, f64)>| {
        let (sum, count) = drawn.fold((0.0, 0.0), |(sum, count), group| (sum + group.0, count + group.1));
        sum / count
    };
    let mut random = StdRng::seed_from_u64(seed);
    let mut means: Vec<f64> = (0..SAMPLES)
        .map(|_| mean(&mut (0..groups.len()).map(|_| groups[random.random_range(0..groups.len())])))
        .collect();
    means.sort_by(f64::total_cmp);
    Some(Estimate {
        value: mean(&mut groups.iter().copied()),
        low: means[SAMPLES / 40],
        high: means[SAMPLES - 1 - SAMPLES / 40],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_matches_the_normal_law() {
        let values = (0..400).map(|i| (None::<u32>, f64::from(i % 2)));
        let estimate = bootstrap(values, 1).expect("values");
        // 1.96 · 0.5 / √400
        assert!((estimate.value - 0.5).abs() < 1e-12 && (estimate.error() - 0.049).abs() < 0.004, "{estimate:?}");
    }

    #[test]
    fn clustered_values_count_once() {
        let values = (0..400).map(|i| (Some(i / 20), f64::from(i / 20 % 2)));
        let estimate = bootstrap(values, 1).expect("values");
        // Twenty games of equal positions are twenty values.
        assert!((estimate.error() - 0.219).abs() < 0.03, "{estimate:?}");
    }

    #[test]
    fn seed_fixes_the_interval() {
        let values = (0..30).map(|i| (Some(i % 7), f64::from(i * i % 11)));
        assert_eq!(bootstrap(values.clone(), 5), bootstrap(values, 5));
        assert_eq!(bootstrap([(None::<u32>, 0.0); 0], 5), None);
    }
}
