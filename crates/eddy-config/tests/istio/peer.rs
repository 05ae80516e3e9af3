//! The side of Envoy: the real program on a Unix socket, and the upstream that all its clusters are.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub(crate) struct Envoy {
    child: Child,
    folder: PathBuf,
    stream: Option<BufReader<UnixStream>>,
}

/// An answer: status, fields in lower case, and body.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

/// Where `bench/peers/install` puts the program; none where it is not installed, which is said.
pub(crate) fn program() -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or(home);
    let installed = cache.and_then(|cache| {
        let pythons = std::fs::read_dir(cache.join("eddy-bench/peers/venv/lib")).ok()?.flatten();
        pythons
            .map(|python| python.path().join("site-packages/envoy/_bin/envoy"))
            .find(|program| program.is_file())
    });
    assert!(
        installed.is_some() || std::env::var_os("EDDY_REQUIRE_PEERS").is_none(),
        "Envoy is required and not installed"
    );
    if installed.is_none() {
        println!(
            "Envoy is not installed (`bench/peers/install` does that); what it said once stands in for it"
        );
    }
    installed
}

impl Envoy {
    /// Starts the program with routes, as Istio's gateways configure its connection manager.
    pub(crate) fn start(program: &Path, routes: &Value, clusters: &[String]) -> Self {
        let folder = std::env::temp_dir().join(format!("eddy-istio-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let upstream = folder.join("upstream.sock");
        serve_upstream(&upstream);
        let file = folder.join("envoy.json");
        std::fs::write(&file, bootstrap(routes, clusters, &folder.join("site.sock"), &upstream).to_string())
            .unwrap();
        let child = Command::new(program)
            .arg("-c")
            .arg(&file)
            .args(["--concurrency", "1", "--disable-hot-restart", "--use-dynamic-base-id", "-l", "error"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(folder.join("log")).unwrap())
            .spawn()
            .unwrap();
        let mut envoy = Self { child, folder, stream: None };
        let begun = Instant::now();
        while UnixStream::connect(envoy.folder.join("site.sock")).is_err() {
            let log = std::fs::read_to_string(envoy.folder.join("log")).unwrap_or_default();
            assert!(envoy.child.try_wait().unwrap().is_none(), "Envoy does not start: {log}");
            assert!(begun.elapsed() < Duration::from_secs(60), "Envoy does not listen: {log}");
            std::thread::yield_now();
        }
        envoy
    }

    pub(crate) fn ask(&mut self, request: &str) -> Reply {
        for _attempt in 0..3 {
            let mut stream = match self.stream.take() {
                Some(stream) => stream,
                None => {
                    let stream = UnixStream::connect(self.folder.join("site.sock")).unwrap();
                    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
                    BufReader::new(stream)
                }
            };
            if stream.get_mut().write_all(request.as_bytes()).is_err() {
                continue;
            }
            let Some(reply) = read_reply(&mut stream) else { continue };
            if reply.field("connection") != Some("close") {
                self.stream = Some(stream);
            }
            return reply;
        }
        panic!("Envoy does not answer {request}");
    }
}

impl Drop for Envoy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn read_reply(stream: &mut BufReader<UnixStream>) -> Option<Reply> {
    let mut line = String::new();
    stream.read_line(&mut line).ok().filter(|count| *count > 0)?;
    let status = line.split(' ').nth(1)?.parse().ok()?;
    let mut fields = Vec::new();
    loop {
        line.clear();
        stream.read_line(&mut line).ok().filter(|count| *count > 0)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        fields.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut reply = Reply { status, fields, body: String::new() };
    let length = reply.field("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    reply.body = String::from_utf8_lossy(&body).into_owned();
    Some(reply)
}

/// Answers every request with its target, host and fields `x-t-*`, until the process ends.
fn serve_upstream(path: &Path) {
    let listener = UnixListener::bind(path).unwrap();
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            std::thread::spawn(move || answer_all(&stream));
        }
    });
}

fn answer_all(stream: &UnixStream) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let mut output = stream;
    while let Some(first) = lines.next() {
        let target = first?.split(' ').nth(1).unwrap_or_default().to_owned();
        let (mut host, mut own) = (String::new(), String::new());
        for line in lines.by_ref() {
            let line = line?;
            let Some((name, value)) = line.split_once(':') else { break };
            let name = name.to_ascii_lowercase();
            match name.as_str() {
                "host" => value.trim().clone_into(&mut host),
                name if name.starts_with("x-t-") => own.push_str(&format!(" {name}={}", value.trim())),
                _ => {}
            }
        }
        let body = format!("{target} {host}{own}");
        let fields: String =
            crate::eddy::UPSTREAM_FIELDS.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        output.write_all(
            format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes(),
        )?;
    }
    Ok(())
}

fn bootstrap(routes: &Value, clusters: &[String], socket: &Path, upstream: &Path) -> Value {
    let typed = "type.googleapis.com/envoy.extensions.filters";
    let router = json!({"name": "envoy.filters.http.router", "typed_config": {"@type": format!("{typed}.http.router.v3.Router")}});
    let manager = json!({
        "@type": format!("{typed}.network.http_connection_manager.v3.HttpConnectionManager"),
        "stat_prefix": "istio", "normalize_path": true, "http_filters": [router], "route_config": routes
    });
    let clusters: Vec<Value> = clusters
        .iter()
        .map(|name| {
            let endpoint = json!({"endpoint": {"address": {"pipe": {"path": upstream}}}});
            let assignment = json!({"cluster_name": name, "endpoints": [{"lb_endpoints": [endpoint]}]});
            json!({"name": name, "connect_timeout": "5s", "load_assignment": assignment})
        })
        .collect();
    let filters = json!([{"name": "envoy.filters.network.http_connection_manager", "typed_config": manager}]);
    let listener = json!({
        "name": "site", "address": {"pipe": {"path": socket}}, "filter_chains": [{"filters": filters}]
    });
    json!({"static_resources": {"listeners": [listener], "clusters": clusters}})
}
