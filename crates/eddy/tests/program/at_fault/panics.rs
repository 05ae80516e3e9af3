//! Go panics, a thousand in each hook, under load; ten thousand with `EDDY_SOAK`.

use std::path::{Path, PathBuf};

use rustix::process::Signal;

use super::origin::{RecordingOrigin, send};
use super::size;
use crate::filters::go_library;
use crate::support::{BackgroundLoad, Directory, EddyProcess};

/// Builds the library; returns `None` without Go, which skips the test.
fn library(directory: &Directory) -> Option<PathBuf> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/at_fault/panics");
    go_library(&package, directory.join("libpanics.so"))
}

fn config(library: &Path, origin: &RecordingOrigin, settings: &str) -> String {
    let (library, origin) = (library.display(), origin.address);
    format!(
        "\
workers: 2
limits: {{queue_delay: 0s}}
filters:
  at: {{go: {{filter: panic-at, library: '{library}'}}, config: '{settings}'}}
  elsewhere: {{go: {{filter: panic-elsewhere, library: '{library}'}}, config: {{}}}}
listeners: [{{address: '127.0.0.1:0', routes: site, filters: [at, elsewhere]}}]
routes: {{site: [{{cluster: c}}]}}
clusters: {{c: {{endpoints: ['{origin}']}}}}
"
    )
}

fn request(path: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n\
         2\r\nhi\r\n0\r\nX-End: 1\r\n\r\n"
    )
}

#[test]
fn a_panic_in_any_hook_affects_no_other_exchange() {
    let libraries = Directory::new();
    let Some(library) = library(&libraries) else { return };
    let origin = RecordingOrigin::start();
    let mut eddy = EddyProcess::start(&config(&library, &origin, ""));
    let (address, before) = (eddy.address(), eddy.gateway());
    let others = BackgroundLoad::start(3, move || {
        let came = send(address, &request("/fine"));
        assert!(came.status == 200 && came.is_whole, "{came:?}");
    });
    let times = size(1000, 10_000);
    let hooks = ["request_head", "request_body", "request_trailers", "elsewhere", "response_head"];
    let late = ["response_body", "response_trailers"];
    let unseen = ["log", "ended"];
    for hook in hooks.iter().chain(&late).chain(&unseen) {
        // Discards the bytes received so far, which nothing checks.
        origin.take();
        for _ in 0..times {
            let came = send(address, &request(&format!("/panic/{hook}")));
            match hook {
                // A response that has begun is cut off.
                hook if late.contains(hook) => {
                    assert!(came.status == 500 || !came.is_whole, "{hook}: {came:?}")
                }
                hook if unseen.contains(hook) => {
                    assert!(came.status == 200 && came.is_whole, "{hook}: {came:?}")
                }
                hook => assert!(came.status == 500 && came.is_whole, "{hook}: {came:?}"),
            }
        }
    }
    // In the functions that create filters: a rejected configuration changes nothing.
    eddy.write_config(&config(&library, &origin, "panic"));
    for _ in 0..3 {
        eddy.signal(Signal::HUP);
        eddy.record("configuration rejected; the last good one stays in force");
    }
    let served = others.stop();
    assert_eq!(eddy.gateway(), before);
    assert!(eddy.log().contains("in New"), "{}", eddy.log());
    println!("{} panics, {} others without a failure", times * 9, served);
    eddy.stop();
}

/// Outside a worker the goroutine belongs to the filter, and its end is only a fault.
#[test]
fn goexit_in_a_filter_goroutine_is_an_error_response() {
    let libraries = Directory::new();
    let Some(library) = library(&libraries) else { return };
    let origin = RecordingOrigin::start();
    for (path, settings) in [("/go", ""), ("/fine", "blocking: true, ")] {
        let text = format!(
            "\
workers: 1
filters: {{it: {{{settings}go: {{filter: leave, library: '{}'}}, config: {{}}}}}}
listeners: [{{address: '127.0.0.1:0', routes: site, filters: [it]}}]
routes: {{site: [{{cluster: c}}]}}
clusters: {{c: {{endpoints: ['{}']}}}}
",
            library.display(),
            origin.address
        );
        let mut eddy = EddyProcess::start(&text);
        let before = eddy.gateway();
        for _ in 0..100 {
            let came = send(eddy.address(), &request(path));
            assert!(came.status == 500 && came.is_whole, "{path}: {came:?}");
        }
        assert_eq!(eddy.gateway(), before);
        let told = eddy
            .record_where("Goexit", |record| record.to_string().contains("the filter called runtime.Goexit"));
        assert_eq!(told["filter"], "it", "{told}");
        eddy.stop();
    }
}
