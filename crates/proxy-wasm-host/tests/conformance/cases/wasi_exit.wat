;; A module that ends itself is at fault, and its machine is dead.
;; covers: proc_exit
;; do: tick, tick
(func (export "proxy_on_tick") (param i32)
  (call $tell (i32.const 1))
  (call $proc_exit (i32.const 3)))
;;> # tick
;;> tell 1
;;> = fault Exit(3)
;;> # tick
;;> = Dead
