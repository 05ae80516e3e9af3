;; The configuration of the machine while it starts, of the plugin afterwards.
;; covers: proxy_get_configuration
;; do: 
(func (export "proxy_on_vm_start") (param i32 i32) (result i32)
  (call $value (call $proxy_get_configuration (i32.const 0) (i32.const 4)))
  (i32.const 1))
(func (export "proxy_on_configure") (param i32 i32) (result i32)
  (call $value (call $proxy_get_configuration (i32.const 0) (i32.const 4)))
  (call $tell (call $proxy_get_configuration (i32.const 65533) (i32.const 4)))
  (i32.const 1))
;;> tell 0
;;> show "configuration of the machine"
;;> tell 0
;;> show "configuration of the plugin"
;;> tell 6
