module example.com/eddy-protobuf-reference

go 1.25

require google.golang.org/protobuf v1.36.12
