;; A context may say from within that it is done.
;; covers: proxy_done, proxy_on_done, proxy_on_log, proxy_on_delete
;; do: end
(func (export "proxy_on_done") (param i32) (result i32) (call $tell (call $proxy_done)) (i32.const 0))
(func (export "proxy_on_log") (param i32) (call $tell (local.get 0)))
(func (export "proxy_on_delete") (param i32) (call $tell (local.get 0)))
;;> # end
;;> tell 0
;;> tell 2
;;> tell 2
;;> 2: context_deleted
;;> = true
