//! Tests of the libraries that a script and the host can access.

use mlua_sys as ffi;

use super::support::{run, vm};
use crate::lua::vm::{Allowed, Vm, VmLimits};

#[test]
fn additional_libraries_are_available_if_allowed() {
    let script = "return table.concat({type(os), type(io), type(require), type(package)}, ' ')";
    assert_eq!(run(&mut vm(), script), Ok("nil nil function nil".to_owned()));
    let allowed = |allow| Vm::new(&VmLimits { allow, ..VmLimits::default() }).expect("a machine");
    let mut every = allowed(Allowed { os: true, io: true, package: true, ffi: true });
    assert_eq!(run(&mut every, script), Ok("table table function table".to_owned()));
    assert_eq!(run(&mut every, "return type(os.exit)"), Ok("nil".to_owned()));
    let mut trusted = allowed(Allowed { ffi: true, ..Allowed::default() });
    assert_eq!(run(&mut trusted, script), Ok("nil nil function nil".to_owned()));
    assert_eq!(run(&mut trusted, "return require('ffi').sizeof('int')"), Ok("4".to_owned()));
}

#[test]
fn require_returns_only_available_libraries() {
    let own = "for _, name in ipairs({ 'bit', 'coroutine', 'math', 'string', 'table' }) do
        assert(require(name) == _G[name] and type(_G[name]) == 'table', name)
      end
      return require('bit').band(6, 3)";
    assert_eq!(run(&mut vm(), own), Ok("2".to_owned()));
    for name in ["'ffi'", "'os'", "'io'", "'jit'", "'debug'", "'package'", "'a.b'", "nil", "{}", "'_G'"] {
        let fault = run(&mut vm(), &format!("local found = require({name}) return found"))
            .expect_err(name)
            .to_string();
        let expected = "script:1: require: \"";
        assert!(fault.starts_with(expected) && fault.contains("add `package` to `allow`"), "{fault}");
    }
}

#[test]
fn a_host_chunk_sees_every_library() {
    let mut vm = vm();
    vm.load_host(c"=host", "return ffi.sizeof('int') + jit.version_num % 1").expect("it is valid");
    let state = vm.state();
    assert_eq!(vm.call(0, 1), Ok(()));
    // SAFETY: there is one value.
    assert_eq!(unsafe { ffi::lua_tonumber(state, -1) }, 4.0);
}
