//! Code of Wasm modules that fail.

/// A failure: its name, the code (of type `() -> ()`), and the status of the exchange in which it happens.
pub type EvilModule = (&'static str, &'static str, u16);

/// Definitions for all of them: functions that call themselves, tables that are empty.
const TOOLS: &str = r#"
  (table $table 4 4 funcref)
  (type $plain (func))
  (type $other (func (param i64)))
  (elem (i32.const 1) $typed)
  (func $typed (param i64))
  (func $deep (param i32) (result i32)
    (i32.add (call $deep (i32.add (local.get 0) (i32.const 1))) (i32.const 1)))
  (func $fill (local $at i32)
    (loop $more
      (if (i32.eq (memory.grow (i32.const 16)) (i32.const -1)) (then (unreachable)))
      (br $more)))
"#;

/// Modules that fail in every way that a host may allow.
pub const MODULES: [EvilModule; 22] = [
    ("an endless loop", "(loop $l (br $l))", 500),
    ("unreachable code", "(unreachable)", 500),
    ("a division by zero", "(drop (i32.div_s (i32.const 1) (i32.const 0)))", 500),
    ("a division that overflows", "(drop (i32.div_s (i32.const 0x80000000) (i32.const -1)))", 500),
    ("a read beyond memory", "(drop (i32.load (i32.const -16)))", 500),
    ("a write beyond memory", "(i64.store (i32.const 0x7ffffff0) (i64.const 1))", 500),
    ("endless recursion", "(drop (call $deep (i32.const 0)))", 500),
    ("all memory", "(call $fill)", 500),
    ("a call of an empty table entry", "(call_indirect $table (type $plain) (i32.const 0))", 500),
    ("a call of another type", "(call_indirect $table (type $plain) (i32.const 1))", 500),
    ("a call beyond the table", "(call_indirect $table (type $plain) (i32.const 99))", 500),
    ("an exit", "(call $exit (i32.const 3))", 500),
    ("a NaN converted to an integer", "(drop (i32.trunc_f32_s (f32.const nan)))", 500),
    ("endless log messages", "(loop $l (drop (call $log (i32.const 2) `noise`)) (br $l))", 500),
    ("endless headers", "(loop $l (drop (call $add (i32.const 0) `x-a` `b`)) (br $l))", 500),
    (
        "endless queue items",
        "(drop (call $queue `q` (i32.const 8))) (loop $l (drop (call $enqueue (i32.load (i32.const 8)) `item`)) (br $l))",
        500,
    ),
    (
        "endless HTTP calls",
        "(loop $l (drop (call $call `origin` `x` `` `` (i32.const 9) (i32.const 8))) (br $l))",
        500,
    ),
    (
        "invalid pointers",
        "(drop (call $get (i32.const 0) (i32.const -8) (i32.const 99) (i32.const 0) (i32.const 4))) (drop (call $replace (i32.const 0) `x-b` (i32.const -1) (i32.const -1))) (drop (call $set_body (i32.const 0) (i32.const -1) (i32.const -1) (i32.const 4) (i32.const -1)))",
        200,
    ),
    (
        "invalid maps",
        "(drop (call $set_pairs (i32.const 0) `zzzzzzzz`)) (drop (call $reply (i32.const 200) `` `` `zzzz` (i32.const -1)))",
        200,
    ),
    (
        "unknown kinds",
        "(drop (call $get (i32.const 99) `x` (i32.const 0) (i32.const 4))) (drop (call $continue (i32.const 77))) (drop (call $close (i32.const 77))) (drop (call $metric (i32.const 9) `m` (i32.const 0)))",
        200,
    ),
    (
        "another's context",
        "(drop (call $effective (i32.const 4711))) (drop (call $continue (i32.const 0)))",
        200,
    ),
    (
        "headers that eddy sets itself",
        "(drop (call $replace (i32.const 0) `content-length` `99`)) (drop (call $replace (i32.const 0) `transfer-encoding` `chunked`)) (drop (call $add (i32.const 0) `x-a` `b\r\nx-c: d`)) (drop (call $replace (i32.const 0) `:path` `no path`))",
        200,
    ),
];

/// Returns a module that runs `evil` when a request has `x-evil`, and that adds `x-ok` to all others.
pub fn module_in_head(evil: &str) -> String {
    format!(
        r#"{TOOLS}
        (func $evil {evil})
        (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
          (if (i32.eqz (call $get (i32.const 0) `x-evil` (i32.const 0) (i32.const 4))) (then (call $evil)))
          (drop (call $replace (i32.const 0) `x-ok` `1`))
          (i32.const 0))"#
    )
}

/// Returns a module that runs `evil` in the callback `name` of an exchange whose request has `x-evil`.
pub fn module_in(name: &str, params: &str, result: &str, evil: &str) -> String {
    let answer = if result.is_empty() { "" } else { "(i32.const 0)" };
    format!(
        r#"{TOOLS}
        (func $evil {evil})
        (func (export "{name}") (param {params}) {result}
          (if (i32.eqz (call $get (i32.const 0) `x-evil` (i32.const 0) (i32.const 4))) (then (call $evil)))
          {answer})"#
    )
}
