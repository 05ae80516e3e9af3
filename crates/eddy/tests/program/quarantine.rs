//! Filters that crash the process again and again: they are quarantined, and the others keep working.

use std::path::Path;

use rustix::process::Signal;
use serde_json::Value;

use crate::filters::faults;
use crate::projects::{ProjectFolder, has_go};
use crate::support::{Directory, EddyProcess, get, try_get};

fn config(library: &Path, quarantine: &str, policy: &str, settings: &str) -> String {
    let library = library.display();
    format!(
        "\
workers: 2
quarantine: {quarantine}
filters:
  it:
    native: {{filter: crash, library: '{library}'}}
    config: '{settings}'
    on_failure: {policy}
  mark:
    native: {{filter: set, library: '{library}'}}
admin: {{address: '127.0.0.2:0'}}
listeners:
  - {{address: '127.0.0.1:0', routes: site, filters: [mark, it]}}
routes:
  site:
    - {{match: {{path: {{prefix: /}}}}, respond: {{status: 200, body: ok}}}}
    - match: {{path: {{prefix: /well}}}}
      respond: {{status: 200, body: ok}}
      filters: {{it: {{disabled: true}}}}
"
    )
}

/// Sends requests that crash the process, and expects this many crashes.
fn die(eddy: &mut EddyProcess, times: usize) {
    for _ in 0..times {
        assert!(try_get(eddy.address(), "/fixed").is_err());
        eddy.record("gateway process ended unexpectedly; another one replaces it");
        eddy.record("ready");
    }
}

const QUARANTINED: &str = "a filter is quarantined: the gateway process crashed in it repeatedly; the quarantine ends when its configuration or library changes, or its time is over";

/// Returns the entry of a filter in `/filters`.
fn shown(eddy: &EddyProcess, name: &str) -> Value {
    let page = get(eddy.admin(), "/filters").text;
    let (_, body) = page.split_once("\r\n\r\n").unwrap();
    let page: Value = serde_json::from_str(body).unwrap();
    page["filters"].as_array().unwrap().iter().find(|filter| filter["name"] == name).unwrap().clone()
}

#[test]
fn requests_of_a_crashing_filter_are_refused_until_it_changes() {
    let libraries = Directory::new();
    let library = faults(&libraries, "libfaults.so", &[]);
    let text = |settings| config(&library, "{deaths: 3, time: 1h}", "closed", settings);
    let mut eddy = EddyProcess::start(&text("{}"));
    die(&mut eddy, 2);
    assert!(!eddy.has_seen(QUARANTINED));
    assert!(try_get(eddy.address(), "/fixed").is_err());
    let told = eddy.record(QUARANTINED);
    assert_eq!((told["filter"].as_str(), told["deaths"].as_u64()), (Some("it"), Some(3)), "{told}");
    eddy.record("ready");
    let before = eddy.gateway();
    for _ in 0..20 {
        let refused = get(eddy.address(), "/fixed");
        assert!(
            refused.status == 503 && refused.text.ends_with("a filter is out of service\n"),
            "{refused:?}"
        );
        assert_eq!(get(eddy.address(), "/well").status, 200);
    }
    assert_eq!(eddy.gateway(), before);
    let metrics = get(eddy.admin(), "/metrics").text;
    assert!(metrics.contains("eddy_filters_quarantined{filter=\"it\"} 1\n"), "{metrics}");
    assert!(!metrics.contains("eddy_filters_quarantined{filter=\"mark\"}"), "{metrics}");
    let it = shown(&eddy, "it");
    assert_eq!(
        (&it["quarantined"]["deaths"], &it["quarantined"]["effect"]),
        (&3.into(), &"requests are refused".into())
    );
    assert!(shown(&eddy, "mark").get("quarantined").is_none());
    // The quarantine survives a reload that does not change the filter, and a new process.
    eddy.write_config(&text("{}").replace("body: ok", "body: fine"));
    eddy.signal(Signal::HUP);
    eddy.record("configuration reloaded");
    assert_eq!(get(eddy.address(), "/fixed").status, 503);
    eddy.signal(Signal::USR2);
    eddy.records(&["handed over; the previous process drains", "gateway process has drained and ended"]);
    assert_eq!(get(eddy.address(), "/fixed").status, 503);
    eddy.kill_gateway();
    eddy.record("gateway process ended unexpectedly; another one replaces it");
    eddy.record("ready");
    assert_eq!(get(eddy.address(), "/fixed").status, 503);
    // A filter with another configuration is another filter.
    eddy.write_config(&text("{\"changed\": 1}"));
    eddy.signal(Signal::HUP);
    eddy.record("configuration reloaded");
    assert!(!get(eddy.admin(), "/metrics").text.contains("eddy_filters_quarantined"));
    die(&mut eddy, 1);
    eddy.stop();
}

