//! Policies of routes: retries, fault injection and CORS.

use std::time::Duration;

use eddy_builtin::{Abort, CorsConfig, Delay, FaultConfig, Listed, OriginPattern, RequestFraction};
use eddy_config::RetryConfig;
use eddy_http::GrpcStatus;
use eddy_spec::problem::{ProblemReport, SourceSpan, shown};
use eddy_spec::read::Spanned;
use eddy_spec::value::Number;

use super::spec::{CorsSpec, FaultSpec, PercentSpec, RetriesSpec, TextMatchSpec};
use crate::envoy::translated;
use crate::kubernetes::ApiText;
use crate::retry::{KNOWN, add_reason, sort_statuses};

/// Returns a percentage in millionths, from either of its two keys.
pub(super) fn share_of(
    exact: Option<&Spanned<PercentSpec>>,
    whole: Option<&Spanned<Number<0, 100>>>,
) -> Option<u32> {
    let exact = exact.map(|percent| percent.value.value.as_ref().map_or(0, |value| value.value.0));
    exact.or_else(|| whole.map(|percent| percent.value.to_u32() * 10_000))
}

/// Reads fault injection; without a percentage it affects no request, as in Istio.
pub(super) fn fault(spec: &FaultSpec, report: &mut ProblemReport) -> FaultConfig {
    let mut config = FaultConfig::default();
    if let Some(Spanned { value: delay, place }) = &spec.delay {
        let share = RequestFraction(share_of(delay.percentage.as_ref(), delay.percent.as_ref()).unwrap_or(0));
        match &delay.fixed {
            Some(time) => config.delay = Some(Delay { time: time.value.0, share }),
            None => {
                report.error(*place, "a delay needs the key `fixedDelay`");
            }
        }
    }
    if let Some(Spanned { value: abort, place }) = &spec.abort {
        let share = RequestFraction(share_of(abort.percentage.as_ref(), None).unwrap_or(0));
        match (&abort.status, &abort.grpc) {
            (Some(status), _) => config.abort = Some(Abort { status: status.value.to_u16(), share }),
            (None, Some(grpc)) => {
                report
                    .objection(grpc.place, "eddy aborts requests only with an HTTP status")
                    .hint("write `httpStatus`, or ignore it with `--lenient`");
            }
            (None, None) => {
                report.error(*place, "an abort needs the key `httpStatus`");
            }
        }
    }
    config
}

/// Returns the retry settings, and the timeout of each attempt.
pub(super) fn retries(
    spec: Option<&Spanned<RetriesSpec>>,
    report: &mut ProblemReport,
) -> (RetryConfig, Option<Duration>) {
    let Some(Spanned { value: spec, .. }) = spec else {
        // Istio's defaults.
        return (RetryConfig { attempts: 2, ..by_default() }, None);
    };
    let attempts = spec.attempts.as_ref().map_or(0, |attempts| attempts.value.to_u32());
    if let Some(attempts) = spec.attempts.as_ref().filter(|_| attempts > ATTEMPTS_MAX.into()) {
        report.warning(attempts.place, format!("eddy retries a request at most {ATTEMPTS_MAX} times"));
    }
    let mut retry = if spec.on.is_some() { RetryConfig::default() } else { by_default() };
    retry.attempts = u8::try_from(attempts).unwrap_or(ATTEMPTS_MAX).min(ATTEMPTS_MAX);
    if let Some(on) = &spec.on {
        for reason in on.value.0.split(',').map(str::trim) {
            add(reason, on.place, &mut retry, report);
        }
        sort_statuses(&mut retry);
    }
    let timeout = spec.per_try_timeout.as_ref().map(|timeout| timeout.value.0);
    (retry, timeout.filter(|timeout| !timeout.is_zero()))
}

/// Returns the default retry conditions; a connection that could not be established is always one.
fn by_default() -> RetryConfig {
    let grpc_statuses = [GrpcStatus::Unavailable, GrpcStatus::Cancelled].into_iter().collect();
    RetryConfig { grpc_statuses, ..RetryConfig::default() }
}

fn add(reason: &str, place: SourceSpan, retry: &mut RetryConfig, report: &mut ProblemReport) {
    // Status codes are listed as numbers, so this name adds nothing.
    if reason == "retriable-status-codes" || add_reason(retry, reason) {
        return;
    }
    match reason.parse::<u16>() {
        Ok(status @ 400..=599) => retry.statuses.push(status),
        Ok(_) | Err(_) => {
            report
                .objection(place, format!("eddy does not retry on `{}`", shown(reason)))
                .hint(format!("supported are status codes, {KNOWN}"));
        }
    }
}

/// Reads CORS settings; problems go to `report`.
pub(super) fn cors(spec: &CorsSpec, report: &mut ProblemReport) -> CorsConfig {
    let listed = |names: Option<&Spanned<Vec<Spanned<ApiText>>>>| {
        let names = || names.into_iter().flat_map(|names| &names.value).map(|name| &name.value.0);
        let is_any = names().any(|name| &**name == "*");
        if is_any { Listed::All } else { Listed::Names(names().map(|name| name.clone().into()).collect()) }
    };
    let mut config = CorsConfig {
        methods: listed(spec.methods.as_ref()),
        request_fields: listed(spec.headers.as_ref()),
        exposed_fields: listed(spec.exposed.as_ref()),
        has_credentials: spec.credentials.as_ref().is_some_and(|flag| flag.value),
        max_age: spec.max_age.as_ref().map_or(BROWSER_DEFAULT_MAX_AGE, |age| age.value.0),
        ..CorsConfig::default()
    };
    for origin in spec.origins.iter().flat_map(|origins| &origins.value) {
        config.origins.extend(origin_of(&origin.value, origin.place, report));
    }
    if spec.origins.is_none() {
        let plain = spec.origin.iter().flat_map(|origins| &origins.value);
        config.origins.extend(plain.filter_map(|origin| read_origin(&origin.value.0, origin.place, report)));
    }
    if let Some(unmatched) = spec.unmatched.as_ref().filter(|unmatched| &*unmatched.value.0 == "FORWARD") {
        report.warning(unmatched.place, "eddy answers preflight requests of other origins itself, with 403");
    }
    config
}

fn origin_of(spec: &TextMatchSpec, place: SourceSpan, report: &mut ProblemReport) -> Option<OriginPattern> {
    match (&spec.exact, &spec.prefix, &spec.regex) {
        (Some(exact), ..) => read_origin(&exact.value.0, exact.place, report),
        (None, Some(prefix), _) => {
            let expression = format!("{}.*", regex_syntax::escape(&prefix.value.0));
            read_origin(&format!("~{expression}"), prefix.place, report)
        }
        (None, None, Some(regex)) => {
            read_origin(&format!("~{}", translated(&regex.value.0)), regex.place, report)
        }
        (None, None, None) => {
            report.error(place, "an origin needs one of the keys `exact`, `prefix` and `regex`");
            None
        }
    }
}

fn read_origin(text: &str, place: SourceSpan, report: &mut ProblemReport) -> Option<OriginPattern> {
    match OriginPattern::parse(text) {
        Ok(pattern) => Some(pattern),
        Err(error) => {
            report.error(place, format!("`{}` {error}", shown(text.trim_start_matches('~'))));
            None
        }
    }
}

/// Maximum number of attempts after the first.
const ATTEMPTS_MAX: u8 = 10;
/// Time that browsers cache the answer to a preflight request without a maximum age.
const BROWSER_DEFAULT_MAX_AGE: Duration = Duration::from_secs(5);
