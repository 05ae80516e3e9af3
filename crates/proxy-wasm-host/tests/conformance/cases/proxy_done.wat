;; A context that wants to wait is finished when it says that it is done, and not before; one that does not wait has nothing to say.
;; covers: proxy_done, proxy_on_done, proxy_on_log, proxy_on_delete
;; do: tick, end, tick
(func (export "proxy_on_done") (param i32) (result i32) (call $tell (local.get 0)) (i32.const 0))
(func (export "proxy_on_log") (param i32) (call $tell (local.get 0)))
(func (export "proxy_on_delete") (param i32) (call $tell (local.get 0)))
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_done))
  (drop (call $proxy_set_effective_context (i32.const 2)))
  (call $tell (call $proxy_done)))
;;> # tick
;;> tell 1
;;> tell 1
;;> = ()
;;> # end
;;> tell 2
;;> = false
;;> # tick
;;> tell 1
;;> tell 0
;;> tell 2
;;> tell 2
;;> 2: context_deleted
;;> = ()
