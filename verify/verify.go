// Package verify runs checks of something that is set up, and reports what they
// find. It knows nothing of what is checked: the checks are packages below.
package verify

import (
	"context"
	"fmt"
	"time"
)

// Status is what a check found.
type Status string

// The statuses. Only Fail and Unknown count for the exit code.
const (
	Pass Status = "pass"
	Warn Status = "warn"
	Fail Status = "fail"
	// Skip says that the check does not apply, or that nobody gave its input.
	Skip Status = "skip"
	// Unknown says that the check could not decide.
	Unknown Status = "unknown"
)

// Finding is one thing that a check found.
type Finding struct {
	// ID and Check are those of the check; Run fills them in.
	ID     string `json:"id"`
	Check  string `json:"check"`
	Status Status `json:"status"`
	// Target is the unit or path that the finding is about; empty where it is
	// about the whole.
	Target string `json:"target,omitempty"`
	// Evidence is what was seen. It holds no secret.
	Evidence string `json:"evidence"`
	// Remedy is what to paste. Where the finding has none and is not good, it
	// is the remedy of the check.
	Remedy string `json:"remedy,omitempty"`
}

// DefaultLimit bounds a check that has no limit of its own.
const DefaultLimit = 15 * time.Second

// Check looks at one thing.
type Check struct {
	// ID never changes its meaning; Title is a few words.
	ID, Title string
	// Fails says in words what makes it fail, and Remedy what to do then.
	Fails, Remedy string
	// Limit bounds the time; 0 is DefaultLimit.
	Limit time.Duration
	// Run returns at least one finding: a check that says nothing is unknown.
	Run func(context.Context) []Finding
}

// Run runs the checks one after the other and keeps their order. A check that
// panics, exceeds its time or finds nothing is unknown, never a pass. Before
// each check tell is called with it, if it is set.
func Run(ctx context.Context, checks []Check, tell func(Check)) Report {
	r := Report{APIVersion: APIVersion, Kind: Kind, Findings: []Finding{}}
	for _, c := range checks {
		if tell != nil {
			tell(c)
		}
		for _, f := range c.findings(ctx) {
			r.add(c, f)
		}
	}
	return r
}

// findings runs one check within its time.
func (c Check) findings(ctx context.Context) []Finding {
	limit := c.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	if ctx.Err() != nil {
		return unknown("it was not run: %v", ctx.Err())
	}
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan []Finding, 1) // the check may outlive its time
	go func() { done <- c.protected(within) }()
	select {
	case found := <-done:
		return found
	case <-within.Done():
	}
	select { // what was found at the last moment counts
	case found := <-done:
		return found
	default:
	}
	if ctx.Err() != nil {
		return unknown("it was stopped: %v", ctx.Err())
	}
	return unknown("it did not end within %s", limit)
}

// protected turns a panic into a finding.
func (c Check) protected(ctx context.Context) (found []Finding) {
	defer func() {
		if p := recover(); p != nil {
			found = unknown("the check broke: %v", p)
		}
	}()
	if found = c.Run(ctx); len(found) == 0 {
		return unknown("the check says nothing")
	}
	return found
}

func unknown(format string, args ...any) []Finding {
	return []Finding{{Status: Unknown, Evidence: fmt.Sprintf(format, args...), Remedy: "run eksproxy verify again; report it where it stays so"}}
}
