//! Name resolution against a DNS server with every known misbehaviour.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use eddy_model::{AddressFamilies, Balance, ClusterConfig, DnsConfig, EndpointAddress, EndpointConfig};
use hickory_resolver::config::ResolverOpts;
use tokio::runtime::Handle;

use super::stub::{DnsStub, NXDOMAIN, SERVFAIL, StubResponse, Zone};
use crate::resolve::state::config_of;
use crate::resolve::{ADDRESSES_MAX, Resolution, Resolver};

#[tokio::test]
async fn addresses_of_both_families_become_endpoints() {
    let zone = Zone { v6: vec!["fd00::1".parse().unwrap()], ..Zone::v4(&["10.0.0.1", "10.0.0.2"], 60) };
    let stub = DnsStub::start(StubResponse::Addresses(zone)).await;
    let resolution = follow(&stub);
    assert!(resolution.settled(PATIENCE).await);
    assert_eq!(addresses(&resolution), set(&["10.0.0.1:80", "10.0.0.2:80", "[fd00::1]:80"]));
    assert!(resolution.current().members().iter().all(|member| member.weight == 7));
}

#[tokio::test]
async fn another_balancing_kind_builds_its_tables_without_a_lookup() {
    let stub = DnsStub::start(StubResponse::Addresses(Zone::v4(&["10.0.0.1", "10.0.0.2"], 60))).await;
    let resolution = follow(&stub);
    assert!(resolution.settled(PATIENCE).await);
    let (before, questions) = (resolution.current(), stub.questions().0);
    let mut sets = resolution.subscribe();
    sets.mark_unchanged();
    resolution.set_balance(cluster(DNS).balance);
    assert!(!sets.has_changed().unwrap(), "the same kind changes nothing");
    resolution.set_balance(Balance::Maglev);
    assert!(sets.has_changed().unwrap());
    let after = resolution.current();
    assert!(before.tables().maglev().is_none() && after.tables().maglev().is_some());
    assert_eq!(after.members(), before.members());
    assert_eq!(stub.questions().0, questions);
}

#[tokio::test]
async fn a_name_is_resolved_again_when_its_ttl_expires_and_not_before() {
    let stub = DnsStub::start(StubResponse::Addresses(Zone::v4(&["10.0.0.1"], 1))).await;
    let resolution = follow(&stub);
    let begin = Instant::now();
    assert!(resolution.settled(PATIENCE).await);
    stub.say(StubResponse::Addresses(Zone::v4(&["10.0.0.2"], 1)));
    wait_for(&resolution, &["10.0.0.2:80"]).await;
    assert!(begin.elapsed() >= Duration::from_millis(950), "after {:?}", begin.elapsed());
    assert_eq!(stub.questions().0, 4, "two look-ups of two families");
}

#[tokio::test]
async fn name_servers_follow_changes_of_resolv_conf() {
    let first = DnsStub::start(StubResponse::Addresses(Zone::v4(&["10.0.0.1"], 0))).await;
    let second = DnsStub::start(StubResponse::Addresses(Zone::v4(&["10.0.0.2"], 0))).await;
    let file = std::env::temp_dir().join(format!("eddy-name-servers-{}", std::process::id()));
    let fresh = file.with_extension("new");
    let put = |text: &str| {
        std::fs::write(&fresh, text).unwrap();
        std::fs::rename(&fresh, &file).unwrap();
    };
    put(&first.address.to_string());
    // Like resolv.conf, but with a port.
    let resolver = Resolver::from_file(&file, |text| {
        let text = String::from_utf8_lossy(text);
        let server = text.parse().map_err(|_| std::io::Error::other("no address"))?;
        Ok((config_of(&[server]), ResolverOpts::default()))
    });
    let resolver = resolver.unwrap().with_routes(|_| true);
    let resolution = resolver.follow(&cluster(DNS), &Handle::current());
    wait_for(&resolution, &["10.0.0.1:80"]).await;
    put(&second.address.to_string());
    wait_for(&resolution, &["10.0.0.2:80"]).await;
    // A file that is unusable or missing changes nothing.
    put("nothing");
    second.say(StubResponse::Addresses(Zone::v4(&["10.0.0.3"], 0)));
    wait_for(&resolution, &["10.0.0.3:80"]).await;
    std::fs::remove_file(&file).unwrap();
    second.say(StubResponse::Addresses(Zone::v4(&["10.0.0.4"], 0)));
    wait_for(&resolution, &["10.0.0.4:80"]).await;
    put(&first.address.to_string());
    wait_for(&resolution, &["10.0.0.1:80"]).await;
    std::fs::remove_file(&file).unwrap();
}

