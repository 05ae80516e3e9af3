;; Reads a field and adds its value again.
(module
  (import "env" "proxy_get_header_map_value" (func $get (param i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_add_header_map_value" (func $add (param i32 i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 16) "key")
  (func (export "proxy_abi_version_0_2_1"))
  (func (export "proxy_on_memory_allocate") (param i32) (result i32) (i32.const 4096))
  (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
    (drop (call $get (i32.const 0) (i32.const 16) (i32.const 3) (i32.const 0) (i32.const 4)))
    (drop (call $add (i32.const 0) (i32.const 16) (i32.const 3) (i32.load (i32.const 0)) (i32.load (i32.const 4))))
    (i32.const 0)))
