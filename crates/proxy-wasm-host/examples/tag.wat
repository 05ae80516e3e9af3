;; Adds the field x-tag with the path of the request.
(module
  (import "env" "proxy_get_header_map_value"
    (func $get (param i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_add_header_map_value"
    (func $add (param i32 i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 16) ":path")
  (data (i32.const 32) "x-tag")
  (global $next (mut i32) (i32.const 1024))
  (func (export "proxy_abi_version_0_2_1"))
  (func (export "proxy_on_memory_allocate") (param $size i32) (result i32)
    (global.get $next)
    (global.set $next (i32.add (global.get $next) (local.get $size))))
  (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
    ;; The value's address comes to 0, its length to 4.
    (drop (call $get (i32.const 0) (i32.const 16) (i32.const 5) (i32.const 0) (i32.const 4)))
    (drop (call $add (i32.const 0) (i32.const 32) (i32.const 5) (i32.load (i32.const 0)) (i32.load (i32.const 4))))
    (i32.const 0)))
