//! State shared by all parts of a run.

use anyhow::{Context, Result};

use super::origin::OriginProcess;
use super::progress::ProgressReporter;
use crate::measure::elf;
use crate::measure::machine::MachineInfo;
use crate::origin::{calls, echo};
use crate::peers::{BenchEnvironment, BenchTarget, Ports, Setup, TargetInstance, TlsIdentity, version};
use crate::report::results::{FOREIGN, MeasurementMethod, ResultRow, Results, Samples, TargetFacts};
use crate::settings::{BenchSettings, GeneratorKind};

/// A run in progress.
#[derive(Debug)]
pub(super) struct Session {
    pub settings: BenchSettings,
    pub rounds: usize,
    pub targets: Vec<BenchTarget>,
    pub site: BenchEnvironment,
    pub origin: OriginProcess,
    pub progress: ProgressReporter,
    pub samples: Samples,
    pub faults: Vec<String>,
    pub notes: Vec<String>,
    machine: MachineInfo,
}

impl Session {
    /// Prepares a run: starts the origin and creates the working folder of the targets.
    pub(super) fn new(
        settings: BenchSettings,
        rounds: usize,
        targets: Vec<BenchTarget>,
        files_max: u64,
    ) -> Result<Self> {
        let machine = MachineInfo::look();
        let origin = OriginProcess::start()?;
        let work = settings.folder.join("work").join(std::process::id().to_string());
        std::fs::create_dir_all(&work).with_context(|| format!("cannot create `{}`", work.display()))?;
        let identity = TlsIdentity::make(&work)?;
        let site = BenchEnvironment {
            templates: settings.folder.join("peers"),
            work,
            origin: origin.address,
            far_end: echo::start()?,
            calls: calls::start()?,
            identity,
            files_max,
            workers: settings.workers,
            ports: Ports::new(std::process::id()),
        };
        let mut notes = Vec::new();
        if machine.load_average > LOAD_QUIET {
            notes.push(format!(
                "other processes kept the machine busy (load average {:.1})",
                machine.load_average
            ));
        }
        if settings.generator == GeneratorKind::Wrk {
            notes.push("the load at saturation came from wrk, which does not check bodies".to_owned());
        }
        Ok(Self {
            settings,
            rounds,
            targets,
            site,
            origin,
            progress: ProgressReporter::new(),
            samples: Samples::default(),
            faults: Vec::new(),
            notes,
            machine,
        })
    }

    /// Starts every target with `setup`; a target that does not start is recorded as a fault and left out.
    pub(super) fn start_all(&mut self, setup: Setup) -> Vec<TargetInstance> {
        let mut instances = Vec::new();
        let can = |target: &BenchTarget| {
            (!setup.is_transcoding || target.kind.transcodes()) && target.lacks(setup).is_none()
        };
        for target in self.targets.clone().into_iter().filter(can) {
            match TargetInstance::start(&target, setup, &mut self.site) {
                Ok(instance) => instances.push(instance),
                Err(error) => self.add_fault(&format!("{} ({}): {error:#}", target.name, setup.name())),
            }
        }
        instances
    }

    /// Stops one target; its warnings and errors are recorded as faults.
    pub(super) fn stop(&mut self, setup: Setup, instance: TargetInstance) {
        for complaint in instance.logged_errors() {
            self.add_fault(&format!("{} ({}) logged: {complaint}", instance.target.name, setup.name()));
        }
        instance.stop();
    }

    /// Stops the targets; their warnings and errors are recorded as faults.
    pub(super) fn stop_all(&mut self, setup: Setup, instances: Vec<TargetInstance>) {
        for instance in instances {
            self.stop(setup, instance);
        }
    }

    /// Records a fault and prints it.
    pub(super) fn add_fault(&mut self, text: &str) {
        self.progress.say(&format!("FAULT {text}"));
        self.faults.push(text.to_owned());
    }

    /// Returns the order of `count` targets in round `round`.
    ///
    /// Every other round runs backwards and every two rounds begin with the next target, so that no target always
    /// goes first or follows the same one.
    pub(super) fn order(round: usize, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        if count > 0 {
            order.rotate_left(round / 2 % count);
        }
        if round % 2 == 1 {
            order.reverse();
        }
        order
    }

