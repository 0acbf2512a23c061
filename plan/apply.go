package plan

import (
	"context"
	"fmt"
)

// Applier carries out one change. It is called for pending changes only, one
// at a time, in the plan's order.
type Applier interface {
	Apply(ctx context.Context, c Change) error
}

// Outcome says how far a plan was carried out.
type Outcome struct {
	Done []Change
	// Left are the changes that were not made: the one that ended in an
	// error first, then those behind it.
	Left []Change
}

// Apply carries the pending changes out and stops at the first error, or
// before the next change when ctx ends. The error says how much was done.
func (p Plan) Apply(ctx context.Context, a Applier) (Outcome, error) {
	pending := p.Pending()
	for i, c := range pending {
		err := ctx.Err()
		if err != nil {
			err = fmt.Errorf("interrupted before %s: %w", c.Target, context.Cause(ctx))
		} else if err = a.Apply(ctx, c); err != nil {
			err = fmt.Errorf("applying %s: %w", c.Target, err)
		}
		if err != nil {
			return Outcome{Done: pending[:i], Left: pending[i:]}, fmt.Errorf("%d of %d changes made: %w", i, len(pending), err)
		}
	}
	return Outcome{Done: pending}, nil
}
