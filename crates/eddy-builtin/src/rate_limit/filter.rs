//! Rate limit filter.

use std::hash::{DefaultHasher, Hasher};
use std::net::IpAddr;
use std::time::Duration;

use eddy_filter::{ExchangeView, FilterEdit, Interest, Phase, Verdict};
use eddy_http::GrpcStatus;

use super::bucket::{BucketTake, Common, Rate};
use super::config::{RateFields, RateKey, RateLimitConfig};
use super::table::BucketTable;
use crate::address::{ClientAddress, ClientConfig};
use crate::context::{BuiltinContext, MetricCounter};
use crate::library::{Builtin, PhaseContext};
use crate::scratch::Scratch;

/// Filter that refuses requests beyond a rate.
#[derive(Debug)]
pub(crate) struct RateLimit {
    rate: Rate,
    stocks: Stocks,
    fields: RateFields,
    /// Value of `RateLimit-Policy`.
    policy: Box<str>,
    /// Hash seed, so that clients cannot predict the hashes of keys.
    seed: [u64; 2],
    refused: MetricCounter,
}

#[derive(Debug)]
enum Stocks {
    All(Common),
    Client { client: ClientConfig, ipv6_mask: u128, table: BucketTable },
    Field { name: Box<str>, table: BucketTable },
}

impl RateLimit {
    /// Creates the filter.
    pub(crate) fn new(config: &RateLimitConfig, context: &BuiltinContext) -> Self {
        let table = || BucketTable::new(config.keys_max);
        let stocks = match &config.key {
            RateKey::All => Stocks::All(Common::new(config.burst, context.host.workers())),
            RateKey::Client { client, ipv6_prefix_bits } => Stocks::Client {
                client: client.clone(),
                ipv6_mask: u128::MAX.checked_shl(128 - u32::from(*ipv6_prefix_bits).min(128)).unwrap_or(0),
                table: table(),
            },
            RateKey::Field(name) => Stocks::Field { name: (**name).into(), table: table() },
        };
        Self {
            rate: Rate::new(config.requests, config.per, config.burst),
            stocks,
            fields: config.fields,
            policy: policy(config.requests, config.per),
            seed: [context.seed[0], context.seed[1]],
            refused: context.counter("refused"),
        }
    }

    fn take(&self, view: &ExchangeView<'_>, worker: u16) -> BucketTake {
        let now = view.about().now;
        match &self.stocks {
            Stocks::All(common) => common.take(self.rate, worker, now),
            Stocks::Client { client, ipv6_mask, table } => {
                let hash = match client.client(view) {
                    ClientAddress::Ip(IpAddr::V4(address)) => self.hash(1, &address.octets()),
                    ClientAddress::Ip(IpAddr::V6(address)) => {
                        self.hash(2, &(address.to_bits() & ipv6_mask).to_be_bytes())
                    }
                    ClientAddress::Unix => self.hash(3, &[]),
                    ClientAddress::Unreadable => self.hash(4, &[]),
                };
                table.take(self.rate, hash, now)
            }
            Stocks::Field { name, table } => {
                let value = view.request.fields.first_named(name.as_bytes());
                let hash = self.hash(u8::from(value.is_some()), value.unwrap_or_default());
                table.take(self.rate, hash, now)
            }
        }
    }

    fn hash(&self, kind: u8, bytes: &[u8]) -> u64 {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.seed[0]);
        hasher.write_u64(self.seed[1]);
        hasher.write_u8(kind);
        hasher.write(bytes);
        hasher.finish()
    }

    fn refuse(&self, taken: BucketTake, answer: &mut PhaseContext<'_>) -> Verdict {
        self.refused.count(answer.worker);
        let verdict = answer.reply(429, "too many requests\n", "rate_limit");
        let mut scratch = Scratch::new();
        scratch.format(format_args!("{}", seconds(taken.wait).max(1)));
        answer.reply_field("retry-after", scratch.bytes());
        if self.fields != RateFields::Never {
            answer.reply_field(POLICY, self.policy.as_bytes());
            write_limit(0, seconds(taken.wait), &mut scratch);
            answer.reply_field(LIMIT, scratch.bytes());
        }
        answer.reply_grpc(GrpcStatus::ResourceExhausted);
        verdict
    }

    fn tell(&self, answer: &mut PhaseContext<'_>) {
        let state = *answer.state;
        if state & STATE_SET == 0 {
            return;
        }
        let mut scratch = Scratch::new();
        write_limit(state & 0xffff_ffff, state >> 32 & 0x7fff_ffff, &mut scratch);
        answer.edit(&FilterEdit::Set { name: POLICY.as_bytes(), value: self.policy.as_bytes() });
        answer.edit(&FilterEdit::Set { name: LIMIT.as_bytes(), value: scratch.bytes() });
    }
}

impl Builtin for RateLimit {
    fn interest(&self) -> Interest {
        let phases = [Phase::RequestHead, Phase::ResponseHead];
        Interest::of(if self.fields == RateFields::Always { &phases } else { &[Phase::RequestHead] })
    }

    fn enter(&self, answer: &mut PhaseContext<'_>) -> Verdict {
        let view = answer.view;
        if view.phase == Phase::ResponseHead {
            self.tell(answer);
        }
        if view.phase != Phase::RequestHead {
            return Verdict::Continue;
        }
        let taken = self.take(view, answer.worker);
        if !taken.is_taken {
            return self.refuse(taken, answer);
        }
        if self.fields == RateFields::Always {
            let full_in = seconds(taken.full_in).min(0x7fff_ffff);
            *answer.state = STATE_SET | full_in << 32 | u64::from(taken.left);
        }
        Verdict::Continue
    }
}

/// Formats the policy header: requests and whole seconds, as the draft has no smaller unit.
fn policy(requests: u32, per: Duration) -> Box<str> {
    let window = per.as_millis().div_ceil(1000).max(1);
    let quota = u128::from(requests) * window * 1000 / per.as_millis().max(1);
    format!("\"default\";q={quota};w={window}").into()
}

fn write_limit(left: u64, seconds: u64, scratch: &mut Scratch) {
    scratch.clear();
    scratch.format(format_args!("\"default\";r={left};t={seconds}"));
}

/// Returns the time in seconds, rounded up.
fn seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

/// Header names of draft-ietf-httpapi-ratelimit-headers.
const POLICY: &str = "ratelimit-policy";
const LIMIT: &str = "ratelimit";
/// Flag of a state that holds the tokens left (lower half) and the seconds until the bucket is full.
const STATE_SET: u64 = 1 << 63;
