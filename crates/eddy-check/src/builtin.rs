//! Checks the configuration of built-in filters.

use std::sync::Arc;

use eddy_builtin::{
    Abort, BasicAuthConfig, BodyLimitConfig, BuiltinConfig, ClientConfig, CorsConfig, Delay, FaultConfig,
    FieldCondition, FieldRules, GrpcJsonConfig, GrpcWebConfig, HeadersConfig, IpAccessConfig, IpBlock,
    Listed, OriginPattern, PasswordForm, RateFields, RateKey, RateLimitConfig, RequestFraction,
    RequestIdConfig, TemplateString,
};
use eddy_config::AddressBlock;
use eddy_spec::problem::{ProblemReport, SourceSpan};
use eddy_spec::read::{Boxed, FromNode, OneOrMany, Spanned};
use eddy_spec::spec::{
    BasicAuthSpec, BodyLimitSpec, ClientSpec, CorsSpec, EditsSpec, FaultSpec, GrpcJsonSpec, GrpcWebSpec,
    HeadersSpec, IpAccessSpec, RateLimitSpec, RequestIdSpec,
};
use eddy_spec::value::{BoundedText, OrAll, RateKeyName};
use eddy_spec::yaml::{YamlNode, YamlNodeKind};

use super::context::{Surroundings, checked_field};
use super::messages::{message_fields, redact};
use super::setting::set;

/// Reads and checks the configuration of a built-in filter of this kind.
pub(super) fn read_builtin(
    kind: &str,
    node: &YamlNode<'_>,
    around: Surroundings<'_>,
    report: &mut ProblemReport,
) -> Option<BuiltinConfig> {
    let place = node.place;
    match kind {
        "basic_auth" => basic_auth(read(node, report)?, around, report).map(BuiltinConfig::BasicAuth),
        "headers" => Some(BuiltinConfig::Headers(headers(read(node, report)?, report))),
        "cors" => cors(read(node, report)?, report).map(BuiltinConfig::Cors),
        "ip_access" => Some(BuiltinConfig::IpAccess(ip_access(read(node, report)?, place, report))),
        "request_id" => Some(BuiltinConfig::RequestId(request_id(read(node, report)?, report))),
        "rate_limit" => rate_limit(read(node, report)?, report).map(BuiltinConfig::RateLimit),
        "body_limit" => Some(BuiltinConfig::BodyLimit(body_limit(&read(node, report)?))),
        "grpc_json" => grpc_json(read(node, report)?, around).map(BuiltinConfig::GrpcJson),
        "grpc_web" => Some(BuiltinConfig::GrpcWeb(grpc_web(&read(node, report)?))),
        "message_fields" => {
            message_fields(read(node, report)?, around, report).map(BuiltinConfig::MessageFields)
        }
        "redact" => redact(read(node, report)?, around, report).map(BuiltinConfig::Redact),
        _ => fault(read(node, report)?, around, report).map(BuiltinConfig::Fault),
    }
}

fn read<T: FromNode>(node: &YamlNode<'_>, report: &mut ProblemReport) -> Option<T> {
    Spanned::read(node, report).map(|at| at.value)
}

/// Returns `own` with the keys of `other` merged over it.
pub(super) fn overlay(own: &YamlNode<'static>, other: &YamlNode<'static>) -> YamlNode<'static> {
    let (YamlNodeKind::Mapping { entries: own, .. }, YamlNodeKind::Mapping { entries, is_whole }) =
        (&own.form, &other.form)
    else {
        return other.clone();
    };
    let is_kept = |key: &str| entries.iter().all(|entry| entry.key.text != key);
    let mut all: Vec<_> = own.iter().filter(|entry| is_kept(&entry.key.text)).cloned().collect();
    all.extend(entries.iter().cloned());
    YamlNode { place: other.place, form: YamlNodeKind::Mapping { entries: all, is_whole: *is_whole } }
}

