;; Contexts end, the stream first.
;; covers: proxy_on_done
;; do: end, end_plugin
(func (export "proxy_on_done") (param i32) (result i32)
  (call $tell (local.get 0))
  (i32.const 1))
;;> # end
;;> tell 2
;;> 2: context_deleted
;;> = true
;;> # end_plugin
;;> tell 1
;;> 1: context_deleted
;;> = true
