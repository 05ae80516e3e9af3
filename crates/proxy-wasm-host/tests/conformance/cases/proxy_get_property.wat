;; A property by its path, whose segments are parted by zero bytes.
;; covers: proxy_get_property, proxy_on_memory_allocate
;; do: tick
(data (i32.const 16) "plugin\00name")
(func (export "proxy_on_tick") (param i32)
  (call $value (call $proxy_get_property (i32.const 16) (i32.const 11) (i32.const 0) (i32.const 4)))
  (call $value (call $proxy_get_property (i32.const 16) (i32.const 4) (i32.const 0) (i32.const 4)))
  (call $value (call $proxy_get_property (i32.const 65535) (i32.const 4) (i32.const 0) (i32.const 4))))
;;> # tick
;;> tell 0
;;> show "conformance"
;;> tell 1
;;> tell 6
;;> = ()
