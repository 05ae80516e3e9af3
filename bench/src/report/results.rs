//! The results of a run, as written to `results/NAME.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::statistics::{self, Comparison, Spread};
use crate::measure::machine::MachineInfo;

/// All results of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Results {
    /// Name of the run.
    pub name: String,
    /// Machine that was measured on.
    pub machine: MachineInfo,
    /// Measurement method.
    pub method: MeasurementMethod,
    /// The targets.
    pub targets: Vec<TargetFacts>,
    /// The target whose ratios to the others are given.
    pub reference: String,
    /// One row per scenario and target.
    pub rows: Vec<ResultRow>,
    /// Ratios of the reference to each rival, from paired windows.
    pub ratios: Vec<Ratio>,
    /// Errors; a run with entries here is no evidence.
    pub faults: Vec<String>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// Parameters of the measurement.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct MeasurementMethod {
    /// Rounds of every traffic scenario.
    pub rounds: usize,
    /// Length of a window in seconds.
    pub seconds: f64,
    /// Connections of the load generator.
    pub connections: usize,
    /// Workers of each target.
    pub workers: usize,
    /// Load generator at saturation.
    pub generator: String,
    /// Git commit of the working directory, if known.
    pub commit: Option<String>,
}

/// A target and its program.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TargetFacts {
    /// Name in rows.
    pub name: String,
    /// Version as reported by the program.
    pub version: String,
    /// Size of the program file in bytes.
    pub file_bytes: u64,
    /// Bytes of the file that are loaded to run it.
    pub loaded_bytes: Option<u64>,
}

/// Results of a target in a scenario: medians over its windows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ResultRow {
    /// Scenario name.
    pub scenario: String,
    /// Target name; `direct` is the origin without a gateway, measured once.
    pub target: String,
    /// Windows that succeeded.
    pub rounds: usize,
    /// Requests per second at saturation.
    pub rps: Option<f64>,
    /// CPU time per request at saturation in microseconds, of all processes of the target.
    pub cpu_us: Option<f64>,
    /// Part of it in user mode.
    pub user_us: Option<f64>,
    /// Part of it in the kernel.
    pub sys_us: Option<f64>,
    /// Median latency at the rate `rate`, in microseconds.
    pub p50_us: Option<f64>,
    /// 99th percentile of the latency at that rate, in microseconds.
    pub p99_us: Option<f64>,
    /// CPU time per request over that of the bare listener beside it, where filters were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio_to_bare: Option<BaselineRatio>,
    /// Requests per second over those of the bare listener, where filters were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rps_ratio_to_bare: Option<BaselineRatio>,
    /// Further figures by name.
    #[serde(flatten)]
    pub others: BTreeMap<String, f64>,
    /// Distribution of each figure over the windows that succeeded.
    pub spreads: BTreeMap<String, Spread>,
}

/// Ratio of a figure to that of the bare listener of the same process, from adjacent windows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BaselineRatio {
    /// Median of the ratios.
    pub median: f64,
    /// Lower quartile.
    pub q1: f64,
    /// Upper quartile.
    pub q3: f64,
    /// Number of ratios.
    pub pairs: usize,
}

/// Comparison of the reference with a rival in one scenario.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ratio {
    /// Scenario name.
    pub scenario: String,
    /// Rival name.
    pub rival: String,
    /// Name of the compared figure.
    pub figure: String,
    /// The reference's figure over the rival's, pair by pair.
    #[serde(flatten)]
    pub comparison: Comparison,
}

/// Samples of a run while it is in progress, by scenario and target.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    rows: Vec<Sampled>,
}

/// Samples of one target in one scenario.
#[derive(Clone, Debug, Default)]
struct Sampled {
    scenario: String,
    target: String,
    /// Values by figure, one per round.
    figures: BTreeMap<String, Vec<Option<f64>>>,
}

impl Samples {
    /// Adds the value of one round; `None` for a window that failed.
    pub fn add(&mut self, scenario: &str, target: &str, figure: &str, value: Option<f64>) {
        let known = self.rows.iter().position(|row| row.scenario == scenario && row.target == target);
        let index = known.unwrap_or_else(|| {
            let (scenario, target) = (scenario.to_owned(), target.to_owned());
            self.rows.push(Sampled { scenario, target, ..Sampled::default() });
            self.rows.len() - 1
        });
        self.rows[index].figures.entry(figure.to_owned()).or_default().push(value.map(rounded));
    }

