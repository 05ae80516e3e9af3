;; What is done is told.
;; covers: proxy_on_log
;; do: end, end_plugin
(func (export "proxy_on_log") (param i32)
  (call $tell (local.get 0)))
;;> # end
;;> tell 2
;;> 2: context_deleted
;;> = true
;;> # end_plugin
;;> tell 1
;;> 1: context_deleted
;;> = true
