;; The machine starts with so many bytes of configuration.
;; covers: proxy_on_vm_start
;; do: 
(func (export "proxy_on_vm_start") (param i32 i32) (result i32)
  (call $tell (local.get 0))
  (call $tell (local.get 1))
  (i32.const 1))
;;> tell 1
;;> tell 28
