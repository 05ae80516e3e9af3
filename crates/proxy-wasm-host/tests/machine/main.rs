//! Tests of VMs: limits, faults, log output, end of contexts.

#![allow(clippy::unwrap_used, reason = "the functions that tests share may fail as the tests may")]

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use proxy_wasm_host::abi::{AbiVersion, Callback, HostResult, LogLevel, MapType};
use proxy_wasm_host::{
    Allocation, CallerScope, ContextId, Engine, EngineError, EngineSettings, Host, Image, Module,
    ModuleError, ModuleFaultKind, Output, Plugin, PluginStartError, QueueId, Rest, Sandbox, StartError,
    UnknownImports, Vm, WasmVmLimits,
};

/// Host that records log and print output.
#[derive(Default)]
struct Keeper {
    lines: Vec<String>,
    deleted: Vec<ContextId>,
    /// Number of pairs visited; one more on each visit.
    grows: usize,
}

impl Host for Keeper {
    fn log(&mut self, scope: CallerScope, level: LogLevel, message: &[u8]) {
        self.lines.push(format!("{level:?} {:?} {}", scope.callback, String::from_utf8_lossy(message)));
    }

    fn print(&mut self, _: CallerScope, _: Output, line: &[u8]) {
        self.lines.push(String::from_utf8_lossy(line).into_owned());
    }

    fn map_visit(&mut self, _: CallerScope, _: MapType, visit: &mut dyn FnMut(&[u8], &[u8])) -> HostResult {
        self.grows += 1;
        (0..self.grows).for_each(|_| visit(b"key", b"value"));
        Ok(())
    }

    fn context_deleted(&mut self, context: ContextId) {
        self.deleted.push(context);
    }
}

const HEAD: &str = r#"(memory (export "memory") 1) (func (export "proxy_abi_version_0_2_1"))
    (func (export "malloc") (param i32) (result i32) (i32.const 4096))"#;

fn engine(allocation: Allocation) -> Engine {
    let mut settings = EngineSettings::default();
    settings.allocation = allocation;
    Engine::new(settings).unwrap()
}

fn compile(
    engine: &Engine,
    imports: &str,
    body: &str,
    unknown: UnknownImports,
) -> Result<Module, ModuleError> {
    Module::compile(engine, &wat::parse_str(format!("(module {imports} {HEAD} {body})")).unwrap(), unknown)
}

fn image(engine: &Engine, imports: &str, body: &str, limits: WasmVmLimits) -> Image<Keeper> {
    let module = compile(engine, imports, body, UnknownImports::Trap).unwrap();
    Image::link(&module, limits, Sandbox::default()).unwrap()
}

fn machine(imports: &str, body: &str, limits: WasmVmLimits) -> Vm<Keeper> {
    image(&engine(Allocation::OnDemand), imports, body, limits).instantiate(Keeper::default()).unwrap()
}

#[test]
fn vms_and_images_move_between_threads() {
    fn is_send<T: Send>() {}
    fn is_shared<T: Send + Sync>() {}
    is_send::<Vm<Keeper>>();
    is_shared::<Image<Keeper>>();
    is_shared::<Module>();
    is_shared::<Engine>();
}

#[test]
fn a_fault_reports_its_position() {
    let body = r#"(func $inner (unreachable)) (func $outer (call $inner))
        (func (export "proxy_on_tick") (param i32) (call $outer))"#;
    let mut vm = machine("", body, WasmVmLimits::default());
    let plugin = vm.start_plugin(&Plugin::default()).unwrap();
    let fault = vm.on_tick(plugin).unwrap_err();
    assert_eq!((fault.kind(), fault.callback()), (ModuleFaultKind::Trap, Some(Callback::Tick)));
    let message = fault.to_string();
    assert!(
        message.starts_with("the module failed in proxy_on_tick: wasm trap: wasm `unreachable`"),
        "{message}"
    );
    assert!(message.contains("; in inner; in outer"), "{message}");
    let again = vm.on_tick(plugin).unwrap_err();
    assert_eq!(again.kind(), ModuleFaultKind::Dead);
    assert!(again.message().contains("unreachable"), "{again}");
    assert_eq!(vm.end(plugin).unwrap_err().kind(), ModuleFaultKind::Dead);
    assert_eq!(vm.delete(plugin).unwrap_err().kind(), ModuleFaultKind::Dead);
    assert_eq!(vm.create_stream(plugin).unwrap_err().kind(), ModuleFaultKind::Dead);
    assert!(vm.host().deleted.is_empty());
    assert!(vm.into_host().is_some());
}

