//! The parent and its gateway process: start, crashes, signals, sockets.

use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{DEADLINE, DEMO, Directory, EddyProcess, Launch, exchange, get, try_get};
use rustix::process::{Resource, Rlimit, Signal, kill_process, prlimit, test_kill_process};

#[test]
fn a_gateway_serves_and_drains() {
    let eddy = EddyProcess::start(DEMO);
    assert_eq!(get(eddy.address(), "/fixed").status, 200);
    assert_eq!(get(eddy.admin(), "/ready").status, 200);
    let address = eddy.address();
    eddy.stop();
    assert_eq!(TcpStream::connect(address).unwrap_err().kind(), ErrorKind::ConnectionRefused);
}

#[test]
fn the_demo_endpoint_refuses_sizes_that_it_does_not_serve() {
    let eddy = EddyProcess::start(DEMO);
    let body = |target: &str| {
        let answer = get(eddy.address(), target);
        let body = answer.text.split_once("\r\n\r\n").unwrap().1.to_owned();
        (answer.status, body)
    };
    assert_eq!(body("/fixed"), (200, "Hello, world\n".to_owned()));
    let (status, all) = body("/fixed?x=1&bytes=1048576");
    assert_eq!((status, all.len()), (200, 1 << 20));
    for wrong in ["1048577", "18446744073709551616", "-1", "1k", ""] {
        let (status, said) = body(&format!("/fixed?bytes={wrong}"));
        assert_eq!((status, &*said), (400, "bytes: a number from 0 to 1048576\n"), "{wrong}");
    }
    eddy.stop();
}

#[test]
fn a_crashed_gateway_is_replaced_without_refused_connections() {
    let mut eddy = EddyProcess::start(DEMO);
    let address = eddy.address();
    let client = RepeatingClient::start(address);
    let mut quickest = DEADLINE;
    for _ in 0..5 {
        let before = eddy.gateway();
        client.until_answered();
        let killed = Instant::now();
        eddy.kill_gateway();
        eddy.record("gateway process ended unexpectedly; another one replaces it");
        eddy.record("ready");
        let silence = killed.elapsed();
        assert_ne!(eddy.gateway(), before);
        assert!(silence < Duration::from_secs(2), "{silence:?} without a gateway");
        quickest = quickest.min(silence);
    }
    println!("another process serves after {quickest:?} at best");
    // At least one replacement did not coincide with load on the machine.
    assert!(quickest < Duration::from_millis(300), "{quickest:?} at best");
    client.until_answered();
    assert_eq!(client.stop().refused, 0);
    eddy.stop();
}

#[test]
fn a_hanging_gateway_is_killed() {
    let mut eddy = EddyProcess::start(DEMO);
    kill_process(eddy.gateway(), Signal::STOP).unwrap();
    let hung = eddy.record("a worker hangs; its process is killed");
    assert!(hung["silent_ms"].as_u64().unwrap() >= 5000, "{hung}");
    eddy.record("ready");
    assert_eq!(get(eddy.address(), "/fixed").status, 200);
}

#[test]
fn a_paused_machine_kills_no_gateway() {
    let mut eddy = EddyProcess::start(DEMO);
    let (parent, gateway) = (eddy.pid(), eddy.gateway());
    for pid in [parent, gateway] {
        kill_process(pid, Signal::STOP).unwrap();
    }
    let paused = Instant::now();
    while paused.elapsed() < Duration::from_millis(6500) {
        thread::park_timeout(Duration::from_millis(100));
    }
    for pid in [parent, gateway] {
        kill_process(pid, Signal::CONT).unwrap();
    }
    assert_eq!(get(eddy.address(), "/fixed").status, 200);
    eddy.signal(Signal::HUP);
    eddy.record("configuration unchanged");
    assert_eq!(eddy.gateway(), gateway);
    assert!(!eddy.has_seen("a worker hangs; its process is killed"), "{}", eddy.log());
}

#[test]
fn a_port_in_use_is_an_error_that_names_the_holder() {
    let holder = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = holder.local_addr().unwrap();
    let config = format!("listeners: [{{address: '{address}', demo: true}}]\n");
    let mut eddy = EddyProcess::spawn(&config, Launch::default());
    let record = eddy.record_where("cannot listen", |record| {
        record["message"].as_str().is_some_and(|text| text.contains("cannot listen"))
    });
    let text = record["message"].as_str().unwrap();
    assert!(text.contains(&address.to_string()), "{text}");
    assert!(text.contains(&format!("process {} ", std::process::id())), "{text}");
    assert_eq!(eddy.exited().code(), Some(1));
}

