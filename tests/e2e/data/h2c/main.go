// Command h2c serves HTTP/2 in the clear with Go's own net/http: it sends back what it is sent, trailers too. It writes
// the line "listening ADDRESS".
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
)

func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		// The client has gone, or takes its request back.
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Trailer", "X-Sum")
	w.Header().Set("X-Proto", fmt.Sprintf("%s %s %s", r.Proto, r.Host, r.Header.Get("Te")))
	_, _ = w.Write(body)
	w.Header().Set("X-Sum", r.Trailer.Get("X-Sum"))
}

func main() {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{Handler: http.HandlerFunc(echo), Protocols: protocols}
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening", listener.Addr())
	log.Fatal(server.Serve(listener))
}