fn basic_auth(
    spec: BasicAuthSpec,
    around: Surroundings<'_>,
    report: &mut ProblemReport,
) -> Option<BasicAuthConfig> {
    let mut config = BasicAuthConfig::default();
    for entry in spec.users.into_iter().flat_map(|users| users.value.0) {
        let Some(Spanned { value: text, place }) = entry.value else { continue };
        match PasswordForm::parse(&text.0) {
            Ok(form) => config.users.push((entry.name.value.0.into(), form)),
            // The text may be a password, so it is not repeated.
            Err(error) => drop(report.error(place, format!("this {error}"))),
        }
    }
    config.file = spec.file.map(|file| around.folder.join(file.value.0));
    if let Some(realm) = spec.realm {
        let is_printable = realm.value.0.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
        if !is_printable || realm.value.0.contains(['"', '\\']) {
            report.error(realm.place, "a realm consists of printable ASCII characters without `\"` and `\\`");
        }
        config.realm = realm.value.0.into();
    }
    if let Some(field) = spec.user_header {
        config.user_field = checked_field(&field, report);
    }
    set(&mut config.is_stripped, spec.strip);
    if let Some(Spanned { value: cache, .. }) = spec.cache {
        set(&mut config.cache_ttl, cache.ttl);
        set(&mut config.cache_entries_max, cache.entries);
    }
    set(&mut config.threads, spec.threads);
    set(&mut config.queue_max, spec.queue);
    (!config.users.is_empty() || config.file.is_some()).then_some(config)
}

fn headers(spec: HeadersSpec, report: &mut ProblemReport) -> HeadersConfig {
    let mut rules = |spec: Option<Spanned<Boxed<EditsSpec>>>, has_response: bool| {
        let mut rules = FieldRules::default();
        let Some(Spanned { value: Boxed(spec), .. }) = spec else { return rules };
        for name in spec.remove.into_iter().flat_map(|remove| remove.value) {
            rules.remove.extend(checked_field(&name, report));
        }
        for entry in spec.set.into_iter().flat_map(|set| set.value.0) {
            let (Some(name), Some(value)) = (checked_field(&entry.name, report), entry.value) else {
                continue;
            };
            let template = template(&value.value.0, value.place, has_response, report);
            rules.set.extend(template.map(|template| (name, template)));
        }
        for entry in spec.add.into_iter().flat_map(|add| add.value.0) {
            let Some(name) = checked_field(&entry.name, report) else { continue };
            for value in entry.value.into_iter().flat_map(OneOrMany::into_many) {
                let template = template(&value.value.0, value.place, has_response, report);
                rules.add.extend(template.map(|template| (Arc::clone(&name), template)));
            }
        }
        rules
    };
    HeadersConfig { request: rules(spec.request, false), response: rules(spec.response, true) }
}

fn template(
    text: &str,
    place: SourceSpan,
    has_response: bool,
    report: &mut ProblemReport,
) -> Option<TemplateString> {
    match TemplateString::parse(text) {
        Ok(template) if !has_response && template.needs_response() => {
            report.error(place, "the value uses a variable that only responses have");
            None
        }
        Ok(template) => Some(template),
        Err(error) => {
            let variables: Vec<String> =
                TemplateString::variables().map(|name| format!("`${{{name}}}`")).collect();
            report
                .error(place, format!("the value {error}"))
                .hint(format!("the variables are {}", variables.join(", ")));
            None
        }
    }
}

