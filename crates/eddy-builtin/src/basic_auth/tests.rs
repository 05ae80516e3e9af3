use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64ct::{Base64, Encoding};
use eddy_filter::{FilterLibrary, LoadError, Phase, Verdict};
use eddy_ids::WorkerTime;
use proptest::prelude::*;

use super::cache::Cache;
use super::form::FormError;
use super::users::{Users, read_users};
use super::{BasicAuthConfig, PasswordForm};
use crate::tests::support::{TestExchange, TestFilterResult, TestHost, TestServices, context};
use crate::{BuiltinConfig, make};

/// Published test vectors.
const BCRYPT: &[(&str, &str)] = &[
    ("", "$2a$06$DCq7YPn5Rq63x1Lad4cll.TV4S6ytwfsfvkgY8jIucDrjc8deX1s."),
    ("a", "$2a$06$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe"),
    ("U*U", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
    ("U*U*", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK"),
];
const SHA_CRYPT: &[(&str, &str)] = &[
    ("Hello world!", "$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"),
    (
        "Hello world!",
        "$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1",
    ),
    ("Hello world!", "$5$rounds=10000$saltstringsaltst$3xv.VbSHBb41AL9AvLeujZkZRBAwqFMz2.opqey6IcA"),
];

fn encode(bytes: &[u8]) -> String {
    Base64::encode(bytes, &mut vec![0; bytes.len() * 2 + 4]).unwrap().to_owned()
}

fn form(text: &str) -> PasswordForm {
    PasswordForm::parse(text).unwrap()
}

#[test]
fn published_hashes_are_verified() {
    for (password, text) in BCRYPT {
        for prefix in ["$2a$", "$2b$", "$2y$"] {
            let form = form(&text.replace("$2a$", prefix));
            assert!(form.is_slow() && form.verify(password.as_bytes()), "{text}");
            assert!(!form.verify(format!("{password}x").as_bytes()), "{text}");
        }
    }
    for (password, text) in SHA_CRYPT {
        assert!(form(text).verify(password.as_bytes()), "{text}");
        assert!(!form(text).verify(b"hello world!"), "{text}");
    }
    // printf password | openssl sha1 -binary | base64
    let sha = form("{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=");
    assert!(!sha.is_slow() && sha.verify(b"password") && !sha.verify(b"Password"));
    assert!(form("secret").verify(b"secret") && !form("secret").verify(b"secre"));
    assert!(form("{PLAIN}$2y$x").verify(b"$2y$x"));
}

#[test]
fn only_72_bytes_count_for_bcrypt() {
    // Every bcrypt implementation truncates so; the guide documents it.
    let hash = form("$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW");
    assert!(!hash.verify(&[b'a'; 72]) && !hash.verify(&[b'a'; 1000]));
}

#[test]
fn invalid_and_too_expensive_hashes_are_refused() {
    let check = |text: &str, expected: FormError| {
        assert_eq!(PasswordForm::parse_hash(text), Err(expected), "{text}");
    };
    let bcrypt = FormError::Damaged("bcrypt");
    check("$2y$", bcrypt.clone());
    check("$2y$10$short", bcrypt.clone());
    check("$2y$1$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", bcrypt.clone());
    check("$2y$03$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", bcrypt.clone());
    check("$2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeWx", bcrypt.clone());
    check("$2y$05$CCCCCCCCCCCCCCCCCCCCC!E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", bcrypt);
    check("$2y$16$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", FormError::TooExpensive);
    check("{SHA}abc", FormError::Damaged("SHA-1"));
    check("{SSHA}abc", FormError::Unknown);
    check("$apr1$abc$def", FormError::Unknown);
    check("$6$salt", FormError::Damaged("SHA-crypt"));
    check(
        "$5$rounds=9$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5",
        FormError::Damaged("SHA-crypt"),
    );
    check(
        "$5$rounds=99999999$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5",
        FormError::TooExpensive,
    );
    check("plain", FormError::Plain);
    assert_eq!(PasswordForm::parse(""), Err(FormError::Length));
}

proptest! {
    #[test]
    fn any_hash_is_read_or_refused(text in r"(\$2y\$|\$5\$|\$6\$|\{SHA\}|)[$./=a-zA-Z0-9é]{0,90}") {
        let _ = PasswordForm::parse(&text);
    }

    #[test]
    fn any_file_is_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_users(&bytes);
    }
}

#[test]
fn a_file_has_one_user_per_line() {
    let text = "# users\n\nalice:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=:more\r\nbob:$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5\n";
    let users = read_users(text.as_bytes()).unwrap();
    assert_eq!(users.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), ["alice", "bob"]);
    let check = |text: &[u8], expected: &str| assert_eq!(read_users(text).unwrap_err(), expected);
    check(b"a:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=\nbob", "line 2 has no colon");
    check(b"\n:x", "line 2 has no valid user name");
    check(b"\n\xff", "line 2 is not UTF-8");
    check(b"a:secret", "the password in line 1 is a plain password; a password file may only contain hashes");
}

