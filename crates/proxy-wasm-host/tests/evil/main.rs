//! Tests with malicious modules, which must not affect the host or other modules.
//!
//! Each module is run repeatedly; its outcome must be the same each time, and another VM must work correctly in
//! between. `cargo test -p proxy-wasm-host --test evil -- --ignored` runs each 10,000 times.

#![allow(clippy::unwrap_used, reason = "the functions that tests share may fail as the tests may")]
#![allow(clippy::panic, reason = "the functions that tests share may fail as the tests may")]

mod host;
mod modules;

use std::time::Duration;

use proxy_wasm_host::abi::{Action, FUNCTIONS, Number};
use proxy_wasm_host::{
    Engine, EngineSettings, Image, Module, ModuleError, ModuleFault, ModuleFaultKind, Plugin,
    PluginStartError, Rest, Sandbox, StartError, Ticker, UnknownImports, Vm, WasmVmLimits,
};

use host::EvilTestHost;
use modules::{EVIL, Evil, EvilOutcome, GOOD};

/// Engine with a deadline clock.
struct TickingEngine {
    engine: Engine,
    _ticker: Ticker,
}

impl TickingEngine {
    fn new() -> Self {
        let mut settings = EngineSettings::default();
        settings.memory_bytes_max = 2 << 20;
        settings.table_elements_max = 1_000;
        settings.allocation = proxy_wasm_host::Allocation::Pooled { instances_max: 8 };
        let engine = Engine::new(settings).unwrap();
        let ticker = engine.ticker(Duration::from_millis(1)).unwrap();
        Self { engine, _ticker: ticker }
    }

    /// Links a module. Ticks are milliseconds: few for modules that never return, and for the others more than they
    /// take under any load.
    fn image(&self, text: &str, ticks: u64) -> Result<Image<EvilTestHost>, ModuleError> {
        let code = wat::parse_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let module = Module::compile(&self.engine, &code, UnknownImports::Refuse)?;
        let mut limits = WasmVmLimits::default();
        limits.call_ticks_max = ticks;
        limits.start_ticks_max = ticks;
        limits.memory_bytes_max = 1 << 20;
        limits.table_elements_max = 1_000;
        limits.value_bytes_max = 1 << 20;
        Image::link(&module, limits, Sandbox::default())
    }
}

/// Checks that a correct module still works, in another VM than the malicious one.
fn check_healthy_vm(good: &mut Vm<EvilTestHost>) {
    let plugin = proxy_wasm_host::ContextId(1);
    let stream = good.create_stream(plugin).unwrap();
    assert_eq!(good.on_request_headers(stream, 1, Rest::End).unwrap(), Action::Continue);
    assert_eq!(good.host_mut().added.pop().unwrap(), b"value");
    assert!(good.end(stream).unwrap());
}

fn start_healthy_vm(site: &TickingEngine) -> Vm<EvilTestHost> {
    let mut good = site.image(GOOD, LONG).unwrap().instantiate(EvilTestHost::default()).unwrap();
    good.start_plugin(&Plugin::default()).unwrap();
    good
}

/// Returns the outcome of a malicious module.
fn run(image: &Image<EvilTestHost>) -> EvilOutcome {
    let mut vm = match image.instantiate(EvilTestHost::default()) {
        Ok(vm) => vm,
        Err(StartError::Fault(fault)) => return EvilOutcome::Fault(fault.kind()),
        Err(StartError::Limits { .. }) => return EvilOutcome::NoInstance,
        Err(error @ StartError::Busy { .. }) => panic!("{error}"),
    };
    let fault = match call(&mut vm) {
        Ok(action) => return EvilOutcome::Lives(action, vm.host().says),
        Err(PluginStartError::Fault(fault)) => fault,
        Err(refusal) => panic!("{refusal}"),
    };
    check_failed_vm(&mut vm);
    EvilOutcome::Fault(fault.kind())
}

fn call(vm: &mut Vm<EvilTestHost>) -> Result<Action, PluginStartError> {
    let plugin = vm.start_plugin(&Plugin { configuration: b"x"[..].into(), ..Plugin::default() })?;
    let stream = vm.create_stream(plugin)?;
    let action = vm.on_request_headers(stream, 1, Rest::End)?;
    vm.end(stream)?;
    Ok(action)
}

