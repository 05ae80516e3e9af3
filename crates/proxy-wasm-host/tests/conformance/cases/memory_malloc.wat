;; Where `proxy_on_memory_allocate` is missing, `malloc` gives memory.
;; covers: malloc
;; do: tick
(func (export "malloc") (param i32) (result i32) (call $tell (local.get 0)) (i32.const 8192))
(func (export "proxy_on_tick") (param i32)
  (call $value (call $proxy_get_property (i32.const 16) (i32.const 11) (i32.const 0) (i32.const 4))))
(data (i32.const 16) "plugin\00name")
;;> # tick
;;> tell 0
;;> show "conformance"
;;> = ()
