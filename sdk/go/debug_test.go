//go:build eddydebug

package eddy_test

import (
	"strings"
	"testing"

	"github.com/eddy-gateway/eddy/sdk/go"
)

func TestViewsKeptTooLongAreDetected(t *testing.T) {
	var kept *eddy.Exchange
	var view string
	g := serve(t, &hooks{head: func(x *eddy.Exchange) eddy.Verdict {
		kept, view = x, x.Request().Get(eddy.Cookie)
		if view != "secret" {
			t.Errorf("within the hook it is %q", view)
		}
		x.Request().SetByName("x-a", view)
		return eddy.Continue
	}})
	if r := g.Get("/").Header("cookie", "secret").Do(); r.Forwarded.Get("x-a") != "secret" {
		t.Error(r)
	}
	if view != "!!!!!!" {
		t.Errorf("the view is still %q", view)
	}
	defer func() {
		if r, _ := recover().(string); !strings.Contains(r, "after its hook") {
			t.Errorf("the exchange can still be used: %v", r)
		}
	}()
	kept.Request().Method()
}
