//! Numbers shared with the host's Lua code, which gets them as tables of constants generated from the types here.

use std::fmt::Write as _;

use eddy_filter::{Direction, FilterLogLevel, MetricKind};

/// Type whose values are constants in a table of the host's Lua code.
pub(super) trait LuaConstants: Copy + 'static {
    /// Name of the table.
    const TABLE: &'static str;
    /// Values with their names in Lua, in the order of their numbers, which begin with 0.
    const ALL: &'static [(&'static str, Self)];

    /// Returns the number of the value.
    fn number(self) -> u8;

    /// Returns the value with a number.
    fn from_number(number: u32) -> Option<Self> {
        Self::ALL.get(number as usize).map(|(_, value)| *value)
    }
}

/// Defines an enum and the names of its variants in Lua.
macro_rules! lua_constants {
    ($(#[$about:meta])* $name:ident as $table:literal {
        $($(#[$doc:meta])* $variant:ident as $constant:literal),* $(,)?
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(super) enum $name {
            $($(#[$doc])* $variant),*
        }

        impl LuaConstants for $name {
            const TABLE: &'static str = $table;
            const ALL: &'static [(&'static str, Self)] = &[$(($constant, Self::$variant)),*];

            fn number(self) -> u8 {
                self as u8
            }
        }
    };
}

lua_constants! {
    /// Host call of a script.
    HostCallKind as "CALL" {
        Peer as "PEER",
        /// Local address of the connection.
        Local as "LOCAL",
        Rule as "RULE",
        /// Version of HTTP.
        Protocol as "PROTOCOL",
        /// Requested server name.
        ServerName as "SERVER_NAME",
        /// TLS properties of the client connection, as JSON; nothing without TLS.
        Tls as "TLS",
        /// Metadata of a namespace as a JSON object.
        Metadata as "METADATA",
        /// Namespaces that have metadata as a JSON array.
        Spaces as "SPACES",
        /// Configuration of the filter for the rule, as JSON.
        Context as "CONTEXT",
        Base64 as "BASE64",
        Base64Decode as "BASE64_DECODE",
        /// Checks a public key.
        KeyCheck as "KEY_CHECK",
        /// Verifies a signature.
        Verify as "VERIFY",
        /// Values of a message field, or their positions if the key ends with `_at`.
        Field as "FIELD",
        /// Begins an outbound request.
        RequestBegin as "REQUEST_BEGIN",
        /// Adds a header to the outbound request.
        RequestField as "REQUEST_FIELD",
        /// Sends the outbound request; the hook waits for the response.
        RequestAwait as "REQUEST_AWAIT",
        /// Sends the outbound request without waiting for its response.
        RequestSend as "REQUEST_SEND",
        StoreGet as "STORE_GET",
        StoreText as "STORE_TEXT",
        StoreNumber as "STORE_NUMBER",
        StoreTrue as "STORE_TRUE",
        StoreFalse as "STORE_FALSE",
        /// Adds to a shared number.
        StoreIncrement as "STORE_INCREMENT",
        StoreDelete as "STORE_DELETE",
        /// Defines a metric.
        StatDefine as "STAT_DEFINE",
        /// Adds to a counter or gauge.
        StatAdd as "STAT_ADD",
        /// Sets a gauge.
        StatSet as "STAT_SET",
        /// Records a value in a histogram.
        StatRecord as "STAT_RECORD",
        /// Value of a counter or gauge.
        StatValue as "STAT_VALUE",
        /// Passes the error of a failed hook to `LuaInstance::read`.
        Failure as "FAILURE",
    }
}

lua_constants! {
    /// Kind of the answer to a host call.
    AnswerKind as "ANSWER" {
        /// No answer, or the call is done.
        Nothing as "NOTHING",
        Text as "TEXT",
        Number as "NUMBER",
        True as "TRUE",
        False as "FALSE",
        /// The call failed; the text is an error message.
        Refused as "REFUSED",
    }
}

lua_constants! {
    /// Edit by a script.
    EditKind as "EDIT" {
        Set as "SET",
        Add as "ADD",
        Remove as "REMOVE",
        Method as "METHOD",
        Target as "TARGET",
        Authority as "AUTHORITY",
        Status as "STATUS",
        BodySet as "BODY_SET",
        Reply as "REPLY",
        ReplyField as "REPLY_FIELD",
        Metadata as "METADATA",
        /// Requests a new rule lookup.
        ClearRoute as "CLEAR_ROUTE",
        /// Prefers an endpoint.
        Endpoint as "ENDPOINT",
        /// Selects an endpoint, without fallback to others.
        EndpointStrict as "ENDPOINT_STRICT",
    }
}

lua_constants! {
    /// Condition under which a value is stored.
    StoreCondition as "STORE" {
        Always as "ALWAYS",
        /// If there is no value yet.
        Absent as "ABSENT",
    }
}

lua_constants! {
    /// Amount of a body that a hook has seen.
    #[derive(Default)]
    BodySeen as "SEEN" {
        #[default]
        Nothing as "NOTHING",
        Whole as "WHOLE",
        Pieces as "PIECES",
    }
}

lua_constants! {
    /// Result of entering a hook: finished, failed, or the event that it waits for.
    HookCode as "HOOK" {
        Done as "DONE",
        /// Waits for the whole body.
        Body as "BODY",
        /// Waits for the next piece of the body.
        Piece as "PIECE",
        /// Waits for the trailers, or the end.
        Trailers as "TRAILERS",
        /// Waits for the response to its own request.
        Call as "CALL",
        /// The hook has sent a reply and will not continue.
        Responded as "RESPONDED",
        Failed as "FAILED",
    }
}

/// Returns the Lua code that returns the tables of all constants.
pub(super) fn constants() -> String {
    let mut out = String::from(STRICT);
    push_all::<HostCallKind>(&mut out);
    push_all::<AnswerKind>(&mut out);
    push_all::<EditKind>(&mut out);
    push_all::<StoreCondition>(&mut out);
    push_all::<BodySeen>(&mut out);
    push_all::<HookCode>(&mut out);
    push_table(&mut out, "WAY", WAYS.iter().map(|(name, way)| (*name, *way as u32)));
    push_table(&mut out, "LEVEL", LEVELS.iter().map(|(name, level)| (*name, *level as u32)));
    push_table(&mut out, "METRIC", METRICS.iter().map(|(name, kind)| (*name, *kind as u32)));
    push_table(&mut out, "NUMBER", NUMBERS.iter().copied());
    out.push_str("}\n");
    out
}

fn push_all<C: LuaConstants>(out: &mut String) {
    push_table(out, C::TABLE, C::ALL.iter().map(|(name, value)| (*name, value.number().into())));
}

fn push_table<'n>(out: &mut String, table: &str, entries: impl Iterator<Item = (&'n str, u32)>) {
    // Writing to a string does not fail.
    let _ = write!(out, "{table} = strict {{ ");
    for (name, number) in entries {
        let _ = write!(out, "{name} = {number}, ");
    }
    out.push_str("},\n");
}

/// Flag of an edit of the trailers.
pub(super) const TRAILERS_FLAG: u32 = 0x100;
/// Flag of a field's index: another one with the same name follows.
pub(super) const MORE_FLAG: u32 = 0x1_0000;
/// Factor of a hook's number before its [`HookCode`] is added.
pub(super) const HOOK_FACTOR: u32 = 8;

const _: () =
    assert!(HookCode::ALL.len() <= HOOK_FACTOR as usize && EditKind::ALL.len() <= TRAILERS_FLAG as usize);

const NUMBERS: [(&str, u32); 3] =
    [("TRAILERS_FLAG", TRAILERS_FLAG), ("MORE_FLAG", MORE_FLAG), ("HOOK_FACTOR", HOOK_FACTOR)];

const WAYS: [(&str, Direction); 2] = [("REQUEST", Direction::Request), ("RESPONSE", Direction::Response)];

const METRICS: [(&str, MetricKind); 3] =
    [("COUNTER", MetricKind::Counter), ("GAUGE", MetricKind::Gauge), ("HISTOGRAM", MetricKind::Histogram)];

const LEVELS: [(&str, FilterLogLevel); 5] = [
    ("TRACE", FilterLogLevel::Trace),
    ("DEBUG", FilterLogLevel::Debug),
    ("INFO", FilterLogLevel::Info),
    ("WARN", FilterLogLevel::Warn),
    ("ERROR", FilterLogLevel::Error),
];

/// Begin of the constants: a misspelt name is an error when the host's code is loaded.
const STRICT: &str = "local error, setmetatable = error, setmetatable
local unknown = { __index = function(_, name) error(\"no constant \" .. name, 2) end }
local function strict(constants) return setmetatable(constants, unknown) end
return {
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lua::vm::{Vm, VmLimits};

    /// The host's Lua code that uses constants.
    const CODE: [&str; 9] = [
        include_str!("api/layout.lua"),
        include_str!("api/log.lua"),
        include_str!("api/stats.lua"),
        include_str!("api/headers.lua"),
        include_str!("api/body.lua"),
        include_str!("api/call.lua"),
        include_str!("api/info.lua"),
        include_str!("api/handle.lua"),
        concat!(include_str!("api/entry.lua"), include_str!("api/globals.lua")),
    ];

    fn check<C: LuaConstants + PartialEq + std::fmt::Debug>(script: &mut String) {
        for (index, (name, value)) in C::ALL.iter().enumerate() {
            let number = u32::from(value.number());
            assert_eq!((number as usize, C::from_number(number)), (index, Some(*value)), "{name}");
            expect(script, C::TABLE, name, number);
        }
        assert_eq!(C::from_number(u32::try_from(C::ALL.len()).unwrap()), None);
    }

    /// Expects that a constant is used and has a number.
    fn expect(script: &mut String, table: &str, name: &str, number: u32) {
        let full_name = format!("{table}.{name}");
        let is_end = |rest: &str| !rest.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '_');
        let mut uses = CODE.iter().flat_map(|code| code.split(&full_name).skip(1));
        assert!(uses.any(is_end), "{full_name} is not used");
        writeln!(script, "assert(constants.{full_name} == {number}, \"{full_name}\")").unwrap();
    }

    #[test]
    fn rust_and_lua_use_the_same_numbers() {
        let mut script = "local constants = ...\n".to_owned();
        check::<HostCallKind>(&mut script);
        check::<AnswerKind>(&mut script);
        check::<EditKind>(&mut script);
        check::<StoreCondition>(&mut script);
        check::<BodySeen>(&mut script);
        check::<HookCode>(&mut script);
        WAYS.iter().for_each(|(name, way)| expect(&mut script, "WAY", name, *way as u32));
        LEVELS.iter().for_each(|(name, level)| expect(&mut script, "LEVEL", name, *level as u32));
        METRICS.iter().for_each(|(name, kind)| expect(&mut script, "METRIC", name, *kind as u32));
        NUMBERS.iter().for_each(|(name, number)| expect(&mut script, "NUMBER", name, *number));
        script.push_str("assert(not pcall(function() return constants.CALL.MISSPELT end))\n");
        let mut vm = Vm::new(&VmLimits::default()).unwrap();
        vm.load_host(c"=test", &script).unwrap();
        vm.load_host(c"=constants", &constants()).unwrap();
        vm.call(0, 1).unwrap();
        vm.call(1, 0).unwrap();
    }
}