#[test]
fn two_gateways_do_not_share_a_port_unnoticed() {
    let eddy = EddyProcess::start(DEMO);
    let config = format!("listeners: [{{address: '{}', demo: true}}]\n", eddy.address());
    let mut second = EddyProcess::spawn(&config, Launch::default());
    assert_eq!(second.exited().code(), Some(1));
    assert_eq!(get(eddy.address(), "/fixed").status, 200);
}

#[test]
fn a_broken_configuration_ends_the_first_start() {
    let mut eddy = EddyProcess::spawn("listeners: nothing\n", Launch::default());
    assert_eq!(eddy.exited().code(), Some(1));
}

#[test]
fn a_replacement_process_survives_a_broken_file() {
    let mut eddy = EddyProcess::start(DEMO);
    eddy.write_config("listeners: nothing\n");
    eddy.kill_gateway();
    eddy.records(&["the configuration on disk is invalid; the last good one stays in force", "ready"]);
    assert_eq!(get(eddy.address(), "/fixed").status, 200);
    let metrics = get(eddy.admin(), "/metrics").text;
    assert!(metrics.contains("eddy_config_rejected 1\n"), "{metrics}");
}

#[test]
fn reloads_are_all_or_nothing() {
    let mut eddy = EddyProcess::start(DEMO);
    let first = eddy.address();
    let busy = TcpListener::bind("127.0.0.1:0").unwrap();
    let more = |address: &str| {
        DEMO.replace(
            "demo: true}",
            &format!("demo: true}}, {{name: more, address: '{address}', demo: true}}"),
        )
    };
    eddy.write_config(&more(&busy.local_addr().unwrap().to_string()));
    eddy.signal(Signal::HUP);
    eddy.record("configuration rejected; the last good one stays in force");
    assert_eq!(get(first, "/fixed").status, 200);
    eddy.write_config(&more("127.0.0.3:0"));
    eddy.record("configuration reloaded");
    let second = eddy.address();
    assert_ne!(first, second);
    assert_eq!(get(second, "/fixed").status, 200);
    eddy.write_config(DEMO);
    eddy.signal(Signal::HUP);
    eddy.record("configuration reloaded");
    let deadline = Instant::now() + DEADLINE;
    while TcpStream::connect(second).is_ok() {
        assert!(Instant::now() < deadline, "an address that is gone is still open");
        thread::yield_now();
    }
    assert_eq!(get(first, "/fixed").status, 200);
    eddy.stop();
}

#[test]
fn unix_sockets_are_bound_and_removed() {
    let config = "listeners: [{name: local, address: 'unix:DIR/eddy.sock', demo: true}]\n";
    let mut eddy = EddyProcess::start(config);
    let path = eddy.path("eddy.sock");
    assert_eq!(exchange(UnixStream::connect(&path).unwrap(), "/fixed").unwrap().status, 200);
    eddy.kill_gateway();
    // The parent holds the socket: the connection waits for the next process.
    let waiting = UnixStream::connect(&path).unwrap();
    waiting.set_read_timeout(Some(DEADLINE)).unwrap();
    assert_eq!(exchange(waiting, "/fixed").unwrap().status, 200);
    eddy.record("ready");
    eddy.signal(Signal::TERM);
    assert!(eddy.exited().success());
    assert!(!path.exists());
}

