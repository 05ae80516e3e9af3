;; The plugin and its stream are made, each with its parent.
;; covers: proxy_on_context_create
;; do: 
(func (export "proxy_on_context_create") (param i32 i32)
  (call $tell (local.get 0))
  (call $tell (local.get 1)))
;;> tell 1
;;> tell 0
;;> tell 2
;;> tell 1
