// A program of Go that uses a library of Rust: `words LIBRARY TEXT`. `eddy-bridge generate ../src/words.rs --go .
// --package main` has made the other file.
package main

import (
	"context"
	"fmt"
	"os"

	bridge "github.com/eddy-gateway/eddy/bridge/go"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: words LIBRARY TEXT")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(library, text string) error {
	rust, err := bridge.Open(library)
	if err != nil {
		return err
	}
	words, err := BindWords(rust)
	if err != nil {
		return err
	}
	count, err := words.Count(text)
	if err != nil {
		return err
	}
	fmt.Println("words:", count)
	summary, err := words.Summary(text)
	if err != nil {
		return err
	}
	longest, _ := summary.Longest.Get()
	fmt.Println("each:", summary.Counts)
	fmt.Println("longest:", longest)
	later, err := words.CountLater(context.Background(), text)
	fmt.Println("later:", later)
	return err
}
