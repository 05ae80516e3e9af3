;; There are no signals; giving way is nothing.
;; covers: proc_raise, sched_yield
;; do: tick
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proc_raise (i32.const 9)))
  (call $tell (call $sched_yield)))
;;> # tick
;;> tell 52
;;> tell 0
;;> = ()