    /// Returns the rows, in the order in which their first samples were added.
    pub fn rows(&self) -> Vec<ResultRow> {
        self.rows.iter().map(row).collect()
    }

    /// Returns the values of a figure in all windows that succeeded.
    pub fn values(&self, figure: &str) -> impl Iterator<Item = f64> {
        self.rows.iter().filter_map(move |row| row.figures.get(figure)).flatten().flatten().copied()
    }

    /// Compares `reference` with every other target wherever both have samples; `direct` is not a rival.
    pub fn ratios(&self, reference: &str) -> Vec<Ratio> {
        let mut ratios = Vec::new();
        for ours in self.rows.iter().filter(|row| row.target == reference) {
            let is_rival = |row: &&Sampled| {
                row.scenario == ours.scenario && row.target != reference && row.target != DIRECT
            };
            for theirs in self.rows.iter().filter(is_rival) {
                for figure in COMPARED {
                    let (Some(first), Some(second)) =
                        (ours.figures.get(*figure), theirs.figures.get(*figure))
                    else {
                        continue;
                    };
                    ratios.extend(statistics::compare(first, second).map(|comparison| Ratio {
                        scenario: ours.scenario.clone(),
                        rival: theirs.target.clone(),
                        figure: (*figure).to_owned(),
                        comparison,
                    }));
                }
            }
        }
        ratios
    }
}

fn row(sampled: &Sampled) -> ResultRow {
    let samples = &sampled.figures;
    let values = |figure: &str| -> Vec<f64> {
        samples.get(figure).map(|values| values.iter().flatten().copied().collect()).unwrap_or_default()
    };
    let spread = |figure: &str| statistics::spread(&values(figure)).map(Spread::rounded);
    let median = |figure: &str| spread(figure).map(|spread| spread.median);
    // The split is measured in ticks, too coarse for one window; over all windows there are many.
    let user: f64 = values(USER_TICKS).iter().sum();
    let system: f64 = values(SYSTEM_TICKS).iter().sum();
    let split = |ticks: f64| {
        let share = ticks / (user + system);
        median("cpu_us").filter(|_| user + system > 0.0).map(|total| rounded(total * share))
    };
    let is_other = |figure: &&String| {
        !FIELDS.contains(&figure.as_str()) && ![USER_TICKS, SYSTEM_TICKS].contains(&figure.as_str())
    };
    let to_bare = |figure: &str, bare: &str| {
        let ratios = statistics::ratios(samples.get(figure)?, samples.get(bare)?);
        let spread = statistics::spread(&ratios)?;
        let Spread { count: pairs, lower: q1, median, upper: q3 } = spread.rounded();
        Some(BaselineRatio { median, q1, q3, pairs })
    };
    let others = samples.keys().filter(is_other);
    ResultRow {
        scenario: sampled.scenario.clone(),
        target: sampled.target.clone(),
        rounds: samples.values().map(|values| values.iter().flatten().count()).max().unwrap_or_default(),
        rps: median("rps"),
        cpu_us: median("cpu_us"),
        user_us: split(user),
        sys_us: split(system),
        p50_us: median("p50_us"),
        p99_us: median("p99_us"),
        ratio_to_bare: to_bare("cpu_us", BARE_CPU),
        rps_ratio_to_bare: to_bare("rps", BARE_RPS),
        others: others.filter_map(|figure| Some((figure.clone(), median(figure)?))).collect(),
        spreads: samples.keys().filter_map(|figure| Some((figure.clone(), spread(figure)?))).collect(),
    }
}

impl Spread {
    fn rounded(self) -> Self {
        let Self { count, lower, median, upper } = self;
        Self { count, lower: rounded(lower), median: rounded(median), upper: rounded(upper) }
    }
}

