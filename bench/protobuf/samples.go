package main

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/eddy-gateway/eddy/bench/protobuf/gen/open"
)

// sample is a message on the wire.
type sample struct {
	name  string
	bytes []byte
	// isPublished tells the two types apart.
	isPublished bool
}

// samples are those of the crate's own benchmark.
func samples() ([]sample, error) {
	marshal := proto.MarshalOptions{Deterministic: true}
	published, err := marshal.Marshal(&open.Published{
		Recvtime: 170123456,
		Uniqueid: "a1b2c3d4e5f6g7h8i9",
		Token:    "xxxx-1111-yyyy-2222-zzzz-3333",
		Phone:    "13900010002",
		Content:  strings.Repeat("A text of some length, as it stands in messages that people send each other. ", 4)[:270],
		Sign:     "tonybaiXZYDFDS",
		Type:     "submit",
		Version:  "v1.0.0",
	})
	if err != nil {
		return nil, err
	}
	all := []sample{{name: "published", bytes: published, isPublished: true}}
	for _, size := range []struct {
		name  string
		bytes int
	}{{"10 KiB", 10 << 10}, {"1 MiB", 1 << 20}} {
		catalog := &open.Catalog{Name: "spring"}
		for proto.Size(catalog) < size.bytes {
			missing := max((size.bytes-proto.Size(catalog))/400, 1)
			for range missing {
				catalog.Items = append(catalog.Items, item(len(catalog.Items)))
			}
		}
		bytes, err := marshal.Marshal(catalog)
		if err != nil {
			return nil, err
		}
		all = append(all, sample{name: size.name, bytes: bytes})
	}
	return all, nil
}

func item(number int) *open.Item {
	small := int32(number % 1000)
	return &open.Item{
		Id:        fmt.Sprintf("item-%08d", number),
		Title:     "A garden chair of oak, oiled, with a cushion in one of seven colours",
		Stock:     int64(small) * 37,
		Price:     float64(small) + 0.25,
		Status:    small % 3,
		IsNew:     small%2 == 0,
		Tags:      []string{"garden", "oak", "chairs and tables"},
		Sizes:     []int32{small, 300, 75, 120},
		Size:      &open.Size{Width: 45.5, Height: 90 + float64(small)/8},
		Created:   &open.Instant{Seconds: 1700000000 + int64(small), Nanos: 500000000},
		Labels:    map[string]string{"colour": "green", "origin": "somewhere in the north"},
		Thumbnail: []byte(strings.Repeat("\xa5", 48)),
	}
}
