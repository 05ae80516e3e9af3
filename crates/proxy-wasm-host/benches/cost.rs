//! Benchmarks of calls and VMs: `cargo bench -p proxy-wasm-host`.

#![allow(clippy::print_stdout, reason = "it is for people to read")]
#![allow(clippy::unwrap_used, reason = "a module that does not work has no cost")]

use std::borrow::Cow;
use std::hint::black_box;
use std::time::{Duration, Instant};

use proxy_wasm_host::abi::{HostResult, MapType};
use proxy_wasm_host::{
    Allocation, CallerScope, Engine, EngineSettings, Host, Image, Module, Plugin, Rest, Sandbox,
    UnknownImports, Vm, WasmVmLimits,
};

/// Host with twenty headers with values of twenty bytes.
struct FixedFieldsHost;

impl Host for FixedFieldsHost {
    fn map_visit(&mut self, _: CallerScope, _: MapType, visit: &mut dyn FnMut(&[u8], &[u8])) -> HostResult {
        (0..20).for_each(|_| visit(b"x-some-name", VALUE));
        Ok(())
    }

    fn map_value(&mut self, _: CallerScope, _: MapType, _: &[u8]) -> HostResult<Option<Cow<'_, [u8]>>> {
        Ok(Some(Cow::Borrowed(VALUE)))
    }
}

fn main() {
    let mut settings = EngineSettings::default();
    settings.allocation = Allocation::Pooled { instances_max: 1_000 };
    let engine = Engine::new(settings).unwrap();
    let code = wat::parse_str(MODULE).unwrap();
    let module = Module::compile(&engine, &code, UnknownImports::Refuse).unwrap();
    let image = Image::link(&module, WasmVmLimits::default(), Sandbox::default()).unwrap();
    let mut vm = image.instantiate(FixedFieldsHost).unwrap();
    let plugin = vm.start_plugin(&Plugin::default()).unwrap();
    let stream = vm.create_stream(plugin).unwrap();

    measure("a callback that is missing", 1, || vm.on_request_trailers(stream, 0).unwrap());
    measure("a callback that does nothing", 1, || vm.on_request_headers(stream, 20, Rest::End).unwrap());
    measure("a value of 20 bytes", INNER, || vm.on_request_body(stream, 0, Rest::End).unwrap());
    measure("20 pairs of 31 bytes", INNER, || vm.on_response_body(stream, 0, Rest::End).unwrap());
    measure("a stream: made, called, ended", 1, || {
        let stream = vm.create_stream(plugin).unwrap();
        vm.on_request_headers(stream, 20, Rest::End).unwrap();
        vm.end(stream).unwrap()
    });
    let configured = Plugin::default();
    measure("a machine: made, configured, dropped", 1, || start(&image, &configured).memory_bytes());
    measure("a machine for one stream", 1, || {
        let mut vm = image.instantiate(FixedFieldsHost).unwrap();
        let plugin = vm.start_plugin(&configured).unwrap();
        let stream = vm.create_stream(plugin).unwrap();
        vm.on_request_headers(stream, 20, Rest::End).unwrap();
        vm.end(stream).unwrap()
    });
    let before = resident_bytes();
    let machines: Vec<Vm<FixedFieldsHost>> = (0..900).map(|_| start(&image, &configured)).collect();
    println!("{:<40} {:>10} bytes", "a machine in memory", (resident_bytes() - before) / machines.len());
}

fn start(image: &Image<FixedFieldsHost>, plugin: &Plugin) -> Vm<FixedFieldsHost> {
    let mut vm = image.instantiate(FixedFieldsHost).unwrap();
    vm.start_plugin(plugin).unwrap();
    vm
}

/// Measures a call that performs `inside` operations: the shortest of ten runs, per operation.
fn measure<T>(name: &str, inside: u32, mut call: impl FnMut() -> T) {
    let mut best = Duration::MAX;
    for _ in 0..10 {
        let start = Instant::now();
        for _ in 0..CALLS {
            black_box(call());
        }
        best = best.min(start.elapsed());
    }
    println!("{name:<40} {:>10.1} ns", best.as_secs_f64() * 1e9 / f64::from(CALLS * inside));
}

fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

const CALLS: u32 = 2_000;
const INNER: u32 = 100;
const VALUE: &[u8] = b"twenty bytes of text";
const MODULE: &str = r#"(module
  (import "env" "proxy_get_header_map_value" (func $get (param i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_get_header_map_pairs" (func $pairs (param i32 i32 i32) (result i32)))
  (memory (export "memory") 16)
  (data (i32.const 16) "x-some-name")
  (func (export "proxy_abi_version_0_2_1"))
  (func (export "proxy_on_memory_allocate") (param i32) (result i32) (i32.const 4096))
  (func (export "proxy_on_context_create") (param i32 i32))
  (func (export "proxy_on_vm_start") (param i32 i32) (result i32) (i32.const 1))
  (func (export "proxy_on_configure") (param i32 i32) (result i32) (i32.const 1))
  (func (export "proxy_on_done") (param i32) (result i32) (i32.const 1))
  (func (export "proxy_on_log") (param i32))
  (func (export "proxy_on_delete") (param i32))
  (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32) (i32.const 0))
  (func (export "proxy_on_request_body") (param i32 i32 i32) (result i32)
    (local $n i32)
    (loop $l
      (drop (call $get (i32.const 0) (i32.const 16) (i32.const 11) (i32.const 0) (i32.const 4)))
      (br_if $l (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 100))))
    (i32.const 0))
  (func (export "proxy_on_response_body") (param i32 i32 i32) (result i32)
    (local $n i32)
    (loop $l
      (drop (call $pairs (i32.const 0) (i32.const 0) (i32.const 4)))
      (br_if $l (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 100))))
    (i32.const 0)))"#;
