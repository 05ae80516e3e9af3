;; A period is over.
;; covers: proxy_on_tick
;; do: tick
(func (export "proxy_on_tick") (param i32)
  (call $tell (local.get 0)))
;;> # tick
;;> tell 1
;;> = ()
