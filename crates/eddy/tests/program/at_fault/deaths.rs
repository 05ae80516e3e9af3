//! Native filters that end the process, one after the other, under load: two hundred times with `EDDY_SOAK`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::origin::{RecordingOrigin, send};
use super::size;
use crate::filters::faults;
use crate::support::{BackgroundLoad, Directory, EddyProcess, try_get};

const WAYS: [&str; 3] = ["crash", "abort", "exit"];
const OTHERS: usize = 3;
/// A process that dies younger counts as one that failed to start, and is replaced more slowly each time.
const CHILDHOOD: Duration = Duration::from_millis(1100);

#[test]
fn a_crash_fails_only_requests_in_flight_and_refuses_no_connection() {
    let libraries = Directory::new();
    let library = faults(&libraries, "libfaults.so", &[]);
    let origin = RecordingOrigin::start();
    let filter = |way| {
        format!("  {way}: {{native: {{filter: {way}, library: '{}'}}, disabled: true}}\n", library.display())
    };
    let rule = |way| {
        format!("    - {{match: {{path: /{way}}}, cluster: c, filters: {{{way}: {{disabled: false}}}}}}\n")
    };
    let text = format!(
        "\
workers: 2
limits: {{queue_delay: 0s}}
quarantine: {{deaths: 0}}
filters:
{}listeners: [{{address: '127.0.0.1:0', routes: site, filters: [crash, abort, exit]}}]
routes:
  site:
    - {{cluster: c}}
{}clusters: {{c: {{endpoints: ['{}']}}}}
",
        WAYS.map(filter).concat(),
        WAYS.map(rule).concat(),
        origin.address
    );
    let mut eddy = EddyProcess::start(&text);
    let address = eddy.address();
    let failed = Arc::new(AtomicU64::new(0));
    let failures = Arc::clone(&failed);
    let others = BackgroundLoad::start(OTHERS, move || {
        // A refused connection ends the test.
        let came = send(address, "GET /well HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        failures.fetch_add(u64::from(came.status != 200 || !came.is_whole), Relaxed);
    });
    let deaths = size(WAYS.len(), 200);
    let mut silences = Vec::new();
    for way in WAYS.iter().cycle().take(deaths) {
        let born = Instant::now();
        while born.elapsed() < CHILDHOOD {
            assert_eq!(try_get(address, "/well").unwrap().status, 200);
        }
        origin.take();
        let (before, dying) = (failed.load(Relaxed), Instant::now());
        assert!(try_get(address, &format!("/{way}")).is_err());
        let died = eddy.record("gateway process ended unexpectedly; another one replaces it");
        assert_eq!(died["filter"], *way, "{died}");
        eddy.record("ready");
        silences.push(dying.elapsed());
        assert_eq!(try_get(address, "/well").unwrap().status, 200);
        let lost = failed.load(Relaxed) - before;
        assert!(lost <= OTHERS as u64, "{lost} of {OTHERS} requests under way were lost");
    }
    let (asked, failed) = (others.stop(), failed.load(Relaxed));
    silences.sort();
    println!(
        "{deaths} deaths: {} others served, {} lost; without a gateway for {:?} half of the time, {:?} at most",
        asked - failed,
        failed,
        silences[silences.len() / 2],
        silences[silences.len() - 1]
    );
    eddy.stop();
}