#[test]
fn a_crashing_filter_is_skipped_where_it_fails_open() {
    let libraries = Directory::new();
    let library = faults(&libraries, "libfaults.so", &[]);
    let mut eddy = EddyProcess::start(&config(&library, "{deaths: 2, time: 1h}", "open", "{}"));
    die(&mut eddy, 1);
    assert!(try_get(eddy.address(), "/fixed").is_err());
    eddy.record(QUARANTINED);
    eddy.record("ready");
    assert_eq!(get(eddy.address(), "/fixed").status, 200);
    assert_eq!(shown(&eddy, "it")["quarantined"]["effect"], "the filter is skipped");
    eddy.stop();
}

#[test]
fn a_quarantine_ends_after_its_time() {
    let libraries = Directory::new();
    let library = faults(&libraries, "libfaults.so", &[]);
    let mut eddy = EddyProcess::start(&config(&library, "{deaths: 1, time: 1s}", "closed", "{}"));
    assert!(try_get(eddy.address(), "/fixed").is_err());
    eddy.record(QUARANTINED);
    eddy.records(&["the quarantine of a filter has ended", "configuration reloaded"]);
    assert!(try_get(eddy.address(), "/fixed").is_err());
    eddy.record(QUARANTINED);
    eddy.record("ready");
    eddy.stop();
}

/// A worker is in another filter when the goroutine that the guilty one left behind panics: the stack trace tells.
#[test]
fn a_leaked_goroutine_is_attributed_to_its_own_filter() {
    if !has_go() {
        return;
    }
    let place = ProjectFolder::new();
    let project = |name: &str, hook: &str| {
        place.eddy(&["filter", "new", "--lang", "go", name], ".").all(0);
        let text = format!(
            "package {name}

import (
\t\"os\"
\t\"runtime\"

\teddy \"github.com/eddy-gateway/eddy/sdk/go\"
)

type filter struct{{}}

func init() {{
\teddy.Register(\"{name}\", func(struct{{}}) (eddy.Filter, error) {{ return filter{{}}, nil }})
}}

func (filter) RequestHead(*eddy.Exchange) eddy.Verdict {{
{hook}
\treturn eddy.Continue
}}
"
        );
        place.write(&format!("{name}/filter.go"), &text);
        std::fs::remove_file(place.directory.join(name).join("filter_test.go")).unwrap();
        place.directory.join(name).display().to_string()
    };
    let guilty = project(
        "guilty",
        "\tgo func() {\n\t\tfor os.Getenv(\"ENTERED\") == \"\" {\n\t\t\truntime.Gosched()\n\t\t}\n\t\tpanic(\"left behind\")\n\t}()",
    );
    let innocent =
        project("innocent", "\tos.Setenv(\"ENTERED\", \"1\")\n\tfor {\n\t\truntime.Gosched()\n\t}");
    let mut eddy = place.launch(&format!(
        "\
workers: 1
quarantine: {{deaths: 2}}
filters:
  guilty: {{go: {{filter: guilty, package: '{guilty}'}}, config: {{}}}}
  innocent: {{go: {{filter: innocent, package: '{innocent}'}}, config: {{}}}}
listeners: [{{address: '127.0.0.1:0', routes: site, filters: [guilty, innocent]}}]
routes: {{site: [{{respond: {{status: 200}}}}]}}
"
    ));
    let died = |eddy: &mut EddyProcess| {
        assert!(try_get(eddy.address(), "/").is_err());
        let died = eddy.record("gateway process ended unexpectedly; another one replaces it");
        assert_eq!(
            (died["filter"].as_str(), died["said"].as_str()),
            (Some("innocent"), Some("panic: left behind"))
        );
    };
    died(&mut eddy);
    eddy.record("ready");
    died(&mut eddy);
    assert_eq!(eddy.record(QUARANTINED)["filter"], "guilty");
    eddy.record("ready");
    assert_eq!(get(eddy.address(), "/").status, 503);
    eddy.stop();
}