#[test]
fn unknown_imports_can_be_allowed_until_they_are_called() {
    let imports = r#"(import "env" "mystery" (func $mystery (param i64) (result i64)))"#;
    let body = r#"(func (export "proxy_on_tick") (param i32) (drop (call $mystery (i64.const 1))))"#;
    let engine = engine(Allocation::OnDemand);
    let refused = compile(&engine, imports, body, UnknownImports::Refuse).map(drop).unwrap_err();
    assert_eq!(refused.to_string(), "the module imports `env.mystery`, which this host does not provide");
    let taken = compile(&engine, imports, body, UnknownImports::Trap).unwrap();
    assert_eq!(taken.unknown_imports(), ["env.mystery"]);
    let mut vm = machine(imports, body, WasmVmLimits::default());
    let plugin = vm.start_plugin(&Plugin::default()).unwrap();
    let fault = vm.on_tick(plugin).unwrap_err();
    assert_eq!(fault.kind(), ModuleFaultKind::Trap);
    assert!(fault.message().starts_with("the module called `env.mystery`"), "{fault}");
}

#[test]
fn wrong_function_types_are_reported() {
    let engine = engine(Allocation::OnDemand);
    let says = |imports: &str, body: &str| {
        compile(&engine, imports, body, UnknownImports::Refuse).map(drop).unwrap_err().to_string()
    };
    assert_eq!(
        says(r#"(import "env" "proxy_log" (func (param i32 i64) (result i32)))"#, ""),
        "the module imports `env.proxy_log` as (i32, i64) -> (i32), but it is (i32, i32, i32) -> (i32)"
    );
    assert_eq!(
        says("", r#"(func (export "proxy_on_request_headers") (param i32))"#),
        "the module exports `proxy_on_request_headers` as (i32) -> (), but the ABI has (i32, i32, i32) -> (i32) or (i32, i32) -> (i32)"
    );
}

#[test]
fn the_newest_of_several_abi_versions_is_used() {
    let body = r#"(func (export "proxy_abi_version_0_1_0")) (func (export "proxy_abi_version_0_2_0"))"#;
    let module = compile(&engine(Allocation::OnDemand), "", body, UnknownImports::Refuse).unwrap();
    assert_eq!(module.abi_version(), AbiVersion::V0_2_1);
    assert!(!module.has(Callback::Tick));
}

#[test]
fn contexts_are_limited_and_tracked() {
    let mut limits = WasmVmLimits::default();
    limits.contexts_max = 3;
    let mut vm = machine("", "", limits);
    let plugin = vm.start_plugin(&Plugin::default()).unwrap();
    let first = vm.create_stream(plugin).unwrap();
    let second = vm.create_stream(plugin).unwrap();
    assert_eq!(vm.create_stream(plugin).unwrap_err().kind(), ModuleFaultKind::TooManyContexts);
    assert_eq!(vm.create_stream(first).unwrap_err().kind(), ModuleFaultKind::UnknownContext);
    assert_eq!(vm.end(plugin).unwrap_err().kind(), ModuleFaultKind::HasStreams);
    assert_eq!(vm.delete(plugin).unwrap_err().kind(), ModuleFaultKind::HasStreams);
    assert!(vm.end(first).unwrap());
    assert_eq!(vm.end(first).unwrap_err().kind(), ModuleFaultKind::UnknownContext);
    assert_eq!(
        vm.on_request_headers(first, 0, Rest::End).unwrap_err().kind(),
        ModuleFaultKind::UnknownContext
    );
    let third = vm.create_stream(plugin).unwrap();
    assert!(third > second, "numbers are not used again");
    assert!(vm.end(third).unwrap() && vm.end(second).unwrap() && vm.end(plugin).unwrap());
    assert_eq!(vm.host().deleted, [first, third, second, plugin]);
    assert_eq!((vm.contexts(), vm.fault()), (0, None));
}

#[test]
fn a_waiting_context_can_be_ended_by_force() {
    let body = r#"(func (export "proxy_on_done") (param i32) (result i32) (i32.const 0))"#;
    let mut vm = machine("", body, WasmVmLimits::default());
    let plugin = vm.start_plugin(&Plugin::default()).unwrap();
    let stream = vm.create_stream(plugin).unwrap();
    assert!(!vm.end(stream).unwrap());
    assert!(vm.host().deleted.is_empty());
    vm.delete(stream).unwrap();
    assert_eq!(vm.host().deleted, [stream]);
}

#[test]
fn an_exhausted_pool_is_reported() {
    let engine = engine(Allocation::Pooled { instances_max: 2 });
    let image = image(&engine, "", "", WasmVmLimits::default());
    let first = image.instantiate(Keeper::default()).unwrap();
    let _second = image.instantiate(Keeper::default()).unwrap();
    let busy = image.instantiate(Keeper::default()).map(drop).unwrap_err();
    assert!(matches!(busy, StartError::Busy { instances_max: 2 }), "{busy}");
    drop(first);
    assert!(image.instantiate(Keeper::default()).is_ok());
}

#[test]
fn memory_is_fresh_in_each_vm() {
    let body = r#"(data (i32.const 16) "new") (global $turn (mut i32) (i32.const 0))
        (func (export "proxy_on_tick") (param i32)
          (if (i32.or (global.get $turn) (i32.ne (i32.load8_u (i32.const 16)) (i32.const 110))) (then (unreachable)))
          (global.set $turn (i32.const 1))
          (i32.store8 (i32.const 16) (i32.const 0)))"#;
    let image = image(&engine(Allocation::Pooled { instances_max: 1 }), "", body, WasmVmLimits::default());
    for _ in 0..10 {
        let mut vm = image.instantiate(Keeper::default()).unwrap();
        let plugin = vm.start_plugin(&Plugin::default()).unwrap();
        vm.on_tick(plugin).unwrap();
        assert_eq!(vm.memory_bytes(), 65_536);
    }
}

#[test]
fn a_start_may_take_longer_than_a_call() {
    let body = r#"(func $endless (loop $l (br $l)))
        (func (export "proxy_on_configure") (param i32 i32) (result i32) (call $endless) (i32.const 1))
        (func (export "proxy_on_tick") (param i32) (call $endless))"#;
    let engine = engine(Allocation::OnDemand);
    let mut limits = WasmVmLimits::default();
    (limits.call_ticks_max, limits.start_ticks_max) = (1, 3);
    let ticks = |call: fn(&mut Vm<Keeper>)| {
        let mut vm = image(&engine, "", body, limits.clone()).instantiate(Keeper::default()).unwrap();
        let plugin = vm.create_plugin().unwrap();
        assert_eq!(plugin, ContextId(1));
        // Ticks come from another thread, and only once the call is in progress.
        let (ended, has_ended) = channel::<()>();
        let clock = engine.clone();
        let counter = std::thread::spawn(move || {
            let mut ticks = 0;
            while has_ended.recv_timeout(Duration::from_millis(20)) == Err(RecvTimeoutError::Timeout) {
                clock.tick();
                ticks += 1;
            }
            ticks
        });
        call(&mut vm);
        drop(ended);
        counter.join().unwrap()
    };
    let of_call =
        ticks(|vm| assert_eq!(vm.on_tick(ContextId(1)).unwrap_err().kind(), ModuleFaultKind::Deadline));
    let of_start = ticks(|vm| {
        let fault = vm.on_configure(ContextId(1), &b""[..]).unwrap_err();
        assert_eq!(fault.kind(), ModuleFaultKind::Deadline);
    });
    assert!(of_call >= 1 && of_start >= 3, "{of_call} and {of_start} ticks");
}

/// Host that advances the clock on each log call, as happens while the system suspends the thread.
struct TickingHost(Engine);

impl Host for TickingHost {
    fn log(&mut self, _: CallerScope, _: LogLevel, _: &[u8]) {
        (0..10).for_each(|_| self.0.tick());
    }
}

#[test]
fn time_without_a_processor_is_not_charged_to_the_module() {
    let imports = r#"(import "env" "proxy_log" (func $log (param i32 i32 i32) (result i32)))"#;
    let body = r#"(func (export "proxy_on_tick") (param i32) (local $left i32)
            (local.set $left (i32.const 50))
            (loop $next
                (drop (call $log (i32.const 2) (i32.const 0) (i32.const 1)))
                (br_if $next (local.tee $left (i32.sub (local.get $left) (i32.const 1))))))
        (func (export "proxy_on_queue_ready") (param i32 i32) (loop $l (br $l)))"#;
    let engine = engine(Allocation::OnDemand);
    let module = compile(&engine, imports, body, UnknownImports::Refuse).unwrap();
    let start = |cpu_tick| {
        let mut limits = WasmVmLimits::default();
        (limits.call_ticks_max, limits.cpu_tick) = (2, cpu_tick);
        let image = Image::link(&module, limits, Sandbox::default()).unwrap();
        let mut vm = image.instantiate(TickingHost(engine.clone())).unwrap();
        let plugin = vm.create_plugin().unwrap();
        (vm, plugin)
    };
    let (mut vm, plugin) = start(None);
    assert_eq!(
        vm.on_tick(plugin).unwrap_err().kind(),
        ModuleFaultKind::Deadline,
        "by the clock it took too long"
    );
    let (mut vm, plugin) = start(Some(Duration::from_millis(50)));
    vm.on_tick(plugin).unwrap();
    // An endless loop uses CPU time of its thread, and is stopped.
    let _ticker = engine.ticker(Duration::from_millis(1)).unwrap();
    assert_eq!(vm.on_queue_ready(plugin, QueueId(1)).unwrap_err().kind(), ModuleFaultKind::Deadline);
}

#[test]
fn the_last_output_of_a_module_is_not_lost() {
    let imports =
        r#"(import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))"#;
    let body = r#"(data (i32.const 0) "\10\00\00\00\05\00\00\00") (data (i32.const 16) "panic")
        (func (export "proxy_on_tick") (param i32)
          (drop (call $write (i32.const 2) (i32.const 0) (i32.const 1) (i32.const 8)))
          (unreachable))"#;
    let mut vm = machine(imports, body, WasmVmLimits::default());
    let plugin = vm.start_plugin(&Plugin::default()).unwrap();
    assert_eq!(vm.on_tick(plugin).unwrap_err().kind(), ModuleFaultKind::Trap);
    assert_eq!(vm.host().lines, ["panic"]);
}

#[test]
fn output_printed_during_allocation_is_logged_afterwards() {
    let text = r#"(module
        (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
        (import "env" "proxy_get_header_map_value" (func $get (param i32 i32 i32 i32 i32) (result i32)))
        (memory (export "memory") 1) (func (export "proxy_abi_version_0_2_1"))
        (data (i32.const 0) "\10\00\00\00\05\00\00\00") (data (i32.const 16) "gift\n") (data (i32.const 32) "key")
        (func (export "malloc") (param i32) (result i32)
          (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))) (i32.const 4096))
        (func (export "proxy_on_tick") (param i32)
          (if (call $get (i32.const 0) (i32.const 32) (i32.const 3) (i32.const 40) (i32.const 44))
            (then (unreachable)))))"#;
    let engine = engine(Allocation::OnDemand);
    let module = Module::compile(&engine, &wat::parse_str(text).unwrap(), UnknownImports::Refuse).unwrap();
    let image = Image::link(&module, WasmVmLimits::default(), Sandbox::default()).unwrap();
    let mut vm = image.instantiate(Keeper::default()).unwrap();
    let plugin = vm.start_plugin(&Plugin::default()).unwrap();
    vm.on_tick(plugin).unwrap();
    assert_eq!(vm.host().lines, ["gift"]);
}