/// Rounds to three decimals, as many as pairs of windows can distinguish.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// Row name of the origin without a gateway.
pub const DIRECT: &str = "direct";
/// Samples of the ticks in user mode.
pub const USER_TICKS: &str = "user_ticks";
/// Samples of the ticks in the kernel.
pub const SYSTEM_TICKS: &str = "system_ticks";
/// CPU time per request in the window on the bare listener beside a window with filters.
pub const BARE_CPU: &str = "bare_cpu_us";
/// Requests per second in that window.
pub const BARE_RPS: &str = "bare_rps";
/// Share of the machine that other processes took, the larger one of the two windows of a pair.
pub const FOREIGN: &str = "foreign_share";
const FIELDS: &[&str] = &["rps", "cpu_us", "user_us", "sys_us", "p50_us", "p99_us"];
const COMPARED: &[&str] = &[
    "cpu_us",
    "rps",
    "p50_us",
    "p99_us",
    "cpu_s_per_gb",
    "gb_per_s",
    "crowd_p99_us",
    "connection_bytes",
    "start_ms",
    "reload_ms",
    "reload_cpu_ms",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Samples {
        let mut samples = Samples::default();
        for (round, value) in [30.0, 10.0, 20.0].into_iter().enumerate() {
            samples.add("get", "eddy", "cpu_us", Some(value));
            samples.add("get", "eddy", USER_TICKS, Some(25.0));
            samples.add("get", "eddy", SYSTEM_TICKS, Some(75.0));
            samples.add("get", "nginx", "cpu_us", (round != 1).then_some(value * 2.0));
            samples.add("get", DIRECT, "cpu_us", Some(1.0));
        }
        samples.add("idle", "eddy", "connection_bytes", Some(1000.0));
        samples
    }

    #[test]
    fn rows_hold_medians_and_the_split() {
        let rows = samples().rows();
        let first = &rows[0];
        assert_eq!((first.scenario.as_str(), first.target.as_str(), first.rounds), ("get", "eddy", 3));
        assert_eq!((first.cpu_us, first.user_us, first.sys_us), (Some(20.0), Some(5.0), Some(15.0)));
        assert_eq!(rows[1].rounds, 2);
        assert_eq!(rows[3].others["connection_bytes"], 1000.0);
        assert!(!first.others.contains_key(USER_TICKS));
        let spread = Spread { count: 3, lower: 15.0, median: 20.0, upper: 25.0 };
        assert_eq!((first.spreads["cpu_us"], rows[1].spreads["cpu_us"].count), (spread, 2));
    }

    #[test]
    fn competitors_are_compared_in_pairs() {
        let ratios = samples().ratios("eddy");
        assert_eq!(ratios.len(), 1);
        assert_eq!(ratios[0].rival, "nginx");
        assert_eq!(ratios[0].comparison.ratio.count, 2);
        assert_eq!(ratios[0].comparison.ratio.median, 0.5);
    }

    #[test]
    fn filters_are_compared_with_the_bare_window_beside_them() {
        let mut samples = Samples::default();
        for (cpu, bare) in [(22.0, 20.0), (33.0, 30.0), (10.0, 10.0), (48.0, 40.0)] {
            samples.add("passthrough", "eddy-go", "cpu_us", Some(cpu));
            samples.add("passthrough", "eddy-go", BARE_CPU, Some(bare));
        }
        samples.add("passthrough", "eddy-go", "cpu_us", None);
        samples.add("passthrough", "eddy-go", BARE_CPU, Some(1.0));
        let row = &samples.rows()[0];
        let expected = BaselineRatio { median: 1.1, q1: 1.075, q3: 1.125, pairs: 4 };
        assert_eq!((row.ratio_to_bare, row.rps_ratio_to_bare), (Some(expected), None));
        assert_eq!((row.rounds, row.others[BARE_CPU]), (5, 20.0));
        let json = serde_json::to_value(row).unwrap();
        assert_eq!(json["ratio_to_bare"]["pairs"], 4);
        assert!(json.get("rps_ratio_to_bare").is_none());
    }

    #[test]
    fn results_round_trip_through_the_file() {
        let samples = samples();
        let (rows, ratios) = (samples.rows(), samples.ratios("eddy"));
        let results = Results { ratios, rows, ..Results::default() };
        let text = serde_json::to_string(&results).unwrap();
        let again: Results = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&again).unwrap(), text);
        let row = &serde_json::from_str::<serde_json::Value>(&text).unwrap()["rows"][0];
        for field in
            ["scenario", "target", "rounds", "rps", "cpu_us", "user_us", "sys_us", "p50_us", "p99_us"]
        {
            assert!(row.get(field).is_some(), "{field}");
        }
    }
}
