//! The NGINX side of the comparison: the real program, on a Unix socket.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

pub(crate) struct NginxProcess {
    child: Child,
    folder: PathBuf,
}

/// A connection that is re-established when NGINX closes it.
pub(crate) struct NginxClient {
    folder: PathBuf,
    stream: Option<UnixStream>,
}

pub(crate) fn program() -> PathBuf {
    test_peers::program("nginx").unwrap()
}

impl NginxProcess {
    /// Starts NGINX with the servers of a configuration, on a socket in a directory of its own.
    pub(crate) fn start(config: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("eddy-nginx-{}-{number}", std::process::id()));
        std::fs::create_dir_all(folder.join("html")).unwrap();
        let shown = folder.display();
        let config = config
            .replace("unix:/eddy/", &format!("unix:{shown}/"))
            .replacen("events {}", &frame(&folder), 1)
            .replacen("http {", &format!("http {{ {}", inside(&folder)), 1);
        std::fs::write(folder.join("nginx.conf"), config).unwrap();
        let child = Command::new(program())
            .args(["-p", folder.to_str().unwrap(), "-c", "nginx.conf", "-e", "stderr"])
            .stderr(std::fs::File::create(folder.join("log")).unwrap())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let nginx = Self { child, folder };
        nginx.await_ready();
        nginx
    }

    fn await_ready(&self) {
        let socket = self.folder.join("site.sock");
        let begun = Instant::now();
        while UnixStream::connect(&socket).is_err() {
            let log = std::fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            assert!(!log.contains("[emerg]"), "{log}");
            assert!(begun.elapsed() < Duration::from_secs(60), "nginx does not start: {log}");
            std::thread::yield_now();
        }
    }

    pub(crate) fn connect(&self) -> NginxClient {
        NginxClient { folder: self.folder.clone(), stream: None }
    }
}

impl Drop for NginxProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Returns the main settings: a single process in the foreground.
fn frame(folder: &Path) -> String {
    format!(
        "daemon off; master_process off; pid {}/pid; events {{ worker_connections 64; }}",
        folder.display()
    )
}

/// Returns the `http` settings: no files, and an upstream that responds with the request that it got.
fn inside(folder: &Path) -> String {
    let shown = folder.display();
    let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let temp: String = kinds.iter().map(|kind| format!("{kind}_temp_path {shown}/{kind}; ")).collect();
    format!(
        "root {shown}/none; access_log off; keepalive_requests 1000000; {temp} server {{ listen unix:{shown}/echo.sock; merge_slashes off; \
         absolute_redirect off; location / {{ return 200 \"upstream $request_uri $http_host\"; }} \
         location ~ /go$ {{ return 302 $http_x_location; }} location ~ /gone$ {{ return 404 own; }} \
         location ~ /broken$ {{ return 503 own; }} }} "
    )
}

impl NginxClient {
    /// Returns status, location and text of the response; the directory is replaced by `/eddy` on both sides.
    pub(crate) fn ask(&mut self, request: &str) -> String {
        let folder = format!("unix:{}/", self.folder.display());
        self.ask_verbatim(&request.replace("unix:/eddy/", &folder)).replace(&folder, "unix:/eddy/")
    }

    fn ask_verbatim(&mut self, request: &str) -> String {
        for _attempt in 0..3 {
            let mut stream = match self.stream.take() {
                Some(stream) => stream,
                None => {
                    let stream = UnixStream::connect(self.folder.join("site.sock")).unwrap();
                    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
                    stream
                }
            };
            if stream.write_all(request.as_bytes()).is_err() {
                continue;
            }
            let mut bytes = Vec::new();
            let Some(head_end) = read_until(&mut stream, &mut bytes, |bytes| find(bytes, b"\r\n\r\n")) else {
                if bytes.is_empty() {
                    return "closed".to_owned();
                }
                continue;
            };
            let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
            let length = field(&head, "content-length").map_or(0, |length| length.parse::<usize>().unwrap());
            read_until(&mut stream, &mut bytes, |bytes| (bytes.len() >= head_end + 4 + length).then_some(0));
            if field(&head, "connection").as_deref() != Some("close") {
                self.stream = Some(stream);
            }
            let body = &bytes[head_end + 4..];
            return shown(&head, body).trim_end().to_owned();
        }
        panic!("nginx does not answer {request}");
    }
}

/// Formats a response; NGINX's own error pages are left out, because they are HTML.
fn shown(head: &str, body: &[u8]) -> String {
    let status = head.split(' ').nth(1).unwrap();
    // The endpoints that were tried, in order.
    if let Some(asked) = field(head, "x-asked") {
        return asked;
    }
    if let Some(location) = field(head, "location") {
        return format!("{status} -> {}", location.as_bytes().escape_ascii());
    }
    if body.starts_with(b"<html>") {
        return status.to_owned();
    }
    format!("{status} {}", body.escape_ascii())
}

fn field(head: &str, name: &str) -> Option<String> {
    head.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        found.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
    })
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn read_until(
    stream: &mut UnixStream,
    bytes: &mut Vec<u8>,
    is_done: impl Fn(&[u8]) -> Option<usize>,
) -> Option<usize> {
    let mut buffer = [0; 16 * 1024];
    loop {
        if let Some(at) = is_done(bytes) {
            return Some(at);
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}