#[test]
fn the_example_can_be_read() {
    let users = read_users(include_bytes!("../../../../examples/filters/users.htpasswd")).unwrap();
    let [(_, alice), (_, bob)] = users.as_slice() else { panic!("two users") };
    assert!(alice.verify(b"wonderland") && bob.verify(b"builder"));
}

#[test]
fn an_unknown_user_costs_as_much_as_the_most_expensive_hash() {
    let config = |users: &[&str]| BasicAuthConfig {
        users: users
            .iter()
            .enumerate()
            .map(|(number, text)| (number.to_string().into(), form(text)))
            .collect(),
        ..BasicAuthConfig::default()
    };
    let nobody = |users: &[&str]| Users::new(&config(users), Vec::new()).nobody().form.work();
    assert_eq!(nobody(&["plain", "{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g="]), 0);
    let both = [BCRYPT[2].1, SHA_CRYPT[0].1, BCRYPT[0].1];
    assert_eq!(nobody(&both), form(BCRYPT[0].1).work());
    let users = Users::new(&config(&both), Vec::new());
    assert!(!users.find(b"x").is_known_user && users.find(b"1").is_known_user);
}

#[test]
fn the_cache_evicts_entries() {
    let at = WorkerTime::from_millis;
    let cache = Cache::new(8, Duration::from_secs(1), [1, 2, 3, 4]);
    let name = cache.name(b"alice", b"secret");
    assert_ne!(name, cache.name(b"alices", b"ecret"));
    assert_ne!(name, Cache::new(8, Duration::from_secs(1), [1, 2, 3, 5]).name(b"alice", b"secret"));
    assert!(!cache.has(name, at(10)));
    cache.remember(name, at(10));
    assert!(cache.has(name, at(10)) && cache.has(name, at(1009)) && !cache.has(name, at(1010)));
    for number in 0..8_u8 {
        cache.remember(cache.name(b"bob", &[number]), at(500 + u64::from(number)));
    }
    assert!(!cache.has(name, at(510)), "eight others have taken its place");
    assert!(cache.has(cache.name(b"bob", &[7]), at(510)));
    let none = Cache::new(8, Duration::ZERO, [1, 2, 3, 4]);
    none.remember(name, at(10));
    assert!(!none.has(name, at(10)));
}

fn config(users: &[(&str, &str)]) -> BasicAuthConfig {
    BasicAuthConfig {
        users: users.iter().map(|(name, text)| ((*name).into(), form(text))).collect(),
        user_field: Some("x-user".into()),
        ..BasicAuthConfig::default()
    }
}

fn made(config: BasicAuthConfig, services: TestServices) -> (Arc<dyn FilterLibrary>, Arc<TestHost>) {
    let (context, host) = context(1, services);
    (make(&BuiltinConfig::BasicAuth(config), &context).unwrap().0, host)
}

