use std::time::Duration;

use eddy_filter::{EditLog, Phase};
use eddy_ids::WorkerTime;

use super::support::{TestExchange, made};
use crate::{
    Abort, BasicAuthConfig, BodyLimitConfig, BuiltinConfig, ClientConfig, CorsConfig, FaultConfig,
    FieldRules, HeadersConfig, IpAccessConfig, IpBlock, OriginPattern, PasswordForm, RateFields, RateKey,
    RateLimitConfig, RequestFraction, RequestIdConfig, TemplateString,
};

/// Every filter kind, configured to do its task.
fn kinds() -> Vec<BuiltinConfig> {
    let rules = |text: &str| FieldRules {
        remove: vec!["x-old".into()],
        set: vec![("x-new".into(), TemplateString::parse(text).unwrap())],
        add: vec![("x-more".into(), TemplateString::parse(text).unwrap())],
    };
    let origins = ["https://*.example.com", "~https://[a-z]+\\.test"];
    let rate = |key| {
        BuiltinConfig::RateLimit(RateLimitConfig {
            requests: 5,
            per: Duration::from_secs(1),
            burst: 5,
            key,
            keys_max: 64,
            fields: RateFields::Always,
        })
    };
    let users = [("alice", "secret"), ("bob", "{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=")];
    vec![
        BuiltinConfig::BasicAuth(BasicAuthConfig {
            users: users.map(|(name, text)| (name.into(), PasswordForm::parse(text).unwrap())).into(),
            user_field: Some("x-user".into()),
            ..BasicAuthConfig::default()
        }),
        BuiltinConfig::Headers(HeadersConfig {
            request: rules("${peer} ${header.user-agent}"),
            response: rules("${status} ${endpoint} ${metadata.a.b}"),
        }),
        BuiltinConfig::Cors(CorsConfig {
            origins: origins.map(|text| OriginPattern::parse(text).unwrap()).into(),
            ..CorsConfig::default()
        }),
        BuiltinConfig::IpAccess(IpAccessConfig {
            allow: vec![IpBlock::new("203.0.113.0".parse().unwrap(), 24)],
            deny: Vec::new(),
            client: ClientConfig {
                forwarded_position: 1,
                trusted: vec![IpBlock::new("192.0.2.0".parse().unwrap(), 24)],
            },
        }),
        BuiltinConfig::RequestId(RequestIdConfig { is_in_response: true, ..RequestIdConfig::default() }),
        rate(RateKey::All),
        rate(RateKey::Client { client: ClientConfig::default(), ipv6_prefix_bits: 64 }),
        rate(RateKey::Field("x-forwarded-for".into())),
        BuiltinConfig::BodyLimit(BodyLimitConfig {
            request_bytes_max: Some(10),
            response_bytes_max: Some(10),
        }),
        BuiltinConfig::Fault(FaultConfig {
            delay: None,
            abort: Some(Abort { status: 503, share: RequestFraction(500_000) }),
            conditions: Vec::new(),
        }),
    ]
}

/// Checks all but slow password hashes, whose hand-over to another thread allocates.
#[test]
fn a_request_allocates_nothing() {
    let credentials = ["YWxpY2U6c2VjcmV0", "Ym9iOnBhc3N3b3Jk", "YWxpY2U6d3Jvbmc="];
    let heads = credentials.map(|credentials| {
        format!(
            "GET / HTTP/1.1\nhost: a\nauthorization: Basic {credentials}\norigin: https://a.example.com\n\
             user-agent: tests\nx-forwarded-for: 198.51.100.1, 203.0.113.7"
        )
    });
    for config in kinds() {
        let (library, info) = made(&config);
        let mut edits = EditLog::new();
        let mut stages = heads.clone().map(|head| {
            TestExchange::request(&head)
                .response("HTTP/1.1 200 OK\nvary: accept\naccess-control-allow-origin: *")
        });
        let mut round = |now_ms: u64| {
            for stage in &mut stages {
                stage.now = WorkerTime::from_millis(now_ms);
                stage.entropy = [now_ms, now_ms];
                for phase in
                    [Phase::RequestHead, Phase::RequestBody, Phase::ResponseHead, Phase::ResponseBody]
                {
                    if info.interest.has(phase) {
                        edits.clear();
                        stage.run(&*library, phase, &mut edits);
                    }
                }
            }
        };
        (0..50).for_each(&mut round);
        let counted = allocation_counter::measure(|| (50..150).for_each(&mut round));
        assert_eq!(counted.count_total, 0, "{}", config.kind());
    }
}
