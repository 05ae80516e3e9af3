// A library of Go that a program of Rust uses. `eddy-bridge generate ../src/prices.rs --go . --package main` has made
// the other file.
package main

import (
	"context"
	"fmt"
	"time"

	bridge "github.com/eddy-gateway/eddy/bridge/go"
)

func main() {}

func init() { RegisterPrices(list{"apple": 30, "pear": 45}) }

// list has the price of one of each article, in cents.
type list map[string]uint64

func (l list) Price(order *Order) (Price, error) {
	// The article is Rust's: it may be looked up, but what lives on would be a clone of it.
	one, ok := l[order.Article.View()]
	if !ok {
		return Price{}, fmt.Errorf("%s has no price", order.Article)
	}
	cents := one * uint64(order.Count)
	return Price{Cents: cents, Text: fmt.Sprintf("%d.%02d", cents/100, cents%100)}, nil
}

func (l list) Ask(ctx context.Context, article bridge.Str) (uint64, error) {
	select {
	case <-time.After(10 * time.Millisecond):
		return l[article.View()], nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}
