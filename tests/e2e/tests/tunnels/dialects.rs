//! Upgrades in configurations of other programs: which requests offer them to the upstream, and the result of its
//! agreement; NGINX's configurations are compared with NGINX itself, when it is installed.

use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::place::{self, TempDir};
use eddy_e2e::wait::next_look;
use eddy_e2e::wire::within;
use tokio::io::AsyncWriteExt;

use crate::endpoint::{KEY, TunnelEndpoint, agreement, connect, field, pass, read_head, request};

const NGINX: &str = "\
worker_processes 1;
events {}
http {
    map $http_upgrade $connection_upgrade { default upgrade; '' close; }
    access_log off;
    proxy_http_version 1.1;
    server {
        listen LISTEN;
        location /plain { proxy_pass http://ENDPOINT; }
        location /literal { proxy_pass http://ENDPOINT; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection \"Upgrade\"; }
        location /mapped { proxy_pass http://ENDPOINT; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_upgrade; }
        location /half { proxy_pass http://ENDPOINT; proxy_set_header Connection \"\"; proxy_set_header X-Other 1; }
        location /outer {
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection $connection_upgrade;
            location /outer/inherits { proxy_pass http://ENDPOINT; }
            location /outer/own { proxy_pass http://ENDPOINT; proxy_set_header X-Other 1; }
        }
    }
}
";

/// Paths, and whether WebSocket requests to them are offered to the upstream.
const NGINX_PLACES: &[(&str, bool)] = &[
    ("/plain", false),
    ("/literal", true),
    ("/mapped", true),
    ("/half", false),
    ("/outer/inherits", true),
    ("/outer/own", false),
];

/// Requests a WebSocket at a path. Returns whether the endpoint saw the offer, which it then accepts, and a tunnel was
/// opened.
async fn is_offered(gateway: SocketAddr, endpoint: &TunnelEndpoint, path: &str) -> Result<bool> {
    let mut client = connect(gateway).await?;
    client.write_all(request("").replace("/chat", path).as_bytes()).await?;
    let (mut server, head) = endpoint.asked().await?;
    if field(&head, "upgrade").is_none() {
        server.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await?;
        ensure!(read_head(&mut client).await?.starts_with("HTTP/1.1 200 "));
        return Ok(false);
    }
    ensure!(field(&head, "sec-websocket-key") == Some(KEY), "{head}");
    server.write_all(agreement(KEY).as_bytes()).await?;
    let answer = read_head(&mut client).await?;
    ensure!(
        answer.starts_with("HTTP/1.1 101 ") && field(&answer, "upgrade") == Some("websocket"),
        "{answer}"
    );
    pass(&mut client, &mut server, b"up").await?;
    pass(&mut server, &mut client, b"down").await?;
    Ok(true)
}

/// The real NGINX, stopped on drop.
struct TunnelNginx {
    process: Child,
    address: SocketAddr,
    _folder: TempDir,
}

impl TunnelNginx {
    fn start(endpoint: SocketAddr) -> Result<Option<Self>> {
        if !test_peers::present_or_partial(&[test_peers::NGINX])? {
            return Ok(None);
        }
        let program = test_peers::program("nginx").context("NGINX has ended")?;
        let (folder, address) = (TempDir::new("nginx")?, place::fixed_address()?);
        let text = NGINX.replace("LISTEN", &address.to_string()).replace("ENDPOINT", &endpoint.to_string());
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("{name}_temp_path {}/{name};\n", folder.path().display()))
            .concat();
        let text =
            text.replace("http {", &format!("pid {}/pid;\nhttp {{\n{temporary}", folder.path().display()));
        std::fs::write(folder.join("nginx.conf"), text)?;
        let process = Command::new(program)
            .args(["-p", &folder.path().display().to_string(), "-c", "nginx.conf", "-e", "error.log", "-g"])
            .arg("daemon off; master_process off;")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Some(Self { process, address, _folder: folder }))
    }
}

impl Drop for TunnelNginx {
    fn drop(&mut self) {
        // Both fail only when it has already exited.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test]
async fn nginx_upgrade_headers_enable_upgrades_where_configured() -> Result<()> {
    let endpoint = TunnelEndpoint::start().await?;
    let substitutes = vec![("ENDPOINT".to_owned(), endpoint.address()?.to_string())];
    let launch = Launch { substitutes, file: Some("nginx.conf"), ..Launch::default() };
    let gateway = TestGateway::launch(NGINX, launch).await?;
    let nginx = TunnelNginx::start(endpoint.address()?)?;
    if let Some(nginx) = &nginx {
        // NGINX sends no notification when it is ready.
        within("connection to NGINX", async {
            while tokio::net::TcpStream::connect(nginx.address).await.is_err() {
                next_look().await;
            }
        })
        .await?;
    }
    for (path, expected) in NGINX_PLACES {
        let ours = is_offered(gateway.address(), &endpoint, path).await?;
        ensure!(ours == *expected, "{path}: eddy {ours}");
        if let Some(nginx) = &nginx {
            let theirs = is_offered(nginx.address, &endpoint, path).await?;
            ensure!(theirs == *expected, "{path}: NGINX {theirs}");
        }
    }
    gateway.stop().await
}

#[tokio::test]
async fn envoy_upgrade_configs_apply_to_manager_and_route() -> Result<()> {
    let endpoint = TunnelEndpoint::start().await?;
    let (host, port) = (endpoint.address()?.ip(), endpoint.address()?.port());
    let config = format!(
        "static_resources:
  listeners:
    - name: it
      address: {{socket_address: {{address: LISTEN_HOST, port_value: LISTEN_PORT}}}}
      filter_chains:
        - filters:
            - name: hcm
              typed_config:
                \"@type\": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: it
                upgrade_configs: MANAGER
                http_filters:
                  - {{name: router, typed_config: {{\"@type\": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}}}
                route_config:
                  virtual_hosts:
                    - name: all
                      domains: ['*']
                      routes:
                        - {{match: {{prefix: /on}}, route: {{cluster: it, upgrade_configs: [{{upgrade_type: WebSocket}}]}}}}
                        - {{match: {{prefix: /off}}, route: {{cluster: it, upgrade_configs: [{{upgrade_type: websocket, enabled: false}}]}}}}
                        - {{match: {{prefix: /}}, route: {{cluster: it}}}}
  clusters:
    - name: it
      type: STATIC
      load_assignment:
        cluster_name: it
        endpoints: [{{lb_endpoints: [{{endpoint: {{address: {{socket_address: {{address: {host}, port_value: {port}}}}}}}}}]}}]
"
    );
    let listen = place::any_port();
    for (manager, places) in [
        ("[]", [("/on", true), ("/off", false), ("/", false)]),
        ("[{upgrade_type: websocket}]", [("/on", true), ("/off", false), ("/", true)]),
        (
            "[{upgrade_type: websocket, enabled: false}, {upgrade_type: CONNECT}]",
            [("/on", true), ("/off", false), ("/", false)],
        ),
    ] {
        let text = config
            .replace("LISTEN_HOST", &listen.ip().to_string())
            .replace("LISTEN_PORT", &listen.port().to_string())
            .replace("MANAGER", manager);
        let gateway =
            TestGateway::launch(&text, Launch { file: Some("envoy.yml"), ..Launch::default() }).await;
        // Files of other dialects have no admin listener to query, whatever their name.
        let gateway = gateway?;
        let address = gateway.bound(listen).await?;
        for (path, expected) in places {
            let ours = is_offered(address, &endpoint, path).await?;
            ensure!(ours == expected, "{manager} {path}: {ours}");
        }
        gateway.stop().await?;
    }
    Ok(())
}