fn enter(library: &dyn FilterLibrary, exchange: u64, credentials: &str) -> TestFilterResult {
    let value = encode(credentials.as_bytes());
    let mut stage = TestExchange::request(&format!("GET / HTTP/1.1\nhost: a\nauthorization: Basic {value}"));
    stage.exchange = exchange;
    stage.enter(library, Phase::RequestHead)
}

const WELCOME: [&str; 3] = ["metadata auth/user \"alice\"", "remove authorization", "set x-user: alice"];
const CHALLENGE: [&str; 3] = [
    "reply 401 basic_auth",
    "reply field www-authenticate: Basic realm=\"restricted\", charset=\"UTF-8\"",
    "grpc 16",
];

#[test]
fn cheap_hashes_are_verified_inline() {
    let users = [("alice", "secret"), ("bob", "{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=")];
    let (library, host) =
        made(config(&users), TestServices { has_no_threads: true, ..TestServices::default() });
    assert_eq!(enter(&*library, 1, "alice:secret").edits, WELCOME);
    assert_eq!(enter(&*library, 1, "bob:password").verdict, Verdict::Continue);
    for wrong in ["alice:wrong", "alice:", "carol:secret", ":", "alice", "alice:secret:", "bob:Password"] {
        let said = enter(&*library, 1, wrong);
        assert_eq!(
            (said.verdict, &*said.edits),
            (Verdict::Reply, &CHALLENGE.map(String::from)[..]),
            "{wrong}"
        );
    }
    assert_eq!(host.metric("refused"), 7);
}

#[test]
fn unknown_users_are_refused() {
    let slow = ("bob", BCRYPT[0].1);
    for users in [&[("alice", "secret")][..], &[("alice", "{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=")], &[slow]] {
        let (library, host) = made(config(users), TestServices::default());
        for (exchange, nobody) in (1..).zip([":", "carol:", "carol:eddy knows nobody"]) {
            let verdict = enter(&*library, exchange, nobody).verdict;
            if verdict == Verdict::Pause {
                let resumed = host.resumed(usize::try_from(exchange).unwrap());
                assert!(resumed.iter().all(|resumed| resumed.verdict == Verdict::Reply), "{nobody}");
            } else {
                assert_eq!(verdict, Verdict::Reply, "{nobody}");
            }
        }
    }
}

#[test]
fn requests_without_valid_credentials_are_challenged() {
    let (library, _) = made(config(&[("alice", "secret")]), TestServices::default());
    let long = format!("authorization: Basic {}", encode(&[b'a'; 1100]));
    for fields in [
        "",
        "authorization: Basic",
        "authorization: Bearer abc",
        "authorization: Basic !!!!",
        "authorization: Basic YWxpY2U6c2VjcmV0=",
        "authorization: Basic YWxpY2U6c2VjcmV0\nauthorization: Basic YWxpY2U6c2VjcmV0",
        &long,
    ] {
        let mut stage = TestExchange::request(&format!("GET / HTTP/1.1\nhost: a\n{fields}"));
        assert_eq!(stage.enter(&*library, Phase::RequestHead).verdict, Verdict::Reply, "{fields}");
    }
    let mut stage = TestExchange::request("GET / HTTP/1.1\nhost: a\nauthorization: bASIC   YWxpY2U6c2VjcmV0");
    assert_eq!(stage.enter(&*library, Phase::RequestHead).verdict, Verdict::Continue);
}

