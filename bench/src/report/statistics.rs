//! Medians, quartiles and the comparison of paired windows.

use serde::{Deserialize, Serialize};

use crate::pattern::mix;

/// Median and quartiles of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Number of values.
    pub count: usize,
    /// Lower quartile.
    pub lower: f64,
    /// Median.
    pub median: f64,
    /// Upper quartile.
    pub upper: f64,
}

/// Comparison of two series of paired windows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Ratios, one per pair.
    pub ratio: Spread,
    /// 95 % confidence interval of the median ratio (bootstrap).
    pub confidence: (f64, f64),
    /// Number of pairs in which the first value was lower.
    pub lower_count: usize,
}

/// Summarises `values`; `None` if there are none.
pub fn spread(values: &[f64]) -> Option<Spread> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let count = sorted.len();
    let at = |share| quantile(&sorted, share);
    (count > 0).then(|| Spread { count, lower: at(0.25), median: at(0.5), upper: at(0.75) })
}

/// Returns the median of `values`; `None` if there are none.
pub fn median(values: &[f64]) -> Option<f64> {
    spread(values).map(|spread| spread.median)
}

/// Returns the ratios of the pairs in which both windows succeeded.
pub fn ratios(first: &[Option<f64>], second: &[Option<f64>]) -> Vec<f64> {
    let pairs = first.iter().zip(second).filter_map(|(first, second)| Some(((*first)?, (*second)?)));
    pairs.filter(|&(_, second)| second > 0.0).map(|(first, second)| first / second).collect()
}

/// Compares `first` with `second` pair by pair; `None` without a single complete pair.
pub fn compare(first: &[Option<f64>], second: &[Option<f64>]) -> Option<Comparison> {
    let ratios = ratios(first, second);
    let ratio = spread(&ratios)?;
    let lower_count = ratios.iter().filter(|&&ratio| ratio < 1.0).count();
    Some(Comparison { ratio, confidence: median_confidence(&ratios), lower_count })
}

/// Returns the 95 % confidence interval of the median, by resampling with a fixed seed.
fn median_confidence(values: &[f64]) -> (f64, f64) {
    let mut medians = Vec::with_capacity(DRAWS);
    let mut draw = 0_u64;
    let count = values.len() as u64;
    for _ in 0..DRAWS {
        let sample = values.iter().map(|_| {
            draw += 1;
            let index = usize::try_from(mix(draw) % count.max(1)).unwrap_or_default();
            values.get(index).copied().unwrap_or_default()
        });
        medians.extend(median(&sample.collect::<Vec<f64>>()));
    }
    medians.sort_unstable_by(f64::total_cmp);
    (quantile(&medians, 0.025), quantile(&medians, 0.975))
}

/// Returns the quantile `share` of the sorted `values`, interpolated between neighbours.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = share.clamp(0.0, 1.0) * last as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the last index"
    )]
    let index = place.floor() as usize;
    let at = |index: usize| sorted.get(index.min(last)).copied().unwrap_or(f64::NAN);
    let below = at(index);
    below + (at(index + 1) - below) * (place - place.floor())
}

const DRAWS: usize = 2000;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[f64], lower: f64, median: f64, upper: f64) {
        assert_eq!(spread(values), Some(Spread { count: values.len(), lower, median, upper }), "{values:?}");
    }

    #[test]
    fn quartiles_interpolate_between_adjacent_values() {
        check(&[7.0], 7.0, 7.0, 7.0);
        check(&[2.0, 1.0], 1.25, 1.5, 1.75);
        check(&[5.0, 1.0, 4.0, 2.0, 3.0], 2.0, 3.0, 4.0);
        assert_eq!(spread(&[]), None);
    }

    #[test]
    fn only_complete_pairs_count() {
        let first = [Some(1.0), None, Some(3.0), Some(4.0)];
        let second = [Some(2.0), Some(2.0), None, Some(2.0), Some(9.0)];
        assert_eq!(ratios(&first, &second), [0.5, 2.0]);
        assert_eq!(ratios(&first, &[Some(0.0)]), [0.0; 0]);
    }

    #[test]
    fn a_consistent_difference_is_significant() {
        let first: Vec<Option<f64>> = (0..40).map(|index| Some(95.0 + f64::from(index % 3))).collect();
        let second = vec![Some(100.0); 40];
        let comparison = compare(&first, &second).unwrap();
        assert_eq!(comparison.lower_count, 40);
        assert!((comparison.ratio.median - 0.96).abs() < 1e-9, "{comparison:?}");
        assert!(comparison.confidence.0 >= 0.95 && comparison.confidence.1 <= 0.97, "{comparison:?}");
    }

    #[test]
    fn noise_is_not_significant() {
        let noisy = |seed: u64| -> Vec<Option<f64>> {
            let number = |index| f64::from(u32::try_from(mix(seed + index) % 1000).unwrap());
            (0..40).map(|index| Some(10_000.0 + number(index))).collect()
        };
        let comparison = compare(&noisy(1), &noisy(1000)).unwrap();
        assert!(comparison.confidence.0 < 1.0 && comparison.confidence.1 > 1.0, "{comparison:?}");
    }
}
