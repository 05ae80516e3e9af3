;; The function for more of a response is known by name only: the module is loaded, and a call is unimplemented.
;; covers: proxy_inject_encoded_data_to_filter_chain
;; do: tick
(data (i32.const 16) "text")
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_inject_encoded_data_to_filter_chain (i32.const 16) (i32.const 4) (i32.const 0))))
;;> # tick
;;> 1: unsupported proxy_inject_encoded_data_to_filter_chain
;;> tell 12
;;> = ()
