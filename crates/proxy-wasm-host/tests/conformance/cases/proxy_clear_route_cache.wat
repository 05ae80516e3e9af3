;; The route is chosen again.
;; covers: proxy_clear_route_cache
;; do: tick
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_clear_route_cache)))
;;> # tick
;;> 1: clear_route_cache
;;> tell 0
;;> = ()
