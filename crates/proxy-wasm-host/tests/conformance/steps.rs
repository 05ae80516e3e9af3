//! Steps of a test case.

use std::fmt::Debug;
use std::sync::Arc;

use proxy_wasm_host::abi::{AbiVersion, PeerType};
use proxy_wasm_host::{
    CallId, ContextId, Engine, Image, Module, ModuleFault, ModuleFaultKind, Plugin, PluginStartError,
    QueueId, Rest, Sandbox, UnknownImports, Vm, WasmVmLimits,
};

use crate::case::ProxyWasmCase;
use crate::recorder::{Recorder, StillClock};

/// Runs a case and returns its journal.
pub(crate) fn run(engine: &Engine, case: &ProxyWasmCase, version: AbiVersion) -> Vec<String> {
    let module = Module::compile(engine, &case.module(version), UnknownImports::Refuse)
        .unwrap_or_else(|error| panic!("{}: {error}", case.name));
    assert_eq!(module.abi_version(), version);
    let mut sandbox = Sandbox::default();
    sandbox.environment = vec![
        ("NAME".to_owned(), "value".to_owned()),
        ("A=B".to_owned(), "dropped".to_owned()),
        ("X".to_owned(), String::new()),
    ];
    sandbox.clock = Arc::new(StillClock);
    let image = Image::<Recorder>::link(&module, WasmVmLimits::default(), sandbox).unwrap();
    let mut vm = image.instantiate(Recorder::new()).unwrap();
    let plugin = Plugin {
        vm_configuration: Arc::from(&b"configuration of the machine"[..]),
        configuration: Arc::from(&b"configuration of the plugin"[..]),
    };
    match vm.start_plugin(&plugin) {
        Ok(id) => assert_eq!(id, PLUGIN),
        Err(refusal @ (PluginStartError::VmStart | PluginStartError::Configure)) => {
            vm.host_mut().journal.push(format!("= {refusal:?}"));
            return std::mem::take(&mut vm.host_mut().journal);
        }
        Err(PluginStartError::Fault(fault)) => panic!("{}: {fault}", case.name),
    }
    assert_eq!(vm.create_stream(PLUGIN).unwrap(), STREAM);
    for step in &case.steps {
        vm.host_mut().journal.push(format!("# {step}"));
        let result = take(&mut vm, step);
        vm.host_mut().journal.push(result);
    }
    std::mem::take(&mut vm.host_mut().journal)
}

fn take(vm: &mut Vm<Recorder>, step: &str) -> String {
    let words: Vec<&str> = step.split(' ').collect();
    let number = |index: usize| words[index].parse::<usize>().unwrap();
    let id = |index: usize| words[index].parse::<u32>().unwrap();
    let rest = |index: usize| Rest::of_end(words[index] == "end");
    let call = |index: usize| CallId(id(index));
    let peer = |index: usize| PeerType::from_wire(id(index)).unwrap();
    match words[0] {
        "end" => show(vm.end(STREAM)),
        "end_plugin" => show(vm.end(PLUGIN)),
        "tick" => show(vm.on_tick(PLUGIN)),
        "new_connection" => show(vm.on_new_connection(STREAM)),
        "downstream_data" => show(vm.on_downstream_data(STREAM, number(1), rest(2))),
        "downstream_connection_close" => show(vm.on_downstream_connection_close(STREAM, peer(1))),
        "upstream_data" => show(vm.on_upstream_data(STREAM, number(1), rest(2))),
        "upstream_connection_close" => show(vm.on_upstream_connection_close(STREAM, peer(1))),
        "request_headers" => show(vm.on_request_headers(STREAM, number(1), rest(2))),
        "request_body" => show(vm.on_request_body(STREAM, number(1), rest(2))),
        "request_trailers" => show(vm.on_request_trailers(STREAM, number(1))),
        "response_headers" => show(vm.on_response_headers(STREAM, number(1), rest(2))),
        "response_body" => show(vm.on_response_body(STREAM, number(1), rest(2))),
        "response_trailers" => show(vm.on_response_trailers(STREAM, number(1))),
        "http_call_response" => {
            show(vm.on_http_call_response(PLUGIN, call(1), number(2), number(3), number(4)))
        }
        "grpc_receive_initial_metadata" => {
            show(vm.on_grpc_receive_initial_metadata(PLUGIN, call(1), number(2)))
        }
        "grpc_receive" => show(vm.on_grpc_receive(PLUGIN, call(1), number(2))),
        "grpc_receive_trailing_metadata" => {
            show(vm.on_grpc_receive_trailing_metadata(PLUGIN, call(1), number(2)))
        }
        "grpc_close" => show(vm.on_grpc_close(PLUGIN, call(1), id(2))),
        "queue_ready" => show(vm.on_queue_ready(PLUGIN, QueueId(id(1)))),
        "foreign_function" => show(vm.on_foreign_function(PLUGIN, id(1), words[2].as_bytes())),
        other => panic!("there is no step `{other}`"),
    }
}

fn show(result: Result<impl Debug, ModuleFault>) -> String {
    match result {
        Ok(value) => format!("= {value:?}"),
        Err(fault) if fault.kind() == ModuleFaultKind::Dead => "= Dead".to_owned(),
        Err(fault) => format!("= fault {:?}", fault.kind()),
    }
}

const PLUGIN: ContextId = ContextId(1);
const STREAM: ContextId = ContextId(2);
