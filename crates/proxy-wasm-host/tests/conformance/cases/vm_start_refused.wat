;; A module may refuse the configuration of its machine.
;; covers: proxy_on_vm_start
;; do: 
(func (export "proxy_on_vm_start") (param i32 i32) (result i32)
  (call $tell (local.get 0))
  (call $tell (local.get 1))
  (i32.const 0))
;;> tell 1
;;> tell 28
;;> = VmStart
