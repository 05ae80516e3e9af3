//! The program as users run it: short runs with the available gateways, including interrupted runs.
#![expect(clippy::unwrap_used, reason = "the helpers are part of the tests")]

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use test_peers::{
    H2LOAD, HAPROXY, HAPROXY_LUA, NGINX, NGINX_STREAM, TestDependency, all_present, present_or_partial,
    program,
};

/// Creates a folder for one test, with the committed templates in it.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers");
    let link = folder.join("peers");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(templates, link).unwrap();
    folder
}

fn bench(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_eddy-bench"));
    command.env("BENCH_FOLDER", folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for name in
        ["TARGETS", "SCENARIOS", "ROUNDS", "SECONDS", "NAME", "RATE", "GENERATOR", "EDDY_REQUIRE_PEERS"]
            .into_iter()
            .chain(["RATES", "RATE_ROUNDS"])
    {
        command.env_remove(name);
    }
    command
}

/// Returns the available ones of these gateways; the test is skipped without any. eddy has tests of its own.
fn present(gateways: &[(&'static str, TestDependency)]) -> Vec<&'static str> {
    let (present, missing): (Vec<&(_, TestDependency)>, Vec<&(_, TestDependency)>) =
        gateways.iter().partition(|(_, peer)| peer.is_present());
    for &(_, peer) in missing {
        let is_alone = present.is_empty();
        let announced = if is_alone { all_present(&[peer]) } else { present_or_partial(&[peer]) };
        assert!(!announced.unwrap(), "a missing peer is announced");
    }
    present.iter().map(|(name, _)| *name).collect()
}

/// Returns the processes that work in `folder` or name it on their command line.
fn processes_in(folder: &Path) -> Vec<String> {
    let name = folder.to_str().unwrap();
    let ids = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let lines = ids.filter_map(|id| {
        let line = std::fs::read_to_string(id.join("cmdline")).ok()?;
        let is_inside = std::fs::read_link(id.join("cwd")).is_ok_and(|place| place.starts_with(folder));
        (is_inside || line.contains(name)).then(|| line.replace('\0', " "))
    });
    lines.collect()
}

fn await_process_exit(folder: &Path) {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let left = processes_in(folder);
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "still running: {left:?}");
        std::thread::yield_now();
    }
}

/// Starts a long run and returns once its targets are under load.
fn begin(folder: &Path, target: &str) -> Child {
    let mut command = bench(folder);
    command.args(["run", "--targets", target, "--scenarios", "get", "--seconds", "60"]);
    let mut child = command.spawn().unwrap();
    let output = BufReader::new(child.stderr.take().unwrap());
    let is_loaded = output.lines().map_while(Result::ok).any(|line| line.contains("calibrating"));
    assert!(is_loaded, "the run ended early");
    assert!(!processes_in(folder).is_empty());
    child
}

#[test]
fn a_short_run_gives_a_row_for_each_target() {
    let peers = present(&[("nginx", NGINX), ("haproxy", HAPROXY)]);
    if peers.is_empty() {
        return;
    }
    let folder = folder("short");
    let mut command = bench(&folder);
    command.args(["run", "--targets", &peers.join(","), "--scenarios", "get,churn,start", "--name", "short"]);
    let output = command.args(["--rounds", "2", "--seconds", "0.2"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
    let json = std::fs::read_to_string(folder.join("results/short.json")).unwrap();
    let results: serde_json::Value = serde_json::from_str(&json).unwrap();
    for peer in &peers {
        for scenario in ["get", "churn"] {
            let is_it = |row: &&serde_json::Value| row["scenario"] == scenario && row["target"] == *peer;
            let row = results["rows"].as_array().unwrap().iter().find(is_it).unwrap();
            for figure in ["rps", "cpu_us", "p50_us", "p99_us"] {
                assert!(row[figure].as_f64().unwrap() > 0.0, "{peer} {scenario} {figure}: {row}");
            }
        }
    }
    assert!(std::fs::read_to_string(folder.join("results/short.md")).unwrap().contains("| `churn` |"));
    assert!(std::fs::read_to_string(folder.join("results/short.svg")).unwrap().starts_with("<svg"));
    await_process_exit(&folder);
}

#[test]
fn a_short_run_of_transports_gives_a_row_for_each() {
    let peers = present(&[("nginx", NGINX_STREAM), ("haproxy", HAPROXY)]);
    if peers.is_empty() || !all_present(&[H2LOAD]).unwrap() {
        return;
    }
    let folder = folder("transports");
    let mut command = bench(&folder);
    let each = ["cpu_us", "rps"];
    let figures = [
        ("h2-1", each),
        ("h2-10", each),
        ("h2-100", each),
        ("h2s-10", each),
        ("get-tls", each),
        ("grpc-unary", each),
        ("handshake", each),
        ("handshake-resumed", each),
        ("relay-1g", ["cpu_s_per_gb", "gb_per_s"]),
        ("relay-100b", each),
        ("websocket", each),
        // So few connections may fit into memory that a target has already allocated.
        ("idle-h2", ["base_bytes", "connections"]),
    ];
    let scenarios: Vec<&str> = figures.iter().map(|(scenario, _)| *scenario).collect();
    command.args(["run", "--targets", &peers.join(","), "--scenarios", &scenarios.join(",")]);
    command.args(["--name", "transports", "--idle-connections", "200"]);
    let output = command.args(["--rounds", "1", "--seconds", "0.2"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
    let json = std::fs::read_to_string(folder.join("results/transports.json")).unwrap();
    let results: serde_json::Value = serde_json::from_str(&json).unwrap();
    for peer in &peers {
        for (scenario, figures) in figures {
            let is_it = |row: &&serde_json::Value| row["scenario"] == scenario && row["target"] == *peer;
            let row = results["rows"].as_array().unwrap().iter().find(is_it).unwrap();
            for figure in figures {
                assert!(row[figure].as_f64().unwrap() > 0.0, "{peer} {scenario} {figure}: {row}");
            }
        }
    }
    let left: Vec<_> = std::fs::read_dir(folder.join("work")).unwrap().flatten().collect();
    assert!(left.is_empty(), "files are left: {left:?}");
    await_process_exit(&folder);
}

#[test]
fn pairs_compare_transports_as_well_as_requests() {
    if !all_present(&[HAPROXY, H2LOAD]).unwrap() {
        return;
    }
    let folder = folder("pairs");
    let haproxy = program("haproxy").unwrap();
    let haproxy = haproxy.to_str().unwrap();
    let mut command = bench(&folder);
    command.args(["ab", "--a", haproxy, "--b", haproxy, "--scenarios", "get,h2-10,get-tls,relay-100b,start"]);
    let output = command.args(["--pairs", "2", "--seconds", "0.1"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
    let json = std::fs::read_to_string(folder.join("results/ab.json")).unwrap();
    let results: serde_json::Value = serde_json::from_str(&json).unwrap();
    let mut compared = Vec::new();
    for ratio in results["ratios"].as_array().unwrap() {
        assert_eq!(ratio["ratio"]["count"], 2, "{ratio}");
        compared.push(format!(
            "{} {}",
            ratio["scenario"].as_str().unwrap(),
            ratio["figure"].as_str().unwrap()
        ));
    }
    let requests = ["get", "h2-10", "get-tls", "relay-100b"];
    let mut expected: Vec<String> =
        requests.iter().flat_map(|name| [format!("{name} cpu_us"), format!("{name} rps")]).collect();
    expected.push("start start_ms".to_owned());
    assert_eq!(compared, expected);
    await_process_exit(&folder);
}

#[test]
fn unanswered_requests_fail_the_run() {
    if !all_present(&[HAPROXY, H2LOAD]).unwrap() {
        return;
    }
    let folder = folder("wrong-transport");
    std::fs::remove_file(folder.join("peers")).unwrap();
    let templates = folder.join("peers/haproxy");
    std::fs::create_dir_all(&templates).unwrap();
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/haproxy");
    let text = std::fs::read_to_string(committed.join("haproxy.cfg")).unwrap();
    // Rejects session tickets as well as session ids, so that nothing is resumed.
    let wrong = text.replace("ssl crt @CHAIN_AND_KEY@", "ssl crt @CHAIN_AND_KEY@ no-tls-tickets");
    let wrong = wrong.replace("global\n", "global\n    tune.ssl.cachesize 0\n");
    let wrong = wrong.replace("    server calls @CALLS@ proto h2", "    server calls @CALLS@");
    assert_ne!(text, wrong);
    std::fs::write(templates.join("haproxy.cfg"), wrong).unwrap();
    let mut command = bench(&folder);
    command.args(["run", "--targets", "haproxy", "--scenarios", "grpc-unary,handshake-resumed"]);
    let output = command.args(["--rounds", "1", "--seconds", "0.1"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(text.contains("FAULT grpc-unary, haproxy: a gRPC call was answered with status 502"), "{text}");
    assert!(text.contains("a handshake was Full instead of Resumed"), "{text}");
    await_process_exit(&folder);
}

#[test]
fn a_short_run_of_filters_compares_each_with_its_bare_listener() {
    if !all_present(&[HAPROXY_LUA]).unwrap() {
        return;
    }
    let folder = folder("filters");
    let mut command = bench(&folder);
    command.args(["filters", "--targets", "haproxy,haproxy-builtin,haproxy-lua", "--name", "short"]);
    command.args(["--scenarios", "bare,header-get-set,reject", "--rates", "500", "--rate-rounds", "2"]);
    let output = command.args(["--rounds", "2", "--seconds", "0.1"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
    let json = std::fs::read_to_string(folder.join("results/short.json")).unwrap();
    let results: serde_json::Value = serde_json::from_str(&json).unwrap();
    let names: Vec<String> = results["rows"].as_array().unwrap().iter().map(name_of).collect();
    let expected = [
        "bare haproxy",
        "header-get-set haproxy-builtin",
        "header-get-set haproxy-lua",
        "header-get-set@500 haproxy-builtin",
        "header-get-set@500 haproxy-lua",
        "reject haproxy-builtin",
        "reject haproxy-lua",
    ];
    assert_eq!(names, expected);
    for row in results["rows"].as_array().unwrap() {
        assert_eq!(row["ratio_to_bare"]["pairs"], 2, "{row}");
        assert!(row["ratio_to_bare"]["median"].as_f64().unwrap() > 0.0, "{row}");
    }
    assert!(std::fs::read_to_string(folder.join("results/short.svg")).unwrap().contains("haproxy-lua"));
    await_process_exit(&folder);
}

#[test]
fn a_filter_that_does_not_do_its_work_is_not_measured() {
    if !all_present(&[HAPROXY_LUA]).unwrap() {
        return;
    }
    let folder = folder("wrong-filter");
    std::fs::remove_file(folder.join("peers")).unwrap();
    let templates = folder.join("peers/filters/haproxy");
    std::fs::create_dir_all(&templates).unwrap();
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/filters/haproxy");
    std::fs::copy(committed.join("haproxy.cfg"), templates.join("haproxy.cfg")).unwrap();
    let lua = std::fs::read_to_string(committed.join("filters.lua")).unwrap();
    // Accepts every credential.
    let lua = lua.replace("if is_allowed(txn) then", "if true then");
    std::fs::write(templates.join("filters.lua"), lua).unwrap();
    let mut command = bench(&folder);
    command.args(["filters", "--targets", "haproxy-lua", "--scenarios", "basic-auth", "--rates", ""]);
    let output = command.args(["--rounds", "1", "--seconds", "0.1"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(text.contains("FAULT not measured: basic-auth, haproxy-lua: "), "{text}");
    assert!(text.contains("is answered with status 200"), "{text}");
    await_process_exit(&folder);
}

fn name_of(row: &serde_json::Value) -> String {
    format!("{} {}", row["scenario"].as_str().unwrap(), row["target"].as_str().unwrap())
}

#[test]
fn an_interrupted_run_leaves_no_processes_or_files() {
    let peers = present(&[("nginx", NGINX), ("haproxy", HAPROXY)]);
    let Some(target) = peers.first() else { return };
    let folder = folder("interrupted");
    let mut child = begin(&folder, target);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    await_process_exit(&folder);
}

#[test]
fn a_killed_run_leaves_no_processes_or_files() {
    let peers = present(&[("nginx", NGINX), ("haproxy", HAPROXY)]);
    let Some(target) = peers.first() else { return };
    let folder = folder("killed");
    let mut child = begin(&folder, target);
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    await_process_exit(&folder);
}

#[test]
fn an_absent_target_is_named_and_may_be_required() {
    let folder = folder("absent");
    let mut command = bench(&folder);
    command.args(["run", "--targets", "eddy", "--scenarios", "get"]).env("EDDY", "/nowhere/eddy");
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(text.contains("`eddy` is absent: `/nowhere/eddy` is not a program"), "{text}");
    let output = command.env("EDDY_REQUIRE_PEERS", "1").output().unwrap();
    assert!(!output.status.success());
}

#[test]
fn nginx_without_its_stream_module_is_absent_from_transports_alone() {
    if !all_present(&[NGINX, HAPROXY]).unwrap() {
        return;
    }
    let folder = folder("no-stream");
    let run = |is_required: &str| {
        let mut command = bench(&folder);
        command.args([
            "run",
            "--targets",
            "nginx,haproxy",
            "--scenarios",
            "get,websocket",
            "--name",
            "short",
        ]);
        // As in Debian's plain package: the module folder has no module.
        command.env("NGINX_MODULES", &folder).env("EDDY_REQUIRE_PEERS", is_required);
        let output = command.args(["--rounds", "1", "--seconds", "0.1"]).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (is_good, text) = run("");
    assert!(is_good, "{text}");
    assert!(text.contains("ABSENT `nginx` is absent from setup `plain-transports`: there is no `"), "{text}");
    let json = std::fs::read_to_string(folder.join("results/short.json")).unwrap();
    let results: serde_json::Value = serde_json::from_str(&json).unwrap();
    let mut names: Vec<String> = results["rows"].as_array().unwrap().iter().map(name_of).collect();
    names.sort();
    assert_eq!(names, ["get direct", "get haproxy", "get nginx", "websocket haproxy"]);
    let (is_good, text) = run("1");
    assert!(!is_good && text.contains("apt-get install libnginx-mod-stream"), "{text}");
    await_process_exit(&folder);
}

#[test]
fn connections_beyond_the_open_file_limit_are_skipped() {
    if !all_present(&[HAPROXY]).unwrap() {
        return;
    }
    let folder = folder("crowd");
    let run = bench(&folder);
    // Enough for 200 connections, not for 1,000.
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 2500; exec \"$0\" \"$@\""]).arg(run.get_program());
    command.env("BENCH_FOLDER", &folder).stdin(Stdio::null());
    command.args(["run", "--targets", "haproxy", "--scenarios", "crowd-200,crowd-1000", "--name", "crowd"]);
    let output = command.args(["--rounds", "1", "--seconds", "0.1"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
    let json = std::fs::read_to_string(folder.join("results/crowd.json")).unwrap();
    let results: serde_json::Value = serde_json::from_str(&json).unwrap();
    let names: Vec<String> = results["rows"].as_array().unwrap().iter().map(name_of).collect();
    assert_eq!(names, ["crowd-200 haproxy"]);
    let notes = results["notes"].to_string();
    assert!(notes.contains("`crowd-1000` needs 3000 open files; the limit is 2500"), "{notes}");
    await_process_exit(&folder);
}

#[test]
fn the_origin_and_the_load_agree() {
    let mut origin = Command::new(env!("CARGO_BIN_EXE_eddy-bench"));
    let mut origin =
        origin.args(["origin", "--address", "127.0.0.1:0"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut address = String::new();
    BufReader::new(origin.stdout.take().unwrap()).read_line(&mut address).unwrap();
    for arguments in
        [&["--bytes", "1048576"][..], &["--post", "--bytes", "65536"], &["--once"], &["--mode", "open"]]
    {
        let mut load = Command::new(env!("CARGO_BIN_EXE_eddy-bench"));
        load.args(["load", "--target", address.trim(), "--seconds", "0.2"]).args(arguments);
        let mut child = load.stdout(Stdio::piped()).spawn().unwrap();
        let mut text = String::new();
        child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        assert!(child.wait().unwrap().success(), "{arguments:?}: {text}");
        let tally: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(tally["requests"].as_u64().unwrap() > 0, "{arguments:?}: {text}");
    }
    origin.kill().unwrap();
    origin.wait().unwrap();
}
