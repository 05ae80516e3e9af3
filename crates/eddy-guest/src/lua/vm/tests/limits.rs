//! Tests of CPU time and memory limits.

use std::time::Duration;

use super::support::{run, vm};
use crate::lua::vm::alarm::cpu_time;
use crate::lua::vm::{Vm, VmFault, VmLimits};

#[test]
fn a_script_runs() {
    let mut vm = vm();
    assert_eq!(run(&mut vm, "n = (n or 0) + 1; return n .. _VERSION"), Ok("1Lua 5.1".to_owned()));
    assert_eq!(run(&mut vm, "n = (n or 0) + 1; return n"), Ok("2".to_owned()));
    assert!(vm.used_bytes() < 256 << 10, "{}", vm.used_bytes());
}

#[test]
fn an_endless_loop_is_stopped() {
    let mut vm = vm();
    for script in
        ["while true do end", "local function f() return f() end f()", "while true do pcall(error) end"]
    {
        let before = cpu_time();
        assert_eq!(run(&mut vm, script), Err(VmFault::Cpu(Duration::from_millis(10))), "{script}");
        let took = cpu_time() - before;
        assert!(took < Duration::from_millis(15), "{script}: {took:?}");
        assert!(!vm.is_exhausted());
        assert_eq!(run(&mut vm, "return 7"), Ok("7".to_owned()));
    }
}

#[test]
fn memory_is_bounded() {
    let limits = VmLimits { cpu: Duration::from_mins(1), ..VmLimits::default() };
    let mut vm = Vm::new(&limits).expect("a machine");
    let outcome = run(&mut vm, "local t = {} for i = 1, 40 do t[i] = ('x'):rep(1048576) .. i end");
    assert_eq!(outcome, Err(VmFault::Memory { all: 32 << 20, one: 2 << 20 }));
    assert!(vm.is_exhausted());
    assert!(vm.used_bytes() <= 32 << 20);
}

#[test]
fn a_value_is_bounded() {
    let mut vm = vm();
    assert_eq!(run(&mut vm, "local s = ('x'):rep(1048576) return #(s .. 'y')").as_deref(), Ok("1048577"));
    let outcome = run(&mut vm, "local s = ('x'):rep(1048576) return #(s .. s .. s)");
    assert_eq!(outcome, Err(VmFault::Memory { all: 32 << 20, one: 2 << 20 }));
    assert!(vm.used_bytes() < 8 << 20);
}