#[tokio::test]
async fn only_the_name_servers_of_a_cluster_are_queried() {
    let system = DnsStub::start(StubResponse::Addresses(Zone::v4(&["10.0.0.1"], 60))).await;
    let zone = Zone { v6: vec!["fd00::1".parse().unwrap()], ..Zone::v4(&["10.0.0.2"], 60) };
    let own = DnsStub::start(StubResponse::Addresses(zone)).await;
    let resolver = Resolver::from_name_servers(&[system.address]).unwrap();
    let name = |host: &str| EndpointConfig::new(EndpointAddress::Name { host: host.into(), port: 80 });
    // A name that is also in the hosts file of this machine.
    let mut cluster = ClusterConfig::new("own", vec![name("localhost.localdomain"), name("app")]);
    cluster.dns = DnsConfig { families: AddressFamilies::V4, ..DNS };
    cluster.name_servers = [own.address].into();
    let resolution = resolver.follow(&cluster, &Handle::current());
    wait_for(&resolution, &["10.0.0.2:80"]).await;
    assert!(resolution.settled(PATIENCE).await);
    assert_eq!(addresses(&resolution), set(&["10.0.0.2:80"]), "IPv4 alone");
    assert_eq!(own.questions().0, 2, "IPv6 is not asked for");
    assert_eq!(system.questions(), (0, 0));
    // The answer of the system's name servers for the same name is separate.
    cluster.name_servers = Default::default();
    let resolution = resolver.follow(&cluster, &Handle::current());
    wait_for(&resolution, &["10.0.0.1:80"]).await;
}

#[tokio::test]
async fn a_name_that_flaps_is_followed() {
    let stub = DnsStub::start(StubResponse::Addresses(Zone::v4(&["10.0.0.1"], 0))).await;
    let resolution = follow(&stub);
    for round in 0..10 {
        let address = format!("10.0.1.{round}");
        stub.say(StubResponse::Addresses(Zone::v4(&[&address], 0)));
        wait_for(&resolution, &[&format!("{address}:80")]).await;
    }
}

#[tokio::test]
async fn the_last_good_result_is_kept_during_failures() {
    let stub = DnsStub::start(StubResponse::Addresses(Zone::v4(&["10.0.0.1"], 0))).await;
    let resolution = follow(&stub);
    assert!(resolution.settled(PATIENCE).await);
    let failures = [
        StubResponse::Code(NXDOMAIN),
        StubResponse::Code(SERVFAIL),
        StubResponse::Silence,
        StubResponse::AliasLoop,
        StubResponse::Garbage,
    ];
    for (round, failure) in failures.into_iter().enumerate() {
        stub.say(failure.clone());
        wait_until(|| resolution.names()[0].failures_in_row > 0).await;
        assert_eq!(addresses(&resolution), one(round), "{failure:?}");
        assert!(resolution.names()[0].last_fault.is_some());
        let next = one(round + 1);
        let next: Vec<&str> = next.iter().map(String::as_str).collect();
        stub.say(StubResponse::Addresses(Zone::v4(&[next[0].trim_end_matches(":80")], 0)));
        wait_for(&resolution, &next).await;
        assert_eq!(resolution.names()[0].failures_in_row, 0);
    }
}

#[tokio::test]
async fn stale_addresses_are_dropped_in_the_end() {
    let stub = DnsStub::start(StubResponse::Addresses(Zone::v4(&["10.0.0.1"], 0))).await;
    let dns = DnsConfig { stale_max: Duration::from_millis(300), ..DNS };
    let resolution = follow_with(&stub, dns);
    assert!(resolution.settled(PATIENCE).await);
    stub.say(StubResponse::Code(SERVFAIL));
    wait_for(&resolution, &[]).await;
}