/// Checks that a failed VM refuses calls.
fn check_failed_vm(vm: &mut Vm<EvilTestHost>) {
    assert!(vm.fault().is_some());
    let again = vm.on_tick(proxy_wasm_host::ContextId(1)).map_err(|fault: ModuleFault| fault.kind());
    assert_eq!(again, Err(ModuleFaultKind::Dead));
}

fn run_evil(evil: &Evil, site: &TickingEngine, good: &mut Vm<EvilTestHost>, rounds: usize) {
    let ticks = if evil.outcome == EvilOutcome::Fault(ModuleFaultKind::Deadline) { 3 } else { LONG };
    let image = match site.image(evil.text, ticks) {
        Ok(image) => image,
        Err(error) => {
            assert_eq!(EvilOutcome::Refused, evil.outcome, "{}: {error}", evil.name);
            return;
        }
    };
    for round in 0..rounds {
        assert_eq!(run(&image), evil.outcome, "{}, round {round}", evil.name);
        check_healthy_vm(good);
    }
}

#[test]
fn a_hostile_module_affects_only_itself() {
    let site = TickingEngine::new();
    let mut good = start_healthy_vm(&site);
    for evil in EVIL {
        run_evil(evil, &site, &mut good, 50);
    }
}

#[test]
#[ignore = "takes minutes: 10,000 times each"]
fn a_hostile_module_affects_only_itself_in_every_run() {
    let site = TickingEngine::new();
    let mut good = start_healthy_vm(&site);
    for evil in EVIL {
        run_evil(evil, &site, &mut good, 10_000);
    }
}

/// Calls every host function with invalid numbers: there is no fault, and no call succeeds where a valid address is
/// needed.
#[test]
fn invalid_numbers_are_handled_safely() {
    let site = TickingEngine::new();
    let mut good = start_healthy_vm(&site);
    for number in [0_u32, 1, 65_535, 65_536, 0x7fff_ffff, 0xffff_fff0, u32::MAX] {
        let image = site.image(&every_function(number), LONG).unwrap();
        for _ in 0..50 {
            match run(&image) {
                EvilOutcome::Lives(Action::Continue, _) => {}
                outcome @ (EvilOutcome::Refused
                | EvilOutcome::NoInstance
                | EvilOutcome::Fault(_)
                | EvilOutcome::Lives(..)) => {
                    panic!("{outcome:?} with {number}")
                }
            }
            check_healthy_vm(&mut good);
        }
    }
}

/// Returns a module that calls every host function except those that end it, with this number in every argument.
fn every_function(number: u32) -> String {
    let functions = || FUNCTIONS.iter().filter(|function| function.name != "proc_exit");
    let imports: String = functions()
        .map(|function| {
            let params: Vec<&str> = function.params.iter().map(|number| type_of(*number)).collect();
            let result = if function.has_result { "(result i32)" } else { "" };
            let (module, name) = (function.family.modules()[0], function.name);
            format!("(import \"{module}\" \"{name}\" (func ${name} (param {}) {result}))\n", params.join(" "))
        })
        .collect();
    let calls: String = functions()
        .map(|function| {
            let arguments: Vec<String> =
                function.params.iter().map(|kind| format!("({}.const {number})", type_of(*kind))).collect();
            let call = format!("(call ${} {})", function.name, arguments.join(" "));
            if function.has_result { format!("(drop {call})\n") } else { format!("{call}\n") }
        })
        .collect();
    format!(
        "(module {imports} (memory (export \"memory\") 1)
        (func (export \"proxy_abi_version_0_2_1\"))
        (func (export \"malloc\") (param i32) (result i32) (i32.const {number}))
        (func (export \"proxy_on_request_headers\") (param i32 i32 i32) (result i32) {calls} (i32.const 0)))"
    )
}

fn type_of(number: Number) -> &'static str {
    match number {
        Number::I32 => "i32",
        Number::I64 => "i64",
    }
}

const LONG: u64 = 60_000;