#[test]
fn expensive_hashes_are_computed_off_the_worker_and_cached() {
    let users = [("alice", BCRYPT[2].1), ("bob", "secret")];
    let (library, host) = made(config(&users), TestServices::default());
    assert_eq!(enter(&*library, 1, "alice:U*U").verdict, Verdict::Pause);
    let resumed = host.resumed(1);
    assert_eq!((resumed[0].exchange, resumed[0].turn, resumed[0].verdict), (1, 7, Verdict::Continue));
    assert_eq!(resumed[0].edits, WELCOME);
    assert_eq!(enter(&*library, 2, "alice:U*U").edits, WELCOME, "now it is known");
    assert_eq!(enter(&*library, 3, "bob:secret").verdict, Verdict::Continue);
    for (exchange, wrong) in [(4, "alice:wrong"), (5, "bob:wrong"), (6, "carol:U*U")] {
        assert_eq!(enter(&*library, exchange, wrong).verdict, Verdict::Pause, "{wrong}");
    }
    let resumed = host.resumed(4);
    for resumed in &resumed[1..] {
        assert_eq!((resumed.verdict, &*resumed.edits), (Verdict::Reply, &CHALLENGE.map(String::from)[..]));
    }
    assert_eq!(enter(&*library, 7, "alice:wrong").verdict, Verdict::Pause, "wrong ones are not remembered");
    host.resumed(5);
    assert_eq!(host.metric("refused"), 4);
}

#[test]
fn caching_can_be_disabled() {
    let config = BasicAuthConfig { cache_ttl: Duration::ZERO, ..config(&[("alice", BCRYPT[2].1)]) };
    let (library, host) = made(config, TestServices::default());
    for (exchange, count) in [(1, 1), (2, 2)] {
        assert_eq!(enter(&*library, exchange, "alice:U*U").verdict, Verdict::Pause);
        assert_eq!(host.resumed(count)[count - 1].verdict, Verdict::Continue);
    }
}

#[test]
fn a_full_queue_is_refused_with_503() {
    let gate = Arc::new(Mutex::new(()));
    let closed = gate.lock().unwrap();
    let services = TestServices { gate: Some(Arc::clone(&gate)), ..TestServices::default() };
    let config = BasicAuthConfig { threads: 1, queue_max: 2, ..config(&[("alice", BCRYPT[2].1)]) };
    let (library, host) = made(config, services);
    assert_eq!(enter(&*library, 1, "alice:U*U").verdict, Verdict::Pause);
    assert_eq!(enter(&*library, 2, "alice:U*U").verdict, Verdict::Pause);
    let said = enter(&*library, 3, "alice:U*U");
    assert_eq!(said.edits, ["reply 503 basic_auth_overload", "reply field retry-after: 1", "grpc 14"]);
    assert_eq!(host.metric("overloaded"), 1);
    drop(closed);
    // Queued jobs are still answered after the filter is dropped.
    drop(library);
    assert!(host.resumed(2).iter().all(|resumed| resumed.verdict == Verdict::Continue));
}

#[test]
fn a_file_is_read_when_the_filter_is_made() {
    let files = HashMap::from([(
        "/etc/users".to_owned(),
        b"alice:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=\nbob:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=\n".to_vec(),
    )]);
    let file = |path: &str| BasicAuthConfig { file: Some(path.into()), ..config(&[("bob", "mine")]) };
    let (library, _) = made(file("/etc/users"), TestServices { files, ..TestServices::default() });
    assert_eq!(enter(&*library, 1, "alice:password").verdict, Verdict::Continue);
    assert_eq!(enter(&*library, 1, "bob:mine").verdict, Verdict::Continue);
    assert_eq!(enter(&*library, 1, "bob:password").verdict, Verdict::Reply);
    let (context, _) = context(1, TestServices::default());
    let error = make(&BuiltinConfig::BasicAuth(file("/none")), &context).unwrap_err();
    let message = "cannot use the password file \"/none\": there is no such file".to_owned();
    assert_eq!(error, LoadError::Refused { message });
}

#[test]
fn the_authorization_header_can_be_kept() {
    let config = BasicAuthConfig { is_stripped: false, user_field: None, ..config(&[("alice", "secret")]) };
    let (library, _) = made(config, TestServices::default());
    assert_eq!(enter(&*library, 1, "alice:secret").edits, WELCOME[..1]);
}