    /// Ends the run and returns its results.
    pub(super) fn finish(self, name: &str, reference: &str) -> Results {
        let rows = self.samples.rows();
        let facts = |target: &BenchTarget| {
            let size = elf::size(&target.binary).ok();
            TargetFacts {
                name: target.name.clone(),
                version: version(target.kind, &target.binary),
                file_bytes: size.map_or(0, |size| size.file_bytes),
                loaded_bytes: size.and_then(|size| size.loaded_bytes),
            }
        };
        let mut notes = self.notes;
        notes.extend(late(&rows));
        notes.extend(disturbed(&self.samples));
        drop(self.site.identity);
        // The folder is empty unless files of a target were left behind, which may be needed.
        let _ = std::fs::remove_dir(&self.site.work);
        Results {
            name: name.to_owned(),
            machine: self.machine,
            method: MeasurementMethod {
                rounds: self.rounds,
                seconds: self.settings.seconds,
                connections: self.settings.connections,
                workers: self.settings.workers,
                generator: self.settings.generator.name().to_owned(),
                commit: commit(),
            },
            targets: self.targets.iter().map(facts).collect(),
            reference: reference.to_owned(),
            ratios: self.samples.ratios(reference),
            rows,
            faults: self.faults,
            notes,
        }
    }
}

/// Returns a note about scenarios with latencies of a busy machine: the load generator itself sent late.
fn late(rows: &[ResultRow]) -> Option<String> {
    let is_late =
        |row: &&ResultRow| row.others.get("delay_p99_us").is_some_and(|&delay| delay > DELAY_FINE_US);
    let mut scenarios: Vec<&str> = rows.iter().filter(is_late).map(|row| row.scenario.as_str()).collect();
    scenarios.dedup();
    (!scenarios.is_empty()).then(|| {
        format!(
            "requests were sent late, because the machine was busy or no connection was free, in {}",
            scenarios.join(", ")
        )
    })
}

/// Returns a note about how many pairs of windows were disturbed by other work on the machine.
fn disturbed(samples: &Samples) -> Option<String> {
    let shares: Vec<f64> = samples.values(FOREIGN).collect();
    let count = shares.iter().filter(|&&share| share > FOREIGN_FINE).count();
    (count > 0).then(|| {
        format!(
            "in {count} of {} pairs at saturation, other processes used more than {:.0} % of the machine",
            shares.len(),
            FOREIGN_FINE * 100.0
        )
    })
}

/// Returns the git commit of the working directory.
fn commit() -> Option<String> {
    let output = std::process::Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// Load average above which other work disturbs the figures.
const LOAD_QUIET: f64 = 0.5;
/// More than the 5 % of the machine that the kernel and the harness take when it is idle.
const FOREIGN_FINE: f64 = 0.1;
/// 99th percentile of the sending delay on an idle machine, including the wait for a free connection.
const DELAY_FINE_US: f64 = 1000.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_sending_is_reported() {
        let mut samples = Samples::default();
        samples.add("get", "eddy", "delay_p99_us", Some(200.0));
        samples.add("log", "eddy", "delay_p99_us", Some(1200.0));
        samples.add("log", "nginx", "delay_p99_us", Some(5000.0));
        assert!(late(&samples.rows()).is_some_and(|text| text.ends_with("connection was free, in log")));
        assert_eq!(late(&samples.rows()[..1]), None);
    }

    #[test]
    fn other_cpu_load_is_reported() {
        let mut samples = Samples::default();
        samples.add("bare", "eddy", FOREIGN, Some(0.01));
        assert_eq!(disturbed(&samples), None);
        samples.add("bare", "eddy", FOREIGN, Some(0.3));
        let expected = "in 1 of 2 pairs at saturation, other processes used more than 10 % of the machine";
        assert_eq!(disturbed(&samples).as_deref(), Some(expected));
    }

    #[test]
    fn measurement_orders_rotate_and_reverse() {
        assert_eq!(Session::order(0, 3), [0, 1, 2]);
        assert_eq!(Session::order(1, 3), [2, 1, 0]);
        assert_eq!(Session::order(2, 3), [1, 2, 0]);
        assert_eq!(Session::order(5, 0), [0; 0]);
    }

    #[test]
    fn each_of_two_targets_is_measured_first_equally_often() {
        let firsts: Vec<usize> = (0..8).map(|round| Session::order(round, 2)[0]).collect();
        assert_eq!(firsts, [0, 1, 1, 0, 0, 1, 1, 0]);
    }
}
