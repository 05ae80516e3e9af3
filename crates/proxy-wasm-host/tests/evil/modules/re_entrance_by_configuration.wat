;; It asks for its configuration while it is asked for the memory of that, and so on.
(module
  (import "env" "proxy_log" (func $log (param i32 i32 i32) (result i32)))
  (import "env" "proxy_get_buffer_bytes" (func $get (param i32 i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "proxy_abi_version_0_2_1"))
  (func (export "proxy_on_memory_allocate") (param i32) (result i32)
    (i32.store (i32.const 1024)
      (call $get (i32.const 7) (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 4)))
    (i32.const 4096))
  (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
    (drop (call $get (i32.const 7) (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 4)))
    (drop (call $log (i32.const 2) (i32.const 1024) (i32.const 4)))
    (i32.const 0)))
