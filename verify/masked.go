package verify

import (
	"context"
	"fmt"
	"strings"
)

// Masked is a run whose findings say nothing that mask hides, a panic neither.
func Masked(mask func(string) string, run func(context.Context) []Finding) func(context.Context) []Finding {
	return func(ctx context.Context) []Finding {
		defer func() {
			if p := recover(); p != nil {
				panic(mask(fmt.Sprint(p))) // the engine reports it
			}
		}()
		found := run(ctx)
		for i, f := range found {
			found[i].Target, found[i].Evidence, found[i].Remedy = mask(f.Target), mask(f.Evidence), mask(f.Remedy)
		}
		return found
	}
}

// Printable writes control characters as a person reads them, so that a line end
// cannot tear a password out of its URL before it is masked.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r <= 0x9f {
			return '\u2423' // an open box
		}
		return r
	}, text)
}