fn cors(spec: CorsSpec, report: &mut ProblemReport) -> Option<CorsConfig> {
    let mut config = CorsConfig::default();
    let origins = spec.origins?;
    if origins.value.is_empty() {
        report.error(origins.place, "an empty list of origins refuses every origin");
    }
    let has_credentials = spec.credentials.is_some_and(|credentials| credentials.value);
    for origin in origins.value {
        if origin.value.0 == OriginPattern::Any && has_credentials {
            report
                .error(origin.place, "with `credentials`, `*` lets every site act on behalf of its visitors")
                .hint("list the allowed origins");
        }
        config.origins.push(origin.value.0);
    }
    if let Some(methods) = spec.methods {
        config.methods = listed(methods, |method| method.0);
    }
    if let Some(fields) = spec.headers {
        config.request_fields = listed(fields, |field| field.0);
    }
    if let Some(fields) = spec.expose {
        let place = fields.place;
        config.exposed_fields = listed(fields, |field| field.0);
        if config.exposed_fields == Listed::All && has_credentials {
            report
                .error(place, "with `credentials`, browsers treat `*` as a header name")
                .hint("list the headers");
        }
    }
    config.has_credentials = has_credentials;
    set(&mut config.max_age, spec.max_age);
    Some(config)
}

fn listed<T>(names: Spanned<Vec<Spanned<OrAll<T>>>>, text: fn(T) -> String) -> Listed {
    let names: Option<Vec<Arc<str>>> =
        names.value.into_iter().map(|name| name.value.0.map(|name| text(name).into())).collect();
    names.map_or(Listed::All, Listed::Names)
}

fn ip_access(spec: IpAccessSpec, place: SourceSpan, report: &mut ProblemReport) -> IpAccessConfig {
    if let Some(allow) = spec.allow.as_ref().filter(|allow| allow.value.is_empty()) {
        report
            .error(allow.place, "an empty list of addresses refuses every client")
            .hint("leave `allow` out to accept all");
    }
    let config = IpAccessConfig {
        deny: blocks(spec.deny.map(|deny| deny.value)),
        allow: blocks(spec.allow.map(|allow| allow.value)),
        client: client(spec.client, report),
    };
    if config.deny.is_empty() && config.allow.is_empty() {
        report.warning(place, "the filter refuses no client");
    }
    config
}

fn blocks(blocks: Option<Vec<Spanned<AddressBlock>>>) -> Vec<IpBlock> {
    let block = |block: Spanned<AddressBlock>| IpBlock::new(block.value.address, block.value.prefix_bits);
    blocks.into_iter().flatten().map(block).collect()
}

fn client(spec: Option<Spanned<ClientSpec>>, report: &mut ProblemReport) -> ClientConfig {
    let Some(Spanned { value: spec, .. }) = spec else { return ClientConfig::default() };
    note_trust(spec.trusted.as_ref(), report);
    ClientConfig {
        forwarded_position: spec.forwarded_position.map_or(0, |position| position.value.to_u8()),
        trusted: blocks(spec.trusted.map(|trusted| trusted.value)),
    }
}

fn note_trust(trusted: Option<&Spanned<Vec<Spanned<AddressBlock>>>>, report: &mut ProblemReport) {
    for block in trusted.into_iter().flat_map(|trusted| &trusted.value) {
        if block.value.prefix_bits == 0 {
            report
                .warning(block.place, "every peer is trusted: clients can forge this header")
                .hint("list the proxies in front of eddy");
        }
    }
}

fn request_id(spec: RequestIdSpec, report: &mut ProblemReport) -> RequestIdConfig {
    let mut config = RequestIdConfig::default();
    if let Some(field) = spec.header.and_then(|field| checked_field(&field, report)) {
        config.field = field;
    }
    set(&mut config.format, spec.format);
    note_trust(spec.trusted.as_ref(), report);
    config.trusted = blocks(spec.trusted.map(|trusted| trusted.value));
    set(&mut config.is_in_response, spec.respond);
    config
}