#[test]
fn dropped_output_is_reported() {
    let imports =
        r#"(import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))"#;
    let body = r#"(data (i32.const 0) "\10\00\00\00\06\00\00\00") (data (i32.const 16) "12345\n")
        (func (export "proxy_on_tick") (param i32)
          (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))
          (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))))"#;
    let mut limits = WasmVmLimits::default();
    limits.printed_bytes_max = 8;
    let mut vm = machine(imports, body, limits);
    let plugin = vm.start_plugin(&Plugin::default()).unwrap();
    vm.on_tick(plugin).unwrap();
    assert_eq!(vm.host().lines, ["12345", "Warn Some(Tick) 4 bytes of module output were dropped"]);
}

#[test]
fn a_map_that_differs_from_its_announced_size_is_not_returned() {
    let imports = r#"(import "env" "proxy_get_header_map_pairs" (func $get (param i32 i32 i32) (result i32)))
        (import "env" "proxy_log" (func $log (param i32 i32 i32) (result i32)))"#;
    let body = r#"(data (i32.const 16) "refused")
        (func (export "proxy_on_tick") (param i32)
          (if (i32.eq (call $get (i32.const 0) (i32.const 0) (i32.const 4)) (i32.const 10))
            (then (drop (call $log (i32.const 2) (i32.const 16) (i32.const 7))))))"#;
    let mut vm = machine(imports, body, WasmVmLimits::default());
    let plugin = vm.start_plugin(&Plugin::default()).unwrap();
    vm.on_tick(plugin).unwrap();
    assert_eq!(vm.host().lines, ["Info Some(Tick) refused"]);
}

#[test]
fn a_module_can_refuse_to_run() {
    let body = r#"(func (export "proxy_on_configure") (param i32 i32) (result i32) (i32.const 0))"#;
    let refusal = machine("", body, WasmVmLimits::default()).start_plugin(&Plugin::default()).unwrap_err();
    assert!(matches!(refusal, PluginStartError::Configure), "{refusal}");
}

#[test]
fn compiled_code_is_kept() {
    let folder =
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("code-{}", std::process::id()));
    let mut settings = EngineSettings::default();
    settings.allocation = Allocation::OnDemand;
    settings.cache_folder = Some(folder.clone());
    let engine = Engine::new(settings.clone()).unwrap();
    compile(&engine, "", "", UnknownImports::Refuse).unwrap();
    assert!(std::fs::read_dir(&folder).unwrap().count() > 0);
    compile(&engine, "", "", UnknownImports::Refuse).unwrap();
    // The engine keeps its own record of the folder, and may still be writing to it.
    let _ = std::fs::remove_dir_all(&folder);
    settings.cache_folder = Some("relative".into());
    let error = Engine::new(settings).map(drop).unwrap_err();
    assert!(matches!(error, EngineError::Cache { .. }), "{error}");
}