#[tokio::test]
async fn a_name_that_never_resolves_results_in_no_endpoints() {
    for saying in [StubResponse::Code(NXDOMAIN), StubResponse::Code(SERVFAIL), StubResponse::Silence] {
        let stub = DnsStub::start(saying.clone()).await;
        let resolution = follow(&stub);
        assert!(resolution.settled(PATIENCE).await, "{saying:?}");
        assert!(resolution.current().is_empty());
        assert_eq!(resolution.names()[0].addresses, 0);
        stub.say(StubResponse::Addresses(Zone::v4(&["10.0.0.1"], 60)));
        wait_for(&resolution, &["10.0.0.1:80"]).await;
    }
}

#[tokio::test]
async fn waiting_for_the_first_resolution_times_out() {
    let stub = DnsStub::start(StubResponse::Silence).await;
    let resolution = follow_with(&stub, DnsConfig { timeout: Duration::from_secs(60), ..DNS });
    assert!(!resolution.settled(Duration::from_millis(50)).await);
}

#[tokio::test]
async fn a_truncated_response_is_retried_over_tcp() {
    let many: Vec<String> = (0..200).map(|host| format!("10.0.0.{host}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let stub = DnsStub::start(StubResponse::Truncated(Zone::v4(&many, 60))).await;
    let resolution = follow(&stub);
    assert!(resolution.settled(PATIENCE).await);
    assert_eq!(resolution.current().len(), 200, "{:?} {:?}", resolution.names(), stub.questions());
    assert!(stub.questions().1 > 0);
}

#[tokio::test]
async fn a_response_with_another_id_is_ignored() {
    let (wrong, right) = (Zone::v4(&["10.6.6.6"], 60), Zone::v4(&["10.0.0.1"], 60));
    let stub = DnsStub::start(StubResponse::WrongIdFirst(wrong, right)).await;
    let resolution = follow(&stub);
    assert!(resolution.settled(PATIENCE).await);
    assert_eq!(addresses(&resolution), set(&["10.0.0.1:80"]));
}

#[tokio::test]
async fn at_most_a_thousand_records_are_used() {
    let v4 = (0..2000_u32).map(|host| Ipv4Addr::from_bits(0x0a00_0001 + host)).collect();
    let stub = DnsStub::start(StubResponse::Truncated(Zone { v4, v6: Vec::new(), ttl: 60 })).await;
    let resolution = follow(&stub);
    assert!(resolution.settled(PATIENCE).await);
    assert_eq!(resolution.current().len(), ADDRESSES_MAX);
}

#[tokio::test]
async fn an_address_family_without_a_route_is_skipped_while_another_has_one() {
    let v6: Vec<Ipv6Addr> = vec!["fd00::1".parse().unwrap()];
    let stub =
        DnsStub::start(StubResponse::Addresses(Zone { v6: v6.clone(), ..Zone::v4(&["10.0.0.1"], 0) })).await;
    let resolver = Resolver::from_name_servers(&[stub.address]).unwrap().with_routes(|ip| ip.is_ipv4());
    let resolution = resolver.follow(&cluster(DNS), &Handle::current());
    assert!(resolution.settled(PATIENCE).await);
    assert_eq!(addresses(&resolution), set(&["10.0.0.1:80"]));
    stub.say(StubResponse::Addresses(Zone { v6, ..Zone::v4(&[], 0) }));
    wait_for(&resolution, &["[fd00::1]:80"]).await;
}

#[tokio::test]
async fn a_new_configuration_starts_with_earlier_results() {
    let stub = DnsStub::start(StubResponse::Addresses(Zone::v4(&["10.0.0.1"], 0))).await;
    let resolver = resolver(&stub);
    let old = resolver.follow(&cluster(DNS), &Handle::current());
    assert!(old.settled(PATIENCE).await);
    stub.say(StubResponse::Silence);
    drop(old);
    // The result does not depend on whether the old one ends before the new one starts.
    tokio::task::yield_now().await;
    let new = resolver.follow(&cluster(DNS), &Handle::current());
    assert_eq!(addresses(&new), set(&["10.0.0.1:80"]), "at once, though nobody answers any more");
    wait_until(|| new.names()[0].failures_in_row > 0).await;
    assert_eq!(addresses(&new), set(&["10.0.0.1:80"]));
}

#[tokio::test]
async fn literal_addresses_need_no_name_server() {
    let stub = DnsStub::start(StubResponse::Silence).await;
    let endpoints = vec![
        endpoint(EndpointAddress::Socket("127.0.0.1:9001".parse().unwrap())),
        endpoint(EndpointAddress::Unix("/run/app.sock".into())),
    ];
    let resolution = resolver(&stub).follow(&ClusterConfig::new("fixed", endpoints), &Handle::current());
    assert!(resolution.settled(Duration::from_millis(1)).await);
    assert_eq!(addresses(&resolution), set(&["127.0.0.1:9001", "unix:/run/app.sock"]));
    assert_eq!(stub.questions(), (0, 0));
}

#[tokio::test]
async fn dropping_a_resolution_cancels_its_lookups() {
    let stub = DnsStub::start(StubResponse::Addresses(Zone::v4(&["10.0.0.1"], 0))).await;
    let resolution = follow(&stub);
    assert!(resolution.settled(PATIENCE).await);
    let mut sets = resolution.subscribe();
    drop(resolution);
    sets.mark_unchanged();
    let ended = tokio::time::timeout(PATIENCE, async { while sets.changed().await.is_ok() {} }).await;
    assert!(ended.is_ok(), "the tasks, and with them the sender, are gone");
}

#[tokio::test]
async fn many_names_are_resolved_concurrently() {
    let stub = DnsStub::start(StubResponse::Addresses(Zone::v4(&["10.0.0.1"], 60))).await;
    let endpoints = (0..300_u16).map(|number| {
        endpoint(EndpointAddress::Name {
            host: format!("host{number}.test.example").into(),
            port: 1000 + number,
        })
    });
    let cluster = ClusterConfig::new("many", endpoints.collect());
    let resolution = resolver(&stub).follow(&cluster, &Handle::current());
    assert!(resolution.settled(PATIENCE).await);
    assert_eq!(resolution.current().len(), 300);
}

fn follow(stub: &DnsStub) -> Resolution {
    follow_with(stub, DNS)
}

fn follow_with(stub: &DnsStub, dns: DnsConfig) -> Resolution {
    resolver(stub).follow(&cluster(dns), &Handle::current())
}

fn resolver(stub: &DnsStub) -> Resolver {
    Resolver::from_name_servers(&[stub.address]).unwrap().with_routes(|_| true)
}

fn cluster(dns: DnsConfig) -> ClusterConfig {
    let name = EndpointAddress::Name { host: "users.test.example".into(), port: 80 };
    ClusterConfig { dns, ..ClusterConfig::new("users", vec![endpoint(name)]) }
}

fn endpoint(address: EndpointAddress) -> EndpointConfig {
    EndpointConfig { weight: 7, ..EndpointConfig::new(address) }
}

async fn wait_for(resolution: &Resolution, expected: &[&str]) {
    let expected = set(expected);
    let mut sets = resolution.subscribe();
    let arrived = sets.wait_for(|current| written(current) == expected);
    let outcome = tokio::time::timeout(PATIENCE, arrived).await.map(drop);
    assert!(outcome.is_ok(), "waited for {expected:?}, have {:?}", addresses(resolution));
}

async fn wait_until(is_so: impl Fn() -> bool) {
    let poll = async {
        while !is_so() {
            #[expect(clippy::disallowed_methods, reason = "a state is looked at again until the deadline")]
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(PATIENCE, poll).await.unwrap();
}

fn addresses(resolution: &Resolution) -> BTreeSet<String> {
    written(&resolution.current())
}

fn written(current: &Arc<crate::EndpointSet>) -> BTreeSet<String> {
    current.members().iter().map(|member| member.address.to_string()).collect()
}

fn one(round: usize) -> BTreeSet<String> {
    set(&[&format!("10.0.0.{}:80", round + 1)])
}

fn set(addresses: &[&str]) -> BTreeSet<String> {
    addresses.iter().map(|address| (*address).to_owned()).collect()
}

/// Far longer than anything here should take.
const PATIENCE: Duration = Duration::from_secs(20);
const DNS: DnsConfig = DnsConfig {
    refresh_min: Duration::from_millis(20),
    refresh_max: Duration::from_secs(300),
    timeout: Duration::from_millis(400),
    stale_max: Duration::from_secs(3600),
    families: AddressFamilies::Both,
};