#[test]
fn a_second_signal_stops_at_once() {
    let mut eddy = EddyProcess::start(DEMO);
    let mut slow = TcpStream::connect(eddy.address()).unwrap();
    slow.set_read_timeout(Some(DEADLINE)).unwrap();
    slow.write_all(b"GET /slow?pieces=100&pause_ms=500 HTTP/1.1\r\nHost: test\r\n\r\n").unwrap();
    slow.read_exact(&mut [0; 12]).unwrap();
    let started = Instant::now();
    eddy.signal(Signal::TERM);
    eddy.record("draining");
    assert_eq!(get(eddy.admin(), "/ready").status, 503);
    eddy.signal(Signal::TERM);
    assert!(eddy.exited().success());
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

#[test]
fn the_admin_listener_outlives_the_last_descriptor() {
    let eddy = EddyProcess::start(DEMO);
    let folder = PathBuf::from(format!("/proc/{}/fd", eddy.gateway().as_raw_nonzero()));
    let numbers = || -> BTreeSet<u64> {
        let entries = fs::read_dir(&folder).unwrap().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
    };
    // The limit is one above the highest number in use. Incomplete requests occupy the free numbers below it, so every
    // new descriptor exceeds the limit.
    let limit = numbers().last().unwrap() + 1;
    prlimit(Some(eddy.gateway()), Resource::Nofile, Rlimit { current: Some(limit), maximum: Some(limit) })
        .unwrap();
    let free = limit - numbers().len() as u64;
    let ask = |_| {
        let mut client = TcpStream::connect(eddy.address()).unwrap();
        client.write_all(b"GET /fixed HTTP/1.1\r\n").unwrap();
        client
    };
    let _clients: Vec<TcpStream> = (0..=free).map(ask).collect();
    let deadline = Instant::now() + DEADLINE;
    while (numbers().len() as u64) < limit {
        assert!(Instant::now() < deadline, "descriptors are left: {:?} of {limit}", numbers());
        thread::yield_now();
    }
    for _ in 0..3 {
        assert_eq!(get(eddy.admin(), "/healthz").status, 200);
        assert_eq!(get(eddy.admin(), "/metrics").status, 200);
    }
}

#[test]
fn a_reload_changes_the_level_of_the_log() {
    let mut eddy = EddyProcess::start(DEMO);
    eddy.write_config(&format!("{DEMO}log: {{level: error}}\n"));
    eddy.signal(Signal::HUP);
    let deadline = Instant::now() + DEADLINE;
    while !get(eddy.admin(), "/config").text.contains("level") {
        assert!(Instant::now() < deadline, "the reload does not end");
    }
    eddy.write_config(&format!("{DEMO}log: {{level: debug}}\n"));
    eddy.signal(Signal::HUP);
    eddy.record("configuration reloaded");
    eddy.kill_gateway();
    eddy.record("gateway process started");
    eddy.record("ready");
    eddy.stop();
}

#[test]
fn many_signals_change_nothing() {
    let mut eddy = EddyProcess::start(DEMO);
    for _ in 0..200 {
        eddy.signal(Signal::HUP);
        eddy.signal(Signal::PIPE);
        eddy.signal(Signal::USR1);
        eddy.signal(Signal::CHILD);
    }
    eddy.record("configuration unchanged");
    assert_eq!(get(eddy.address(), "/fixed").status, 200);
    eddy.stop();
}

#[test]
fn a_gateway_outlives_its_parent() {
    let mut eddy = EddyProcess::start(DEMO);
    let (address, gateway) = (eddy.address(), eddy.gateway());
    kill_process(eddy.pid(), Signal::KILL).unwrap();
    eddy.record_where("orphan", |record| {
        record["message"].as_str().is_some_and(|text| text.starts_with("the parent process is gone"))
    });
    assert_eq!(get(address, "/fixed").status, 200);
    kill_process(gateway, Signal::TERM).unwrap();
    eddy.record("draining");
    let deadline = Instant::now() + DEADLINE;
    while TcpStream::connect(address).is_ok()
        || test_kill_process(gateway).is_ok_and(|()| is_running(gateway))
    {
        assert!(Instant::now() < deadline, "the orphan does not end");
        thread::park_timeout(Duration::from_millis(10));
    }
}

#[test]
fn an_access_log_continues_on_a_new_line_after_a_write_limit() {
    let mut eddy = EddyProcess::start(&format!("{DEMO}access_log: {{file: DIR/access.log, format: json}}\n"));
    let path = eddy.path("access.log");
    let length = || fs::metadata(&path).map_or(0, |metadata| metadata.len());
    let until_longer = |than: u64| {
        let deadline = Instant::now() + DEADLINE;
        while length() <= than {
            assert!(Instant::now() < deadline, "no record is written");
            get(eddy.address(), "/fixed");
        }
    };
    until_longer(0);
    // The file reaches its size limit in the middle of a log entry.
    let limit = |limit: Option<u64>| {
        let limit = Rlimit { current: limit, maximum: None };
        prlimit(Some(eddy.gateway()), Resource::Fsize, limit).unwrap();
    };
    let full = length() + 1000;
    limit(Some(full));
    until_longer(full - 1);
    let lost = || {
        let metrics = get(eddy.admin(), "/metrics").text;
        let line = metrics
            .lines()
            .find(|line| line.starts_with("eddy_access_log_entries_dropped_total"))
            .map(str::to_owned);
        line.and_then(|line| line.split(' ').nth(1)?.parse::<u64>().ok()).unwrap_or(0)
    };
    let deadline = Instant::now() + DEADLINE;
    while lost() == 0 {
        assert!(Instant::now() < deadline, "no record is lost");
        get(eddy.address(), "/fixed");
    }
    assert_eq!(length(), full);
    limit(None);
    until_longer(full);
    // A write may become visible page by page.
    let deadline = Instant::now() + DEADLINE;
    let text = loop {
        let text = fs::read_to_string(&path).unwrap();
        if text.ends_with('\n') {
            break text;
        }
        assert!(Instant::now() < deadline, "the last record has no end: {text}");
    };
    let is_whole = |line: &&str| serde_json::from_str::<serde_json::Value>(line).is_ok();
    let torn: Vec<&str> = text.lines().filter(|line| !is_whole(line)).collect();
    assert!(matches!(*torn, [line] if line.starts_with('{')), "{torn:?}");
    let until_torn = text.rfind(torn[0]).unwrap() + torn[0].len();
    assert_eq!(u64::try_from(until_torn).unwrap(), full, "what came first behind the limit is a line break");
    assert!(text.lines().count() > 2, "{text}");
    eddy.record_where("a failing log", |record| {
        record["message"].as_str().is_some_and(|text| text.starts_with("the access log cannot be written"))
    });
    eddy.stop();
}

#[test]
fn without_a_parent_the_gateway_runs_alone() {
    let launch = Launch { arguments: vec!["--no-parent".into()], ..Launch::default() };
    let mut eddy = EddyProcess::launch(DEMO, launch);
    assert_eq!(get(eddy.address(), "/fixed").status, 200);
    assert_eq!(get(eddy.admin(), "/ready").status, 200);
    eddy.signal(Signal::HUP);
    eddy.record("configuration unchanged");
    eddy.stop();
}

#[test]
fn the_service_manager_is_notified() {
    let directory = Directory::new();
    let path = directory.join("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    manager.set_read_timeout(Some(DEADLINE)).unwrap();
    let environment = vec![("NOTIFY_SOCKET".into(), path.into_os_string())];
    let mut eddy = EddyProcess::launch(DEMO, Launch { environment, ..Launch::default() });
    let hear = |word: &str| {
        let mut bytes = [0; 512];
        loop {
            let length = manager.recv(&mut bytes).unwrap_or_else(|error| panic!("{word}: {error}"));
            let text = String::from_utf8_lossy(&bytes[..length]).into_owned();
            if text.contains(word) {
                return text;
            }
        }
    };
    let ready = hear("READY=1");
    assert!(ready.contains(&format!("MAINPID={}\n", eddy.pid().as_raw_nonzero())), "{ready}");
    eddy.signal(Signal::HUP);
    assert!(hear("RELOADING=1").contains("MONOTONIC_USEC="));
    hear("READY=1");
    eddy.signal(Signal::TERM);
    hear("STOPPING=1");
    assert!(eddy.exited().success());
}

#[test]
fn admin_pages_are_served() {
    let eddy = EddyProcess::start(DEMO);
    let page = |path: &str| get(eddy.admin(), path);
    assert!(page("/").text.contains("/metrics"));
    assert_eq!(page("/healthz").status, 200);
    assert!(page("/metrics").text.contains("eddy_build_info"));
    assert!(page("/config").text.contains("demo"));
    assert!(page("/clusters").text.contains("clusters"));
    assert!(page("/filters").text.contains("filters"));
    assert!(page("/listeners").text.contains(&eddy.address().to_string()));
    assert_eq!(page("/nothing").status, 404);
}

pub(crate) fn is_running(pid: rustix::process::Pid) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    // A process that has ended and is not yet waited for is in state Z.
    !status.is_empty() && !status.contains(") Z ")
}

/// Client that repeats a request, each time on a new connection.
struct RepeatingClient {
    is_stopped: Arc<AtomicBool>,
    answered: Arc<std::sync::atomic::AtomicU64>,
    thread: thread::JoinHandle<ClientCounts>,
}

#[derive(Debug, Default)]
struct ClientCounts {
    refused: u64,
}

impl RepeatingClient {
    fn start(address: SocketAddr) -> Self {
        let is_stopped = Arc::new(AtomicBool::new(false));
        let answered = Arc::<std::sync::atomic::AtomicU64>::default();
        let (stop, count) = (Arc::clone(&is_stopped), Arc::clone(&answered));
        let thread = thread::spawn(move || {
            let mut tally = ClientCounts::default();
            while !stop.load(Ordering::Relaxed) {
                match try_get(address, "/fixed") {
                    Ok(answer) if answer.status == 200 => {
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(error) if error.kind() == ErrorKind::ConnectionRefused => tally.refused += 1,
                    // A connection of the process that was killed.
                    Ok(_) | Err(_) => {}
                }
            }
            tally
        });
        Self { is_stopped, answered, thread }
    }

    fn until_answered(&self) {
        let (before, deadline) = (self.answered.load(Ordering::Relaxed), Instant::now() + DEADLINE);
        while self.answered.load(Ordering::Relaxed) == before {
            assert!(Instant::now() < deadline, "no answer");
            thread::yield_now();
        }
    }

    fn stop(self) -> ClientCounts {
        self.is_stopped.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}
