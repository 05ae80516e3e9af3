// Program differential reads byte strings as HTTP/1.1 requests with net/http and tells what it saw.
//
// Each line of standard input is a JSON object with the bytes in base64; each line of the output lists the whole
// messages that were read from them and the error that ended the reading, if one did.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
)

type question struct {
	Raw []byte `json:"raw"`
}

type message struct {
	Method string `json:"method"`
	Target string `json:"target"`
	Host   string `json:"host"`
	Body   []byte `json:"body"`
}

type answer struct {
	Messages []message `json:"messages"`
	Error    string    `json:"error"`
}

func main() {
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 64<<20)
	output := json.NewEncoder(os.Stdout)
	for input.Scan() {
		var asked question
		if err := json.Unmarshal(input.Bytes(), &asked); err != nil {
			os.Exit(2)
		}
		if err := output.Encode(read(asked.Raw)); err != nil {
			os.Exit(2)
		}
	}
}

func read(raw []byte) answer {
	seen := answer{Messages: []message{}}
	reader := bufio.NewReader(bytes.NewReader(raw))
	for {
		request, err := http.ReadRequest(reader)
		if errors.Is(err, io.EOF) {
			return seen
		}
		if err != nil {
			seen.Error = err.Error()
			return seen
		}
		body, err := io.ReadAll(request.Body)
		if err != nil {
			seen.Error = err.Error()
			return seen
		}
		seen.Messages = append(seen.Messages, message{request.Method, request.RequestURI, request.Host, body})
	}
}
