module github.com/eddy-gateway/eddy/crates/eddy-io/benches/pipes

go 1.24