fn rate_limit(spec: RateLimitSpec, report: &mut ProblemReport) -> Option<RateLimitConfig> {
    let key = match (spec.header, spec.key.map(|key| key.value)) {
        (Some(field), _) => RateKey::Field(field.value.0.into()),
        (None, Some(RateKeyName::All)) => RateKey::All,
        (None, Some(RateKeyName::Client) | None) => RateKey::Client {
            client: client(spec.client.clone(), report),
            ipv6_prefix_bits: spec.ipv6_prefix.map_or(64, |bits| bits.value.to_u8()),
        },
    };
    if !matches!(key, RateKey::Client { .. }) {
        let useless = [
            ("client", spec.client.map(|at| at.place)),
            ("ipv6_prefix", spec.ipv6_prefix.map(|at| at.place)),
        ];
        for (name, place) in useless {
            let Some(place) = place else { continue };
            report.error(place, format!("`{name}` has an effect only with `key: client`"));
        }
    }
    let requests = spec.requests?.value.to_u32();
    Some(RateLimitConfig {
        requests,
        per: spec.per?.value.0,
        burst: spec.burst.map_or(requests, |burst| burst.value.to_u32()),
        key,
        keys_max: spec.entries.map_or(65_536, |entries| entries.value.to_u32()),
        fields: spec.tell.map_or(RateFields::Refused, |fields| fields.value),
    })
}

fn body_limit(spec: &BodyLimitSpec) -> BodyLimitConfig {
    BodyLimitConfig {
        request_bytes_max: spec.request.map(|bytes| bytes.value.0),
        response_bytes_max: spec.response.map(|bytes| bytes.value.0),
    }
}

fn grpc_web(spec: &GrpcWebSpec) -> GrpcWebConfig {
    GrpcWebConfig { has_text: spec.text.is_none_or(|text| text.value) }
}

fn grpc_json(spec: GrpcJsonSpec, around: Surroundings<'_>) -> Option<GrpcJsonConfig> {
    let mut config = GrpcJsonConfig::new(around.folder.join(spec.descriptors?.value.0));
    let texts = |texts: Option<Spanned<Vec<Spanned<BoundedText<256>>>>>| -> Vec<Arc<str>> {
        texts.into_iter().flat_map(|texts| texts.value).map(|text| text.value.0.into()).collect()
    };
    config.services = texts(spec.services);
    config.ignored_parameters = texts(spec.ignore_parameters);
    set(&mut config.has_methods_without_rule, spec.auto);
    set(&mut config.is_rerouted, spec.reroute);
    set(&mut config.unknown_requests, spec.unknown_requests);
    set(&mut config.unknown_parameters, spec.unknown_parameters);
    set(&mut config.unknown_fields, spec.unknown_fields);
    set(&mut config.stream, spec.stream);
    set(&mut config.names, spec.names);
    set(&mut config.enums, spec.enums);
    set(&mut config.prints_defaults, spec.defaults);
    set(&mut config.message_bytes_max, spec.message_bytes_max);
    Some(config)
}

fn fault(spec: FaultSpec, around: Surroundings<'_>, report: &mut ProblemReport) -> Option<FaultConfig> {
    let mut config = FaultConfig::default();
    if let Some(Spanned { value: delay, .. }) = spec.delay {
        let time = delay.time?;
        if time.value.0 > around.policy.pause_timeout {
            report
                .error(
                    time.place,
                    "the delay is longer than the filter's `timeout`, after which the response is 504",
                )
                .hint("increase `timeout` of the filter, or reduce the delay");
        }
        let share = delay.percent.map_or(ALL, |percent| percent.value);
        config.delay = Some(Delay { time: time.value.0, share });
    }
    if let Some(Spanned { value: abort, .. }) = spec.abort {
        let share = abort.percent.map_or(ALL, |percent| percent.value);
        config.abort = Some(Abort { status: abort.status?.value.to_u16(), share });
    }
    for entry in spec.headers.into_iter().flat_map(|headers| headers.value.0) {
        let Some(Spanned { value, .. }) = entry.value else { continue };
        let value = Some(value.0).filter(|value| value != "*").map(Into::into);
        config.conditions.push(FieldCondition { name: entry.name.value.0.into(), value });
    }
    Some(config)
}

/// All requests.
const ALL: RequestFraction = RequestFraction(1_000_000);
